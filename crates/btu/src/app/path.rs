//! Where the ranks sit: on this machine, or in turn on two hosts of the local testbed.

use std::collections::BTreeMap;
use std::net::IpAddr;

use btu_core::app::plan::Path;
use btu_core::disclosure::Fact;
use btu_core::role::Role;
use btu_engine::Place;
use btu_engine::message::Seat;
use btu_testbed::local;
use btu_testbed::local::LocalConfig;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Steering;

use crate::exit::Failure;
use crate::run::not_made;

/// The hosts of a plan, and what is to be said of them.
pub(super) struct Hosts {
    /// One of each host.
    seats: Vec<Seat>,
    pub(super) facts: BTreeMap<String, Fact>,
    /// Its networks go with it.
    _testbed: Option<LocalTestbed>,
}

impl Hosts {
    /// Makes the hosts of a path. The process must have one thread: it may enter a namespace of its own.
    pub(super) fn of(path: Path) -> Result<Self, Failure> {
        match path {
            Path::Direct => direct(),
            Path::Loopback => Ok(loopback()),
        }
    }

    /// A seat for each rank, in turn on each host.
    pub(super) fn seats(&self, ranks: u32) -> Vec<Seat> {
        let ranks = usize::try_from(ranks).unwrap_or(usize::MAX);
        self.seats.iter().cycle().take(ranks).cloned().collect()
    }
}

fn direct() -> Result<Hosts, Failure> {
    crate::privilege::gain()?;
    let config = LocalConfig {
        congestion: Some(CONGESTION.to_owned()),
        // An interrupt between CPUs costs more than the whole stack, above all on a virtual machine.
        steering: Steering::Sender,
        ..LocalConfig::default()
    };
    let testbed = LocalTestbed::new(&config).map_err(not_made)?;
    let seats = [Role::Test, Role::Active].map(|role| Seat {
        place: Place { role, net: Some(testbed.net(role)), cpus: testbed.cpus(role).clone() },
        address: match role {
            Role::Test => testbed.test_address(Role::Active, local::Path::Direct),
            other => testbed.address(other, local::Path::Direct),
        },
    });
    let facts = testbed.facts().clone();
    Ok(Hosts { seats: seats.to_vec(), facts, _testbed: Some(testbed) })
}

fn loopback() -> Hosts {
    let seat = Seat { place: Place::here(Role::Test), address: IpAddr::from([127, 0, 0, 1]) };
    let fact = Fact::known("one host: the ranks share its memory, its CPUs and its loopback");
    let facts = BTreeMap::from([("network".to_owned(), fact)]);
    Hosts { seats: vec![seat], facts, _testbed: None }
}

/// The same on every machine, never the system's default by accident.
const CONGESTION: &str = "cubic";
