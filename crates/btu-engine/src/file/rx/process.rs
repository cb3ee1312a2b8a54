//! The process that is one end of Rx, as the process knows it that started it.

use std::net::SocketAddr;
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;

use btu_sys::process::dies_with_its_starter;

use super::words::Channel;
use super::words::Order;
use super::words::Word;
use crate::error::EngineError;
use crate::file::Sockets;

/// A process that was started. Dropped, it is killed and waited for.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pub(super) channel: Channel,
    /// Watched over by the sockets of whoever started it.
    watched: Arc<UnixStream>,
}

impl Process {
    /// Starts one in the network of the calling thread, with which it ends, and tells it what it is to be. No key of a
    /// terminal reaches it: a trial that is interrupted has not failed.
    pub(super) fn start(
        program: Option<&Path>,
        sockets: &Sockets,
        order: &Order,
    ) -> Result<Self, EngineError> {
        let program = program.ok_or_else(|| EngineError::Refused(NO_PROGRAM.to_owned()))?;
        let pair = || -> std::io::Result<_> {
            let (own, other) = UnixStream::pair()?;
            Ok((own.try_clone()?, own, other))
        };
        let (watched, own, other) = pair().map_err(EngineError::peer("make a channel for Rx"))?;
        let ended = || EngineError::Refused("ended before it began".to_owned());
        let watched = sockets.admit(watched).ok_or_else(ended)?;
        let mut command = Command::new(program);
        command.arg(VERB).stdin(Stdio::from(OwnedFd::from(other))).stdout(Stdio::null());
        command.process_group(0);
        let child = dies_with_its_starter(&mut command).spawn();
        let child = child.map_err(EngineError::file("start", program))?;
        let mut process = Self { child, channel: Channel::over(own)?, watched };
        process.channel.say(order)?;
        Ok(process)
    }

    /// Its number.
    pub(super) fn number(&self) -> u32 {
        self.child.id()
    }

    /// What every wait for it is bound by.
    pub(super) fn socket(&self) -> &UnixStream {
        &self.watched
    }

    /// What it says next; its end is an error, and so is what it failed in.
    pub(super) fn hear(&mut self) -> Result<Word, EngineError> {
        match self.channel.hear()? {
            Some(Word::Failed(why)) => Err(EngineError::Refused(why)),
            Some(word) => Ok(word),
            None => Err(EngineError::Refused("the process of Rx has ended".to_owned())),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended already is waited for all the same.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Rx knows IPv4 alone.
pub(super) fn ipv4(address: SocketAddr) -> Result<SocketAddrV4, EngineError> {
    match address {
        SocketAddr::V4(address) => Ok(address),
        SocketAddr::V6(address) => {
            Err(EngineError::Refused(format!("Rx knows IPv4 alone, and {address} is IPv6")))
        }
    }
}

/// The verb of the program by which it is an end of Rx.
const VERB: &str = "rx-end";
const NO_PROGRAM: &str = "no program was named whose processes the ends of Rx are";
