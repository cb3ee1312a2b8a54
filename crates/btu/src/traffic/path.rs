//! The hosts of a traffic measurement: those of the local testbed and the link between them, or this one
//! and paired ones.

use std::collections::BTreeMap;
use std::net::IpAddr;

use anyhow::anyhow;
use btu_core::disclosure::Fact;
use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::link::Wire;
use btu_core::role::Role;
use btu_core::sample::DirectionSample;
use btu_core::traffic::plan::Link;
use btu_core::traffic::plan::Plan;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Party;
use btu_engine::Place;
use btu_sys::socket::Settings;
use btu_testbed::local::LocalConfig;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Path;

use super::expand;
use super::expand::Layout;
use super::joined;
use crate::exit::Failure;
use crate::run::not_made;
use crate::traffic::remote::peers::Peers;

/// The hosts of a plan.
pub(super) enum Hosts {
    /// Joined by a network.
    Apart(Peers),
    /// Of the local testbed.
    Here(Box<Testbed>),
}

/// Whether agents that were lost are there again.
pub(super) enum Regained {
    /// All of them.
    All,
    /// None was lost.
    NoneLost,
    /// One is lost for good, with the reason.
    Not(String),
}

/// Three hosts in this process.
pub(super) struct Testbed {
    local: LocalTestbed,
    /// In the order of [`Role::ALL`].
    pub(super) parties: Vec<Party>,
    link: Option<Link>,
}

impl Hosts {
    /// What is to be said of the hosts.
    pub(super) fn facts(&self) -> BTreeMap<String, Fact> {
        match self {
            Self::Apart(peers) => peers.facts(),
            Self::Here(testbed) => testbed.facts(),
        }
    }

    /// What the policies of agents hold their connections to, in words.
    pub(super) fn held_to(&self) -> Vec<(Role, String)> {
        match self {
            Self::Apart(peers) => peers.held_to(),
            Self::Here(_) => Vec::new(),
        }
    }

    /// Whether data go to an agent over IPv6.
    pub(super) fn is_over_ipv6(&self) -> bool {
        match self {
            Self::Apart(peers) => peers.is_over_ipv6(),
            Self::Here(_) => false,
        }
    }

    /// Payload that was moved here and that the agent of this host does not know of yet, where it counts.
    pub(super) fn take_untold(&self) -> Bytes {
        match self {
            Self::Apart(peers) => {
                peers.bounds.as_ref().map_or(Bytes::ZERO, |bounds| bounds.take_untold())
            }
            Self::Here(_) => Bytes::ZERO,
        }
    }

    /// Gets agents back that were lost meanwhile.
    pub(super) fn regain(&self) -> Regained {
        match self {
            Self::Apart(peers) if peers.is_away() => {
                peers.regain().map_or_else(Regained::Not, |()| Regained::All)
            }
            _ => Regained::NoneLost,
        }
    }

    /// Puts a link between any two hosts that are joined, or takes it away.
    pub(super) fn set_link(&mut self, link: Option<&Link>, seed: u64) -> Result<(), Failure> {
        match (self, link) {
            (Self::Here(testbed), link) => testbed.set_link(link, seed),
            (Self::Apart(_), None) => Ok(()),
            (Self::Apart(_), Some(_)) => Err(no_link()),
        }
    }

    /// What the emulator did since; nothing where it was not used.
    pub(super) fn emulation(&self) -> Result<Vec<DirectionSample>, Failure> {
        match self {
            Self::Apart(_) => Ok(Vec::new()),
            Self::Here(testbed) => testbed.emulation(),
        }
    }
}

/// Why a plan with agents has no link.
pub(super) fn no_link() -> Failure {
    Failure::usage(anyhow!("links are emulated on the local testbed, not towards agents"))
        .hint("leave the link's options away, or the agents")
}

impl Testbed {
    /// Makes the testbed. The process must have one thread: it may enter a namespace of its own.
    pub(super) fn new(plan: &Plan) -> Result<Self, Failure> {
        let links = plan.cells.iter().filter_map(|cell| cell.link.as_ref()).chain(&plan.link);
        let mut wires: Vec<&str> = links.map(|link| link.wire.as_str()).collect();
        wires.sort_unstable();
        wires.dedup();
        if wires.len() > 1 {
            let cause = anyhow!("the links of the plan count {}", wires.join(" and "));
            return Err(Failure::usage(cause).hint("give all of them the same wire"));
        }
        let wire: Wire = wires.first().unwrap_or(&"ethernet").parse().map_err(Failure::usage)?;
        crate::privilege::gain()?;
        let config = LocalConfig {
            black_boxes: joined::black_boxes(plan)?,
            congestion: Some(CONGESTION.to_owned()),
            wire,
            ..LocalConfig::default()
        };
        let testbed = LocalTestbed::new(&config).map_err(not_made)?;
        testbed.net(Role::Test).enter().map_err(Failure::environment)?;
        let parties = Role::ALL.map(|role| Party {
            place: Place { role, net: Some(testbed.net(role)), cpus: testbed.cpus(role).clone() },
            address: testbed.address(role, Path::Direct),
            sockets: Settings::default(),
        });
        Ok(Self { local: testbed, parties: parties.into(), link: None })
    }

    /// What is to be said of the hosts.
    fn facts(&self) -> BTreeMap<String, Fact> {
        self.local.facts().clone()
    }

    fn set_link(&mut self, link: Option<&Link>, seed: u64) -> Result<(), Failure> {
        self.link = link.cloned();
        let Some(link) = link else { return Ok(()) };
        let chain = |texts: &[String]| ChainSpec::as_given(texts, &Reader::PLAN);
        let up = chain(&link.up).map_err(Failure::usage)?;
        let down = chain(&link.down).map_err(Failure::usage)?;
        self.local.impair_all(&up, &down, seed).map_err(not_made)
    }

    fn emulation(&self) -> Result<Vec<DirectionSample>, Failure> {
        if self.link.is_none() {
            return Ok(Vec::new());
        }
        let mut all = self.local.emulation().map_err(not_made)?;
        all.retain(|direction| direction.packets > 0);
        Ok(all)
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

impl Layout for Testbed {
    fn place(&self, role: Role) -> Place {
        self.parties[expand::place(role)].place.clone()
    }

    fn address(&self, from: Role, to: Role) -> Result<IpAddr, Failure> {
        let path = if self.link.is_some() { Path::Emulated } else { Path::Direct };
        self.local.address_from(from, to, path).ok_or_else(|| joined::one_host(from, to))
    }

    fn linger(&self) -> Option<Nanos> {
        Some(Self::linger(self))
    }
}

/// The same on every machine, never the system's default by accident.
const CONGESTION: &str = "cubic";
/// Longer than a queue of 100 ms takes to drain and a busy machine to look.
pub(super) const LINGER: Nanos = Nanos::from_millis(500);
