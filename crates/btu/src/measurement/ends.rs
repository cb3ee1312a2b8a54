//! The two hosts of a measurement on one machine: those of the local testbed, or this machine with itself.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use btu_core::disclosure::Fact;
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_engine::EngineError;
use btu_engine::Party;
use btu_engine::PathSettings;
use btu_engine::Place;
use btu_sys::socket::Settings;
use btu_testbed::local;
use btu_testbed::local::LocalConfig;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Steering;

use crate::exit::Failure;
use crate::run::not_made;

/// Two hosts without a connection yet, and what is to be said of them.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) near: Party,
    pub(crate) far: Party,
    /// How their path is set; `None` where it cannot be.
    pub(crate) path: Option<Box<dyn PathSettings>>,
    pub(crate) facts: BTreeMap<String, Fact>,
}

/// The test host and the active one of a local testbed, over their direct link. The process must have one thread: it enters
/// a namespace of its own.
pub(crate) fn direct() -> Result<Ends, Failure> {
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
    Ok(Ends { near, far, path: Some(Box::new(Link(testbed))), facts })
}

/// This machine with itself.
pub(crate) fn loopback() -> Ends {
    let party = |role| Party {
        place: Place::here(role),
        address: IpAddr::from([127, 0, 0, 1]),
        sockets: Settings::default(),
    };
    let fact = Fact::known("one network: the loopback of this machine, as its system has it");
    Ends {
        near: party(Role::Test),
        far: party(Role::Active),
        path: None,
        facts: BTreeMap::from([("network".to_owned(), fact)]),
    }
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
