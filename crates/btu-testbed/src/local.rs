//! The local testbed: three hosts on one machine, joined by links that the emulator owns.
//!
//! Each role is a network namespace. Between the test host and each black box, and between the black
//! boxes where that is asked for, lie two paths, chosen by address: a direct veth pair, and a pair of
//! veth pairs with the emulator between, so that the emulator never limits a case that asks for no
//! emulation. Nothing has a name outside; all is gone
//! with the process.

mod cpus;
mod recording;
mod topology;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use btu_core::disclosure::Fact;
use btu_core::link::ChainSpec;
use btu_core::placement::Placement::Same;
use btu_core::role::Role;
use btu_core::sample::DirectionSample;
use btu_core::sample::VerificationSample;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_sys::namespace::NamespaceError;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;

use crate::backend::BACKENDS;
use crate::backend::Backend;
use crate::backend::BackendError;
use crate::backend::Emulator;
use crate::backend::LinkPorts;
use crate::backend::Order;
use crate::backend::Settings;
use crate::backend::Threads;
use crate::check;
use crate::check::Check;
use crate::check::Prober;

pub use recording::Recording;

use cpus::Placement;
use topology::Pair;

/// What a local testbed should be like.
#[derive(Clone, Debug, Default)]
pub struct LocalConfig {
    /// Whether the black boxes are joined with each other, too.
    pub black_boxes: BlackBoxes,
    /// Congestion control of every route; `None` leaves the system's own.
    pub congestion: Option<String>,
    /// How the emulator waits.
    pub wait: crate::backend::WaitChoice,
    /// On which CPU received packets are handled.
    pub steering: Steering,
    /// How the emulator divides its links.
    pub threads: Threads,
    /// Whether the black boxes have CPUs apart from the test host's.
    pub placement: btu_core::placement::Placement,
    /// What counts against the rate of an emulated link.
    pub wire: btu_core::link::Wire,
}

/// Whether there is a way between the two black boxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlackBoxes {
    /// Each is joined with the test host alone: what the score needs.
    #[default]
    Apart,
    /// They have a direct and an emulated path between them, as each has to the test host.
    Joined,
}

/// On which CPU a host handles what it receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steering {
    /// On the receiver's own, as on a host of its own: each packet costs an interrupt between CPUs.
    #[default]
    Receiver,
    /// On the sender's, where the kernel leaves a packet of a veth pair: the stack without interrupts.
    Sender,
}

/// Which way packets take between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// One veth pair.
    Direct,
    /// Through the emulator.
    Emulated,
}

/// Three hosts and their links. Everything is gone when it is dropped, or when the process dies.
#[derive(Debug)]
pub struct LocalTestbed {
    emulator: Box<dyn Emulator>,
    hosts: BTreeMap<Role, Arc<NetNs>>,
    pairs: Vec<&'static Pair>,
    placement: Placement,
    facts: BTreeMap<String, Fact>,
}

/// What kept the local testbed from being made.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// The emulator did not start, or did not obey.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The CPUs of this process could not be read.
    #[error("place the roles on CPUs")]
    Cpus(#[source] btu_sys::Error),
    /// A device, an address, a route or a setting was refused.
    #[error("join {host} to the local testbed")]
    Join {
        /// The host.
        host: &'static str,
        /// Which request, and the kernel's answer.
        source: btu_sys::Error,
    },
    /// A namespace was refused.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
}

impl LocalTestbed {
    /// Makes namespaces, devices and addresses, and starts the emulator.
    ///
    /// Needs `btu_sys::namespace::is_privileged`, or a user namespace entered before.
    pub fn new(config: &LocalConfig) -> Result<Self, LocalError> {
        let pairs = topology::pairs(config.black_boxes);
        let allowed = cpu::allowed().map_err(LocalError::Cpus)?;
        let placement = Placement::of(&allowed, config.threads.most(pairs.len()));
        let placement = if config.placement == Same { placement.together() } else { placement };
        let mut facts = placement.facts();
        let mut hosts = BTreeMap::new();
        for role in Role::ALL {
            let host = NetNs::create()?;
            let steering = topology::prepare(&host, role, placement.cpus(role), config.steering)?;
            facts.insert(format!("receive_steering_{role}"), steering);
            if role != Role::Test {
                let window = topology::open_window(&host, role)?;
                facts.insert(format!("receive_buffer_{role}"), window);
            }
            hosts.insert(role, Arc::new(host));
        }
        let wire = NetNs::create()?;
        let steering = topology::prepare_wire(&wire, placement.emulator())?;
        facts.insert("receive_steering_emulator".to_owned(), steering);
        for pair in &pairs {
            let routes = pair.join(&hosts, &wire, config.congestion.as_deref())?;
            facts.insert(format!("congestion_route_{}", pair.fact()), routes);
            facts.extend(routes_of(&hosts[&pair.near], pair));
        }
        let emulator = start_emulator(&wire, &pairs, &placement, config)?;
        Ok(Self { emulator, hosts, pairs, placement, facts })
    }

    /// The network namespace of a role.
    pub fn net(&self, role: Role) -> Arc<NetNs> {
        Arc::clone(&self.hosts[&role])
    }

    /// The CPUs of a role.
    pub fn cpus(&self, role: Role) -> &CpuSet {
        self.placement.cpus(role)
    }

    /// The address of a black box on a path from the test host.
    pub fn address(&self, black_box: Role, path: Path) -> IpAddr {
        Pair::to(black_box).address(black_box, path)
    }

    /// The address of the test host on a path to a black box.
    pub fn test_address(&self, black_box: Role, path: Path) -> IpAddr {
        Pair::to(black_box).address(Role::Test, path)
    }

    /// The address at which a host receives from another over a path; `None` where no path joins them.
    pub fn address_from(&self, from: Role, to: Role, path: Path) -> Option<IpAddr> {
        let pair = self.pairs.iter().find(|pair| pair.joins(from, to))?;
        Some(pair.address(to, path))
    }

    /// Checks one emulated link with somebody's traffic.
    pub fn check_link(&self, prober: &mut dyn Prober, check: &Check<'_>) -> VerificationSample {
        check::check_link(&*self.emulator, prober, check)
    }

    /// Lets TCP hand large packets to the direct link to a black box and leave their segmentation to it,
    /// or not. Holds for connections that are made from then on, at both ends.
    pub fn set_offload(&self, black_box: Role, on: bool) -> Result<(), LocalError> {
        Pair::to(black_box).set_offload(&self.hosts, on)
    }

    /// Sets the largest packet of the direct link to a black box, at both ends; `None` for what it was
    /// made with.
    pub fn set_mtu(&self, black_box: Role, mtu: Option<u32>) -> Result<(), LocalError> {
        Pair::to(black_box).set_mtu(&self.hosts, mtu)
    }

    /// The name of the emulated link to a black box, as records have it.
    pub fn link_name(black_box: Role) -> String {
        Pair::to(black_box).name()
    }

    /// Gives links their elements, away from the test host and towards it, and starts counting anew;
    /// links that are not named pass packets unchanged.
    pub fn impair(
        &self,
        links: &[(Role, ChainSpec, ChainSpec)],
        seed: u64,
    ) -> Result<(), LocalError> {
        let order = |(black_box, up, down): &(Role, ChainSpec, ChainSpec)| Order {
            link: Self::link_name(*black_box),
            up: up.clone(),
            down: down.clone(),
        };
        let orders: Vec<Order> = links.iter().map(order).collect();
        Ok(self.emulator.configure(&orders, seed)?)
    }

    /// Gives every link the same elements, away from the test host and towards it, and starts counting
    /// anew. Between the black boxes `up` leads from the active one to the passive one.
    pub fn impair_all(
        &self,
        up: &ChainSpec,
        down: &ChainSpec,
        seed: u64,
    ) -> Result<(), LocalError> {
        let order = |pair: &&Pair| Order { link: pair.name(), up: up.clone(), down: down.clone() };
        let orders: Vec<Order> = self.pairs.iter().map(order).collect();
        Ok(self.emulator.configure(&orders, seed)?)
    }

    /// What the emulator did on every link since [`Self::impair`] or [`Self::impair_all`].
    pub fn emulation(&self) -> Result<Vec<DirectionSample>, LocalError> {
        Ok(self.emulator.samples()?)
    }

    /// Records what passes the paths to these black boxes from now on, up to `limit` packets in each
    /// direction: the emulated path by the emulator, the direct one by a listener at the black box.
    /// Never beside a run that is scored.
    pub fn record(
        &self,
        black_boxes: &[Role],
        path: Path,
        limit: usize,
    ) -> Result<Recording<'_>, LocalError> {
        Recording::start(self, black_boxes, path, limit)
    }

    /// How the testbed was laid out, and what could not be had.
    pub fn facts(&self) -> &BTreeMap<String, Fact> {
        &self.facts
    }
}

/// By which device the near host of a pair sends to the far one on each path, and its largest packet.
fn routes_of(near: &NetNs, pair: &Pair) -> [(String, Fact); 2] {
    [("route", Path::Direct), ("emulated_route", Path::Emulated)].map(|(name, path)| {
        let way = Netlink::open(near)
            .and_then(|mut netlink| netlink.way_to(pair.address(pair.far, path)))
            .map(|way| Fact::known(format!("{}, MTU {}", way.device, way.mtu)));
        let unknown = |cause: btu_sys::Error| Fact::unavailable(cause.to_string());
        (format!("{name}_{}", pair.fact()), way.unwrap_or_else(unknown))
    })
}

fn start_emulator(
    wire: &NetNs,
    pairs: &[&Pair],
    placement: &Placement,
    config: &LocalConfig,
) -> Result<Box<dyn Emulator>, BackendError> {
    let settings = Settings {
        cpus: Some(placement.emulator().clone()),
        shared_cpus: placement.emulator_shares(),
        threads: config.threads,
        wait: config.wait,
        wire: config.wire,
        ..Settings::default()
    };
    let ports = |pair: &&Pair| LinkPorts {
        name: pair.name(),
        near: pair.wire_port(pair.near),
        far: pair.wire_port(pair.far),
    };
    let links: Vec<LinkPorts> = pairs.iter().map(ports).collect();
    let backend: &dyn Backend = BACKENDS[0];
    backend.start(wire, &links, &settings)
}
