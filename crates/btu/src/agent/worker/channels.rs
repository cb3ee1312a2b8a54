//! How a worker hears its agent and speaks to it.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use super::Emulator;
use super::Output;
use super::WorkerArgs;

/// The agent's words, the way back to it, and the emulator if there is one.
type Channels = (UnixStream, Output, Option<Emulator>);

pub(super) fn channels(args: &WorkerArgs) -> std::io::Result<Channels> {
    let Some(path) = &args.connect else {
        let agent = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        return Ok((agent, Output::new(std::io::stdout()), None));
    };
    let agent = UnixStream::connect(path)?;
    Ok((agent.try_clone()?, Output::new(agent), Some(Emulator::of_this_process())))
}
