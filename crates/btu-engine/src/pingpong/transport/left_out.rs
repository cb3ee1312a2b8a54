//! The place of a transport that this build leaves out: it is listed, and says how to get it.

use btu_core::pingpong::configuration::Wait;
use btu_core::units::Bytes;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::socket;
use crate::error::EngineError;
use crate::pingpong::channel::End;

/// A transport without its code.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// The name, which is that of the cargo feature as well.
    pub(super) name: &'static str,
    /// What it would be.
    pub(super) about: &'static str,
}

impl LeftOut {
    fn refusal(&self) -> EngineError {
        let Self { name, .. } = self;
        EngineError::Refused(format!(
            "this build leaves {name} out: build with `--features {name}`"
        ))
    }
}

impl Transport for LeftOut {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn properties(&self) -> Properties {
        Properties { reliable: true, bounded: false, reach: Reach::Network, waits: &[Wait::Block] }
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        Err(self.refusal())
    }

    fn listen(&self, _: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        Err(self.refusal())
    }

    fn connect(&self, _: &Rendezvous, _: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        Err(self.refusal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_to_get_it() {
        let fault = LeftOut { name: "tls", about: "TLS" }.available().unwrap_err();
        let wanted = "this build leaves tls out: build with `--features tls`";
        assert_eq!(fault.to_string(), wanted);
    }
}
