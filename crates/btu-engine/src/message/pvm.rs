//! The message layers of PVM 3.4 (Parallel Virtual Machine), whose library is opened while a rank runs.
//!
//! Each launch has a virtual machine of its own: a daemon that the first rank starts, in the directory of the launch. What
//! the user runs of PVM is neither found nor touched.

mod daemon;
mod end;
mod machine;

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use btu_core::app::sample::Wait;
use btu_sys::pvm;
use btu_sys::pvm::Encoding;
use btu_sys::pvm::Route;

use self::end::PvmEnd;
use self::machine::Machine;
use super::Entered;
use super::MessageLayer;
use super::ProcessLayer;
use super::RanksAre;
use super::Start;
use super::Terms;
use crate::error::EngineError;

/// The message layer `pvm`: what programs ask for that care for speed.
pub(super) static DIRECT: Pvm = Pvm {
    name: "pvm",
    about: "PVM 3 (libpvm3), the direct route, its default encoding; ranks are processes of one host",
    route: Route::Direct,
    encoding: Encoding::Default,
};

/// The message layer `pvm-daemon`: what a program gets that asks for nothing.
pub(super) static DAEMON: Pvm = Pvm {
    name: "pvm-daemon",
    about: "PVM 3 through its daemon, as it is by default; ranks are processes of one host",
    route: Route::Daemon,
    encoding: Encoding::Default,
};

/// The message layer `pvm-inplace`: what spares long messages a copy.
pub(super) static IN_PLACE: Pvm = Pvm {
    name: "pvm-inplace",
    about: "PVM 3, the direct route, data left in place until they are sent; ranks are processes of one host",
    route: Route::Direct,
    encoding: Encoding::InPlace,
};

/// A message layer of PVM.
#[derive(Debug)]
pub(super) struct Pvm {
    name: &'static str,
    about: &'static str,
    route: Route,
    encoding: Encoding,
}

impl MessageLayer for Pvm {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn spans_hosts(&self) -> bool {
        false
    }

    fn waits(&self) -> &'static [Wait] {
        &[Wait::Block, Wait::Spin]
    }

    fn ranks(&self) -> RanksAre<'_> {
        RanksAre::Processes(self)
    }
}

impl ProcessLayer for Pvm {
    fn is_there(&self) -> Result<(), EngineError> {
        let library = pvm::is_there().map_err(EngineError::from);
        let both = library.and_then(|()| daemon::program().map(drop));
        both.map_err(|lack| {
            EngineError::Refused(format!("not available: {}: {REMEDY}", lack.sentence()))
        })
    }

    fn disclosed(&self) -> String {
        let daemon = daemon::program().unwrap_or_default();
        format!("started by {}, one for each launch, {AS_ROOT}=1", daemon.display())
    }

    /// The first rank: it starts the daemon, and the others through it.
    fn launcher(&self, start: &Start) -> Result<Command, EngineError> {
        self.is_there()?;
        let mut command = Command::new(start.words.first().map_or(OsStr::new(""), |word| word));
        command.args(start.words.iter().skip(1));
        for (name, _) in env::vars_os().filter(|(name, _)| is_of_pvm(name)) {
            command.env_remove(name);
        }
        command.env(PRIVATE, directory(start));
        // The daemon of a virtual machine of one host asks nobody in, root's no more than another user's.
        command.env(AS_ROOT, "1");
        Ok(command)
    }

    fn end(&self, start: &Start, terms: &Terms) -> Result<Entered, EngineError> {
        let machine = Machine::join(start, self.route, terms)?;
        let library = format!("PVM {}", machine.task.library());
        Ok(Entered { end: Box::new(PvmEnd::new(machine, self.encoding, terms)?), library })
    }
}

/// Variables of PVM that would lead to a virtual machine of the user's, or change this one. Where it is installed
/// (`PVM_ROOT`) is told.
fn is_of_pvm(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"PVM") && name != daemon::ROOT
}

/// Where the launch keeps its order.
fn directory(start: &Start) -> &Path {
    start.words.last().map(Path::new).and_then(Path::parent).unwrap_or(Path::new("/tmp"))
}

/// The directory in which a daemon tells its tasks where it listens, instead of `/tmp`.
const PRIVATE: &str = "PVM_TMP";
/// Without it no daemon starts for root.
const AS_ROOT: &str = "PVM_ALLOW_ROOT";
const REMEDY: &str = "apt-get install pvm libpvm3";
