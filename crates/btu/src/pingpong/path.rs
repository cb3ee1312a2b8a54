//! The two hosts of a ping-pong: those of the local testbed, this machine with itself, or a paired one.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use anyhow::anyhow;
use btu_core::disclosure::Fact;
use btu_core::disclosure::HostFacts;
use btu_core::pingpong::plan::Path;
use btu_core::pingpong::plan::Plan;
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_engine::EngineError;
use btu_engine::Party;
use btu_engine::PathSettings;
use btu_engine::Place;
use btu_engine::pingpong::Sessions;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_sys::socket::Settings;
use btu_testbed::local;
use btu_testbed::local::LocalConfig;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Steering;

use super::options::PingPongArgs;
use super::peer;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::run::not_made;

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
        (Path::Loopback, _) => loopback(plan, interrupt),
        _ => direct(plan, interrupt)?,
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

fn direct(plan: &Plan, interrupt: &Interrupt) -> Result<Hosts, Failure> {
    crate::privilege::gain()?;
    let config = LocalConfig {
        congestion: Some(CONGESTION.to_owned()),
        // An interrupt between CPUs costs more than the whole stack, above all on a virtual machine.
        steering: Steering::Sender,
        ..LocalConfig::default()
    };
    let testbed = Arc::new(LocalTestbed::new(&config).map_err(not_made)?);
    let [near, far] = [Role::Test, Role::Active].map(|role| Party {
        place: Place { role, net: Some(testbed.net(role)), cpus: testbed.cpus(role).clone() },
        address: match role {
            Role::Test => testbed.test_address(Role::Active, local::Path::Direct),
            other => testbed.address(other, local::Path::Direct),
        },
        sockets: Settings::default(),
    });
    let facts = testbed.facts().clone();
    let mut sessions = Sessions::between(near, far, plan.patience_ns, interrupt.flag().clone());
    sessions.path = Some(Box::new(Link(testbed)));
    Ok(Hosts { sessions, facts, far: None })
}

fn loopback(plan: &Plan, interrupt: &Interrupt) -> Hosts {
    let party = |role| Party {
        place: Place::here(role),
        address: IpAddr::from([127, 0, 0, 1]),
        sockets: Settings::default(),
    };
    let (near, far) = (party(Role::Test), party(Role::Active));
    let sessions = Sessions::between(near, far, plan.patience_ns, interrupt.flag().clone());
    let fact = Fact::known("one network: the loopback of this machine, as its system has it");
    Hosts { sessions, facts: BTreeMap::from([("network".to_owned(), fact)]), far: None }
}

/// The direct link of a testbed, which lives as long as somebody measures over it.
#[derive(Debug)]
struct Link(Arc<LocalTestbed>);

impl PathSettings for Link {
    fn set_offload(&self, on: bool) -> Result<(), EngineError> {
        self.0.set_offload(Role::Active, on).map_err(refused("set segmentation offload"))
    }

    fn set_mtu(&self, mtu: Option<Bytes>) -> Result<(), EngineError> {
        let mtu = mtu.map(|mtu| u32::try_from(mtu.count()).unwrap_or(u32::MAX));
        self.0.set_mtu(Role::Active, mtu).map_err(refused("set the MTU"))
    }
}

fn refused(operation: &'static str) -> impl Fn(local::LocalError) -> EngineError {
    move |cause| EngineError::Refused(format!("{operation}: {:#}", anyhow::Error::new(cause)))
}

/// The same on every machine, never the system's default by accident.
const CONGESTION: &str = "cubic";
