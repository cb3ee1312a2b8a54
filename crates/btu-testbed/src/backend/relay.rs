//! The default backend: user-space threads between packet sockets on pairs of veth devices.
//!
//! Needs a network namespace and nothing else: no BPF, no TUN, no root. Super-packets stay whole
//! wherever the chain leaves them whole; due times start at the kernel's arrival stamp.

mod direction;
mod handle;
mod meter;
mod pause;
mod stamp;
mod stamping;
mod store;
mod worker;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use btu_core::link::Chain;
use btu_core::link::ChainSpec;
use btu_core::link::Limits;
use btu_core::link::Lines;
use btu_core::link::Place;
use btu_core::sample::DirectionSample;
use btu_core::units::Bytes;
use btu_sys::cpu::CpuSet;
use btu_sys::errno::ENODEV;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::LinkCounters;
use btu_sys::netlink::Netlink;

use crate::capture::Capture;

use super::Backend;
use super::BackendError;
use super::DEFAULT_MEMORY;
use super::Emulator;
use super::LinkPorts;
use super::Order;
use super::Settings;

use handle::Handle;
use store::Store;
use worker::Command;
use worker::Told;

/// The entry of the registry.
#[derive(Debug)]
pub struct RelayBackend;

/// A running relay. It ends when it is dropped.
#[derive(Debug)]
pub struct Relay {
    links: Vec<LinkPorts>,
    workers: Vec<Handle>,
    limits: Limits,
    settings: Settings,
    devices: Mutex<Devices>,
}

/// The kernel's own counters of the devices, whose drops are losses that nobody asked for.
#[derive(Debug)]
struct Devices {
    netlink: Netlink,
    at_start: BTreeMap<String, LinkCounters>,
}

impl Backend for RelayBackend {
    fn name(&self) -> &'static str {
        "relay"
    }

    fn help(&self) -> &'static str {
        "user-space threads on AF_PACKET sockets; every element, no root needed"
    }

    fn start(
        &self,
        wire: &NetNs,
        links: &[LinkPorts],
        settings: &Settings,
    ) -> Result<Box<dyn Emulator>, BackendError> {
        Ok(Box::new(Relay::start(wire, links, settings)?))
    }
}

impl Relay {
    /// Starts the threads; packets pass unchanged until [`Emulator::configure`].
    pub fn start(
        wire: &NetNs,
        links: &[LinkPorts],
        settings: &Settings,
    ) -> Result<Self, BackendError> {
        let memory = settings.memory.unwrap_or(DEFAULT_MEMORY);
        let positions = settings.positions.unwrap_or(Limits::default().positions);
        let slots = Store::slots(memory);
        // No element is full before the memory is.
        let handles = usize::try_from(slots).unwrap_or(usize::MAX).max(Limits::default().handles);
        let limits = Limits { slots, handles, positions };
        let mut relay = Self {
            links: links.to_vec(),
            workers: Vec::new(),
            limits,
            settings: settings.clone(),
            devices: Mutex::new(Devices::open(wire)?),
        };
        let per_thread = links.len().div_ceil(threads(settings, links.len())).max(1);
        for first in (0..links.len()).step_by(per_thread) {
            let range = first..(first + per_thread).min(links.len());
            let chains = relay.chains(&range, &[], 0, &mut Lines::default())?;
            let ports = &links[range.clone()];
            relay.workers.push(Handle::start(wire, range, ports, settings, chains)?);
        }
        relay.devices().begin(&relay.links)?;
        Ok(relay)
    }

    /// Both chains of each link; without an order packets pass unchanged.
    fn chains(
        &self,
        range: &std::ops::Range<usize>,
        orders: &[Order],
        seed: u64,
        lines: &mut Lines,
    ) -> Result<Vec<[Chain; 2]>, BackendError> {
        let unchanged = ChainSpec::default();
        let chain_pair = |ports: &LinkPorts| {
            let order = orders.iter().find(|order| order.link == ports.name);
            let (up, down) =
                order.map_or((&unchanged, &unchanged), |order| (&order.up, &order.down));
            Ok([
                self.chain(up, ports, "up", seed, lines)?,
                self.chain(down, ports, "down", seed, lines)?,
            ])
        };
        self.links[range.clone()].iter().map(chain_pair).collect()
    }

    fn chain(
        &self,
        spec: &ChainSpec,
        ports: &LinkPorts,
        direction: &'static str,
        seed: u64,
        lines: &mut Lines,
    ) -> Result<Chain, BackendError> {
        self.check_memory(spec, ports, direction)?;
        let (wire, limits) = (self.settings.wire, self.limits);
        let place = Place { seed, link: &ports.name, direction, wire, limits };
        Ok(Chain::new(spec, &place, lines)?)
    }

    /// What a rate and a delay keep inside, a fifth more, and room for one burst.
    fn check_memory(
        &self,
        spec: &ChainSpec,
        ports: &LinkPorts,
        direction: &'static str,
    ) -> Result<(), BackendError> {
        let (Some(rate), Some(delay)) = (spec.rate(), spec.constant_delay()) else { return Ok(()) };
        let inside = rate.amount_in(delay);
        let needed = Bytes::new(inside.count() + inside.count() / 5) + BURST;
        let allowed = self.settings.memory.unwrap_or(DEFAULT_MEMORY);
        if needed <= allowed {
            return Ok(());
        }
        let link = ports.name.clone();
        Err(BackendError::Memory { link, direction, rate, delay, needed, allowed })
    }

    fn devices(&self) -> MutexGuard<'_, Devices> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Emulator for Relay {
    fn configure(&self, orders: &[Order], seed: u64) -> Result<(), BackendError> {
        let is_known = |order: &&Order| self.links.iter().any(|ports| ports.name == order.link);
        if let Some(order) = orders.iter().find(|order| !is_known(order)) {
            return Err(BackendError::UnknownLink { name: order.link.clone() });
        }
        let mut lines = Lines::default();
        for worker in &self.workers {
            let chains = self.chains(&worker.links, orders, seed, &mut lines)?;
            worker.ask(|done| Command::Configure { chains, done })?;
        }
        self.devices().begin(&self.links)
    }

    fn start_capture(&self, limit: usize) -> Result<(), BackendError> {
        self.workers
            .iter()
            .try_for_each(|worker| worker.ask(|done| Command::Capture { limit, done }))
    }

    fn end_capture(&self) -> Result<Vec<Capture>, BackendError> {
        let mut captures = Vec::new();
        for worker in &self.workers {
            captures.extend(worker.ask(|reply| Command::EndCapture { reply })?);
        }
        let joined = |([up, down], ports): ([Capture; 2], &LinkPorts)| {
            let mut capture = up.joined(down);
            capture.link.clone_from(&ports.name);
            capture
        };
        Ok(captures.into_iter().zip(&self.links).map(joined).collect())
    }

    fn samples(&self) -> Result<Vec<DirectionSample>, BackendError> {
        // First: a send that fails meanwhile must not look like one that no thread knows of.
        let counters = self.devices().since_start(&self.links)?;
        let mut told = Vec::new();
        for worker in &self.workers {
            told.extend(worker.ask(|reply| Command::Sample { reply })?);
        }
        for (link, pair) in self.links.iter().zip(counters).zip(told.chunks_exact_mut(2)) {
            complete(link, pair);
        }
        Ok(told.into_iter().map(|told| told.sample).collect())
    }
}

impl Devices {
    fn open(wire: &NetNs) -> Result<Self, BackendError> {
        Ok(Self { netlink: Netlink::open(wire)?, at_start: BTreeMap::new() })
    }

    fn begin(&mut self, links: &[LinkPorts]) -> Result<(), BackendError> {
        for device in links.iter().flat_map(|ports| [&ports.near, &ports.far]) {
            let counters = self.netlink.link(device)?.counters;
            self.at_start.insert(device.clone(), counters);
        }
        Ok(())
    }

    /// Of both devices of each link, `near` and `far`.
    fn since_start(&mut self, links: &[LinkPorts]) -> Result<Vec<Counted>, BackendError> {
        let both = |ports: &LinkPorts| Ok([self.of(&ports.near)?, self.of(&ports.far)?]);
        links.iter().map(both).collect()
    }

    /// `None` where the device is gone: a command that is root of its namespace may delete it.
    fn of(&mut self, device: &str) -> Result<Option<LinkCounters>, BackendError> {
        let now = match self.netlink.link(device) {
            Ok(link) => link.counters,
            Err(cause) if cause.errno() == Some(ENODEV) => return Ok(None),
            Err(cause) => return Err(cause.into()),
        };
        let then = self.at_start.get(device).copied().unwrap_or_default();
        Ok(Some(LinkCounters {
            rx_dropped: now.rx_dropped.saturating_sub(then.rx_dropped),
            tx_dropped: now.tx_dropped.saturating_sub(then.tx_dropped),
            ..now
        }))
    }
}

/// As many as are wanted, but on each CPU one at the most, and one only where others run there, too.
fn threads(settings: &Settings, links: usize) -> usize {
    let own = settings.cpus.as_ref().map_or(1, CpuSet::len);
    let own = if settings.shared_cpus { 1 } else { own };
    settings.threads.most(links).min(own).max(1)
}

/// What the devices of a link have counted since the run began.
type Counted = [Option<LinkCounters>; 2];

/// Adds to both directions of a link, `up` and `down`, what its devices say.
fn complete((ports, [near, far]): (&LinkPorts, Counted), directions: &mut [Told]) {
    let gone = [(near, &ports.near), (far, &ports.far)]
        .into_iter()
        .find_map(|(counters, name)| counters.is_none().then(|| name.clone()));
    for (one, [from, to]) in directions.iter_mut().zip([[near, far], [far, near]]) {
        one.sample.device_gone.clone_from(&gone);
        one.complete(from.unwrap_or_default(), to.unwrap_or_default());
    }
}

impl Told {
    /// What the device `from` dropped on the way in never reached the emulator; what `to` dropped on the
    /// way out was refused by its other end, and is told already where the call failed. Where a super-packet failed
    /// that the device counted once, one silent drop may stay untold: the record is invalid by then.
    fn complete(&mut self, from: LinkCounters, to: LinkCounters) {
        self.sample.socket_drops += from.rx_dropped;
        self.sample.send_errors += to.tx_dropped.saturating_sub(self.known_refusals);
    }
}

/// Room for what arrives while a thread is not running.
const BURST: Bytes = Bytes::new(64 << 20);

#[cfg(test)]
mod tests {
    use std::io;

    use btu_sys::errno::EINVAL;
    use btu_sys::errno::ENOBUFS;

    use crate::backend::Threads;
    use crate::segment::Vnet;

    use super::meter::Counts;
    use super::*;

    /// The record's `send_errors` after sends that failed, where the device counted so many drops.
    fn send_errors(failures: &[(i32, u8)], told: u64, tx_dropped: u64) -> u64 {
        let mut counts = Counts::default();
        for (errno, gso_type) in failures {
            let vnet = Vnet { gso_type: *gso_type, ..Vnet::default() };
            counts.failed(&io::Error::from_raw_os_error(*errno), vnet);
        }
        let sample = DirectionSample { send_errors: told, ..DirectionSample::default() };
        let mut told = Told { sample, known_refusals: counts.known_refusals };
        told.complete(LinkCounters::default(), LinkCounters { tx_dropped, ..Default::default() });
        told.sample.send_errors
    }

    #[test]
    fn a_frame_that_is_refused_counts_once_and_a_silent_drop_beside_it_counts() {
        let (plain, large) = ((ENOBUFS, 0), (ENOBUFS, 1));
        assert_eq!(send_errors(&[plain, plain], 2, 2), 2);
        // Of 45 segments, which the device counted as two frames.
        assert_eq!(send_errors(&[large], 45, 2), 45);
        assert_eq!(send_errors(&[plain], 1, 4), 4);
        // What the socket does not take never reaches the device.
        assert_eq!(send_errors(&[(EINVAL, 0)], 1, 1), 2);
        // Packets of an earlier run: nothing of this one failed.
        assert_eq!(send_errors(&[plain, plain], 0, 2), 0);
    }

    #[test]
    fn each_link_has_a_thread_where_it_has_a_cpu_that_nobody_shares() {
        let of = |cpus: Option<u32>, shared_cpus, wanted, links| {
            let cpus = cpus.map(|count| CpuSet::of(0..count));
            threads(&Settings { cpus, shared_cpus, threads: wanted, ..Settings::default() }, links)
        };
        let apart = |cpus, links| of(Some(cpus), false, Threads::PerLink, links);
        assert_eq!([apart(1, 2), apart(2, 2), apart(4, 2), apart(2, 3)], [1, 2, 2, 2]);
        assert_eq!(apart(2, 0), 1);
        assert_eq!(of(Some(2), true, Threads::PerLink, 2), 1);
        assert_eq!(of(Some(2), false, Threads::One, 2), 1);
        assert_eq!(of(None, false, Threads::PerLink, 2), 1);
    }
}
