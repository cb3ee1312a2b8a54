//! The verb `rx-end`, which no help shows: this process is one end of Rx for the program that started it.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use anyhow::Context;
use btu_engine::file::rx;
use clap::Args;

use crate::exit::Exit;
use crate::exit::Failure;

/// Options: none. All that is said is said on standard input, a socket.
#[derive(Debug, Args)]
pub(crate) struct RxEndArgs {}

/// Runs the verb.
pub(crate) fn rx_end(_args: &RxEndArgs) -> Result<Exit, Failure> {
    let channel = io::stdin().as_fd().try_clone_to_owned();
    let channel = channel.context("use standard input").map_err(Failure::environment)?;
    rx::attend(UnixStream::from(channel)).map_err(Failure::environment)?;
    Ok(Exit::Done)
}
