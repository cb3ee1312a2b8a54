//! The two hosts of a ping-pong: those of the local testbed, this machine with itself, or a paired one.

use std::collections::BTreeMap;

use anyhow::anyhow;
use btu_core::disclosure::Fact;
use btu_core::disclosure::HostFacts;
use btu_core::pingpong::plan::Path;
use btu_core::pingpong::plan::Plan;
use btu_engine::pingpong::Sessions;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;

use super::options::PingPongArgs;
use super::peer;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::ends;
use crate::measurement::ends::Ends;

/// Hosts without a connection yet, and what is to be said of them.
pub(super) struct Hosts {
    pub(super) sessions: Sessions,
    pub(super) facts: BTreeMap<String, Fact>,
    /// What another host says of itself.
    pub(super) far: Option<HostFacts>,
}

/// Makes the hosts of a plan. The process must have one thread: it may enter a namespace of its own.
pub(super) fn hosts(
    args: &PingPongArgs,
    plan: &Plan,
    interrupt: &Interrupt,
) -> Result<Hosts, Failure> {
    let [near, far] = named(plan)?;
    let mut hosts = match (plan.path, &args.peer) {
        (Path::Peer, Some(name)) => peer::hosts(args, name, plan, interrupt)?,
        (Path::Loopback, _) => between(ends::loopback(), plan, interrupt),
        _ => between(ends::direct()?, plan, interrupt),
    };
    if let Some(cpus) = near {
        hosts.sessions.near.place.cpus = cpus;
    }
    if let Some(cpus) = far {
        hosts.sessions.far.place.cpus = cpus;
    }
    Ok(hosts)
}

/// The CPUs that a plan names for its hosts, as far as they are here.
pub(super) fn named(plan: &Plan) -> Result<[Option<CpuSet>; 2], Failure> {
    let near = named_here(plan.near_cpus.as_deref())?;
    let far = match (plan.path, &plan.far_cpus) {
        // Those of another host are its own to know.
        (Path::Peer, _) => None,
        (_, far) => named_here(far.as_deref())?,
    };
    Ok([near, far])
}

/// CPUs that were named, all of which this process may use.
fn named_here(list: Option<&str>) -> Result<Option<CpuSet>, Failure> {
    let Some(list) = list else { return Ok(None) };
    let named = list.parse::<CpuSet>().map_err(Failure::usage)?;
    let here = cpu::allowed().map_err(Failure::environment)?;
    let lacking = named.iter().find(|cpu| !here.contains(*cpu));
    match lacking {
        Some(cpu) => {
            let cause = anyhow!("CPU {cpu} of \"{list}\" is not here; CPUs here: {here}");
            Err(Failure::usage(cause).hint("name others with --cpus NEAR/FAR"))
        }
        None => Ok(Some(named)),
    }
}

/// The two ends of this machine, as a ping-pong has them.
fn between(ends: Ends, plan: &Plan, interrupt: &Interrupt) -> Hosts {
    let Ends { near, far, path, facts } = ends;
    let mut sessions = Sessions::between(near, far, plan.patience_ns, interrupt.flag().clone());
    sessions.path = path;
    Hosts { sessions, facts, far: None }
}
