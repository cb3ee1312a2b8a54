//! The hosts of a traffic measurement: those of the local testbed, and the link between them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use anyhow::anyhow;
use btu_core::cell::Role;
use btu_core::disclosure::Fact;
use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::link::Wire;
use btu_core::sample::DirectionSample;
use btu_core::traffic::plan::Link;
use btu_core::traffic::plan::Plan;
use btu_core::units::Nanos;
use btu_engine::Party;
use btu_engine::Place;
use btu_sys::socket::Settings;
use btu_testbed::local::LocalConfig;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Path;

use crate::exit::Failure;
use crate::run::not_made;

/// Three hosts in this process.
pub(super) struct Hosts {
    testbed: LocalTestbed,
    /// In the order of [`Role::ALL`].
    pub(super) parties: Vec<Party>,
    link: Option<Link>,
}

impl Hosts {
    /// Makes the testbed. The process must have one thread: it may enter a namespace of its own.
    pub(super) fn new(plan: &Plan) -> Result<Self, Failure> {
        let links = plan.cells.iter().filter_map(|cell| cell.link.as_ref()).chain(&plan.link);
        let mut wires: Vec<&str> = links.map(|link| link.wire.as_str()).collect();
        wires.sort_unstable();
        wires.dedup();
        if wires.len() > 1 {
            return Err(Failure::usage(anyhow!(
                "the links of a plan count {}",
                wires.join(" and ")
            )));
        }
        let wire: Wire = wires.first().unwrap_or(&"ethernet").parse().map_err(Failure::usage)?;
        crate::privilege::gain()?;
        let config =
            LocalConfig { congestion: Some(CONGESTION.to_owned()), wire, ..LocalConfig::default() };
        let testbed = LocalTestbed::new(&config).map_err(not_made)?;
        testbed.net(Role::Test).enter().map_err(Failure::environment)?;
        let parties = Role::ALL.map(|role| Party {
            place: Place { role, net: Some(testbed.net(role)), cpus: testbed.cpus(role).clone() },
            address: testbed.address(role, Path::Direct),
            sockets: Settings::default(),
        });
        Ok(Self { testbed, parties: parties.into(), link: None })
    }

    /// Where the threads of a host run.
    pub(super) fn place(&self, role: Role) -> &Place {
        let at = Role::ALL.iter().position(|known| *known == role).unwrap_or(0);
        &self.parties[at].place
    }

    /// What is to be said of the hosts.
    pub(super) fn facts(&self) -> BTreeMap<String, Fact> {
        self.testbed.facts().clone()
    }

    /// Puts a link between the test host and both black boxes, or takes it away.
    pub(super) fn set_link(&mut self, link: Option<&Link>, seed: u64) -> Result<(), Failure> {
        self.link = link.cloned();
        let Some(link) = link else { return Ok(()) };
        let chain = |texts: &[String]| ChainSpec::as_given(texts, &Reader::PLAN);
        let up = chain(&link.up).map_err(Failure::usage)?;
        let down = chain(&link.down).map_err(Failure::usage)?;
        let boxes = [Role::Active, Role::Passive].map(|role| (role, up.clone(), down.clone()));
        self.testbed.impair(&boxes, seed).map_err(not_made)
    }

    /// What the emulator did since; nothing where it was not used.
    pub(super) fn emulation(&self) -> Result<Vec<DirectionSample>, Failure> {
        if self.link.is_none() {
            return Ok(Vec::new());
        }
        let mut all = self.testbed.emulation().map_err(not_made)?;
        all.retain(|direction| direction.packets > 0);
        Ok(all)
    }

    /// The address at which a host receives from another.
    pub(super) fn address(&self, from: Role, to: Role) -> Result<IpAddr, Failure> {
        let path = if self.link.is_some() { Path::Emulated } else { Path::Direct };
        match (from, to) {
            (Role::Test, black_box) if black_box != Role::Test => {
                Ok(self.testbed.address(black_box, path))
            }
            (black_box, Role::Test) if black_box != Role::Test => {
                Ok(self.testbed.test_address(black_box, path))
            }
            _ => Err(Failure::usage(anyhow!(
                "{from} -> {to}: the local testbed joins the test host with each black box, and no others"
            ))),
        }
    }

    /// How long the last datagrams may be under way.
    pub(super) fn linger(&self) -> Nanos {
        let delay = |texts: &[String]| {
            let chain = ChainSpec::as_given(texts, &Reader::PLAN).ok();
            chain.and_then(|chain| chain.constant_delay()).unwrap_or(Nanos::ZERO)
        };
        let way =
            self.link.as_ref().map_or(Nanos::ZERO, |link| delay(&link.up).max(delay(&link.down)));
        LINGER.saturating_add(way * 2)
    }
}

/// The same on every machine, never the system's default by accident.
const CONGESTION: &str = "cubic";
/// Longer than a queue of 100 ms takes to drain and a busy machine to look.
const LINGER: Nanos = Nanos::from_millis(500);
