//! What the processes of an agent give up before they hear anybody, and what is said of it.

use std::collections::BTreeMap;
use std::io;

use anyhow::Context;
use btu_core::disclosure::Fact;
use btu_sys::process;
use btu_sys::process::Bounds;
use btu_sys::process::Calls;
use btu_sys::process::Confinement;

use crate::exit::Failure;
use crate::output;
use crate::state::StateDir;

/// The agent: it reads and writes its state directory, starts workers, and connects to nobody.
/// Returns what holds, for whoever asks.
pub(super) fn agent(state: &StateDir) -> Result<BTreeMap<String, Fact>, Failure> {
    let confined = process::hide_memory().and_then(|()| {
        let bounds = Bounds { writable: vec![state.file("")], ..Bounds::of_this_program()? };
        process::confine(&bounds, Calls::Supervisor)
    });
    let Confinement { files, calls } =
        confined.context("confine the agent").map_err(Failure::environment)?;
    for (what, refused) in [("files", files.as_ref().err()), ("system calls", calls.as_ref().err())]
    {
        if let Some(reason) = refused {
            output::message(&format!("{what} are not bounded on this kernel: {reason}"));
        }
    }
    let reason = |error: io::Error| Fact::unavailable(error.to_string());
    let facts = [
        ("capabilities", Fact::known(0)),
        ("files_landlock", files.map_or_else(reason, Fact::known)),
        ("system_calls_seccomp", calls.map_or_else(reason, |()| Fact::known(true))),
    ];
    Ok(facts.map(|(name, fact)| (name.to_owned(), fact)).into())
}

/// A worker: it writes no file, starts nothing, and connects to nobody. What a conductor asks for may
/// need memory, but not that of all others on this host.
pub(super) fn worker() -> io::Result<()> {
    bound_memory()?;
    let Bounds { programs, readable, .. } = Bounds::of_this_program()?;
    let readable = [programs, readable].concat();
    process::confine(&Bounds { readable, ..Bounds::default() }, Calls::Worker).map(drop)
}

/// What a plan of another host needs may be much, but not the memory of all others on this host.
pub(super) fn bound_memory() -> io::Result<()> {
    btu_sys::limit::bound_memory(share_of_memory()?).map(drop).map_err(io::Error::other)
}

/// The front, once its devices are made: it starts workers and writes no file.
pub(super) fn front() -> io::Result<()> {
    process::confine(&Bounds::of_this_program()?, Calls::Supervisor).map(drop)
}

/// A thread of the front that carries packets. The filter of system calls comes with [`front`].
pub(super) fn front_thread() -> io::Result<()> {
    process::confine_thread(&Bounds::of_this_program()?).map(drop)
}

/// The keeper of a link that the kernel emulates, once its devices are made: it changes that link, in
/// the namespace that has nothing else, and starts nothing.
pub(super) fn keeper() -> io::Result<()> {
    bound_memory()?;
    process::confine_to_network(&Bounds::of_this_program()?).map(drop)
}

/// Half of this host's memory.
fn share_of_memory() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/meminfo")?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes =
        total.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    Ok(kibibytes.unwrap_or(0).saturating_mul(1024 / 2).max(LEAST_MEMORY))
}

/// What a conductor that asks for nothing unusual needs, many times over.
const LEAST_MEMORY: u64 = 2 << 30;
