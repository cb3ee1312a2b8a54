//! Where tests of this host are started: a process from before the agent confined itself, since a host
//! under test connects, writes and works as the agent must not. It hears the agent alone, and knows two
//! orders.

use std::io;
use std::os::unix::net::UnixListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use btu_control::line::hear_next;
use btu_control::line::say;
use btu_sys::process;
use serde::Deserialize;
use serde::Serialize;

use super::front::accept;
use super::front::listen;
use super::ordered::ENDING;
use super::ordered::Ordered;
use super::ordered::STARTING;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::state::StateDir;

/// What the agent tells its bench when it starts it.
#[derive(Debug, clap::Args)]
pub(super) struct BenchArgs {
    /// The process that started it
    #[arg(long)]
    parent: u32,
    /// The agent's state
    #[arg(long)]
    state: PathBuf,
    /// Where tests write their files
    #[arg(long)]
    scratch: Option<PathBuf>,
}

/// The whole list of what an agent can ask of its bench.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// End the test, if there is one.
    End,
    /// Start a test: it connects to the agent.
    Start,
}

/// The agent's side. Dropped, the bench is killed, and its test with it.
pub(super) struct Bench {
    process: Ordered,
    listener: UnixListener,
}

impl Bench {
    /// Starts it.
    pub(super) fn start(state: &StateDir, scratch: Option<&Path>) -> Result<Self, Failure> {
        let listener = listen(&socket(state.path()))?;
        let process = Ordered::start("the bench", own("bench", state.path(), scratch));
        let process = process.context("start the bench").map_err(Failure::environment)?;
        Ok(Self { process, listener })
    }

    /// Starts a test; returns its channel.
    pub(super) fn start_test(&mut self) -> io::Result<UnixStream> {
        self.process.order(&Order::Start, STARTING)?;
        accept(&self.listener)
    }

    /// Why it is not there any more, if it is not.
    pub(super) fn ended(&self) -> Option<String> {
        self.process.ended()
    }

    /// Ends the test. One that is killed and waits for a disk may still be there when this returns: none begins
    /// before it is gone.
    pub(super) fn end_test(&mut self) {
        // One that says why it cannot yet is there for the next one; else it is killed.
        if let Err(error) = self.process.order(&Order::End, ENDING) {
            output::message(&format!("the bench: {error}"));
        }
        while self.listener.accept().is_ok() {}
    }
}

/// Ends a test, if there is one. One that waits for a disk is over when that has answered: until then nothing
/// else begins, and who asks hears of it.
fn end(test: &mut Option<Child>, within: Duration) -> io::Result<()> {
    let Some(last) = test else { return Ok(()) };
    let _ = last.kill();
    let until = Instant::now() + within;
    while last.try_wait()?.is_none() {
        if Instant::now() >= until {
            return Err(io::Error::other("the last test is killed and waits for a disk"));
        }
        std::thread::park_timeout(SLICE);
    }
    *test = None;
    Ok(())
}

/// Does what it is told, until the agent is gone.
pub(super) fn bench(args: &BenchArgs) -> Result<Exit, Failure> {
    process::die_with_parent(args.parent)
        .and_then(|()| process::give_up_rights())
        .context("confine the bench")
        .map_err(Failure::environment)?;
    let mut test: Option<Child> = None;
    let mut input = io::stdin().lock();
    while let Some(order) =
        hear_next::<Order>(&mut input).context("hear the agent").map_err(Failure::environment)?
    {
        // The last test ends in any case.
        let started = end(&mut test, WAITING).and_then(|()| match order {
            Order::End => Ok(()),
            Order::Start => under_test(args).map(|child| test = Some(child)),
        });
        let told = started.map_err(|error| error.to_string());
        say(&mut io::stdout(), &told).map_err(Failure::environment)?;
    }
    Ok(Exit::Done)
}

/// A process that speaks to black boxes in this host's name, with this host's state.
fn under_test(BenchArgs { state, scratch, .. }: &BenchArgs) -> io::Result<Child> {
    let mut command = own("test", state, scratch.as_deref());
    command.arg("--connect").arg(socket(state)).env("BTU_STATE_DIR", state);
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()
}

/// This program as a process that ends with this one.
fn own(part: &str, state: &Path, scratch: Option<&Path>) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["agent", part, "--parent", &std::process::id().to_string(), "--state"]);
    command.arg(state);
    if let Some(scratch) = scratch {
        command.arg("--scratch").arg(scratch);
    }
    command
}

fn socket(state: &Path) -> PathBuf {
    state.join("test.sock")
}

/// For the end of a test: less than its agent waits for that.
const WAITING: Duration = Duration::from_secs(2);
const SLICE: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_does_not_end_yet_is_kept_until_it_has() {
        let sleeper = Command::new("sleep").arg("600").spawn().unwrap();
        let mut test = Some(sleeper);
        // No time at all: a process that was just killed has not ended.
        while end(&mut test, Duration::ZERO).is_err() {
            assert!(test.is_some(), "nobody waits for it any more");
        }
        assert!(test.is_none());
        end(&mut test, Duration::ZERO).unwrap();
    }
}
