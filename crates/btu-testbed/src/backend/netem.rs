//! The kernel's own emulator: a netem qdisc at each end of a link, and no program in between.
//!
//! Packets that come in by one device leave by the other, through a veth pair of the emulator's own:
//! `near` - first end ~ second end - `far`. Netem sits where they leave, at the roots of `near` and
//! `far`, so that nothing of the host but this link passes it. The pair in the middle cuts
//! super-packets where the elements want wire packets.

use std::sync::Mutex;
use std::sync::PoisonError;

use btu_core::link::ChainSpec;
use btu_core::link::NetemSpec;
use btu_core::link::Wire;
use btu_core::sample::DirectionSample;
use btu_core::units::BitRate;
use btu_core::units::Nanos;
use btu_sys::errno::ENOENT;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netem;
use btu_sys::netlink::NetemLine;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::RootCounters;
use btu_sys::netlink::VethEnd;

use crate::capture::Capture;
use crate::time::now;

use super::Backend;
use super::BackendError;
use super::Emulator;
use super::LinkPorts;
use super::Order;
use super::Settings;

/// The entry of the registry.
#[derive(Debug)]
pub struct NetemBackend;

/// Links that the kernel emulates. They stay until their namespace goes.
#[derive(Debug)]
struct NetemLinks {
    wire: Wire,
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    netlink: Netlink,
    links: Vec<Link>,
    since: Nanos,
}

/// One link: `up`, then `down`.
#[derive(Debug)]
struct Link {
    name: String,
    directions: [Direction; 2],
}

/// One direction of a link: where its packets come in, cross to the other side, and leave.
#[derive(Debug)]
struct Direction {
    enters: u32,
    crosses: u32,
    /// Where they come out again: from there they are handed to netem.
    emerges: u32,
    leaves: u32,
    chain: ChainSpec,
    before: Counted,
}

/// What the kernel has counted of a direction so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    root: RootCounters,
    /// Packets for which netem had no room.
    refused: u64,
    /// Packets that a device lost on their way in.
    unseen: u64,
    /// Packets that the other end of a device did not take.
    unsent: u64,
    /// Packets that were inside already when the run began: they leave in it, and are none of its own.
    carried: u64,
}

impl Backend for NetemBackend {
    fn name(&self) -> &'static str {
        "netem"
    }

    fn help(&self) -> &'static str {
        "the kernel's sch_netem, where it has one; delay, drops by chance, a rate; no patterns"
    }

    fn start(
        &self,
        wire: &NetNs,
        links: &[LinkPorts],
        settings: &Settings,
    ) -> Result<Box<dyn Emulator>, BackendError> {
        let mut netlink = Netlink::open(wire)?;
        let mut made = Vec::new();
        for (number, ports) in (0..).zip(links) {
            made.push(Link::make(&mut netlink, wire, ports, number)?);
        }
        let mut inside = Inside { netlink, links: made, since: Nanos::ZERO };
        inside.begin()?;
        Ok(Box::new(NetemLinks { wire: settings.wire, inside: Mutex::new(inside) }))
    }
}

impl Emulator for NetemLinks {
    /// Nothing is changed where one of the chains is not for netem.
    fn configure(&self, orders: &[Order], _seed: u64) -> Result<(), BackendError> {
        let mut inside = self.inside();
        let known = |order: &&Order| inside.links.iter().any(|link| link.name == order.link);
        if let Some(order) = orders.iter().find(|order| !known(order)) {
            return Err(BackendError::UnknownLink { name: order.link.clone() });
        }
        let mut wanted = Vec::new();
        for link in &inside.links {
            let order = orders.iter().find(|order| order.link == link.name);
            let chains =
                order.map_or_else(Default::default, |order| [order.up.clone(), order.down.clone()]);
            for chain in chains {
                wanted.push((wanted_of(&chain, self.wire)?, chain));
            }
        }
        inside.apply(wanted)
    }

    fn start_capture(&self, _limit: usize) -> Result<(), BackendError> {
        Err(BackendError::NoCapture { backend: "netem" })
    }

    fn end_capture(&self) -> Result<Vec<Capture>, BackendError> {
        Err(BackendError::NoCapture { backend: "netem" })
    }

    fn samples(&self) -> Result<Vec<DirectionSample>, BackendError> {
        self.inside().samples()
    }
}

impl NetemLinks {
    fn inside(&self) -> std::sync::MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the kernel is to do, and whether packets have to come one by one.
type Wanted = (Netem, Grouping);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grouping {
    /// Super-packets stay whole.
    AsTheyCome,
    /// Each wire packet by itself.
    OneByOne,
}

fn wanted_of(chain: &ChainSpec, wire: Wire) -> Result<Wanted, BackendError> {
    let spec: NetemSpec = chain.netem()?;
    let line = spec
        .line(wire)?
        .map(|line| NetemLine { bytes_per_second: line.bytes_per_second, overhead: line.overhead });
    let netem = Netem {
        limit: spec.limit(FASTEST),
        delay_ns: spec.delay.count(),
        loss: spec.loss_of_u32(),
        line,
    };
    let one_by_one = spec.wants_wire_packets();
    Ok((netem, if one_by_one { Grouping::OneByOne } else { Grouping::AsTheyCome }))
}

impl Inside {
    fn apply(&mut self, wanted: Vec<(Wanted, ChainSpec)>) -> Result<(), BackendError> {
        let directions = self.links.iter_mut().flat_map(|link| &mut link.directions);
        for (direction, ((netem, grouping), chain)) in directions.zip(wanted) {
            let most = if grouping == Grouping::OneByOne { 1 } else { WHOLE };
            self.netlink.set_most_segments(direction.crosses, most)?;
            self.netlink.set_netem(direction.leaves, &netem)?;
            direction.chain = chain;
        }
        self.begin()
    }

    /// From now on it is counted anew.
    fn begin(&mut self) -> Result<(), BackendError> {
        for direction in self.links.iter_mut().flat_map(|link| &mut link.directions) {
            direction.before = direction.counted(&mut self.netlink)?;
        }
        self.since = now();
        Ok(())
    }

    fn samples(&mut self) -> Result<Vec<DirectionSample>, BackendError> {
        let elapsed = now().since(self.since);
        let mut samples = Vec::new();
        for link in &self.links {
            for (direction, name) in link.directions.iter().zip(["up", "down"]) {
                let seen = direction.counted(&mut self.netlink)?.since(&direction.before);
                samples.push(DirectionSample {
                    link: link.name.clone(),
                    direction: name.to_owned(),
                    elapsed_ns: elapsed,
                    ..sample(&direction.chain, &seen)
                });
            }
        }
        Ok(samples)
    }
}

impl Link {
    /// A pair of devices in the middle, packets handed over at each, netem where they leave.
    fn make(
        netlink: &mut Netlink,
        wire: &NetNs,
        ports: &LinkPorts,
        number: u8,
    ) -> Result<Self, BackendError> {
        let mtu = netlink.link(&ports.near)?.mtu;
        let names = ["n", "f"].map(|side| format!("cross-{side}{number}"));
        let mac = |side| Mac([0x02, b'b', b't', b'x', side, number]);
        let end = |side: u8| VethEnd {
            namespace: wire,
            name: &names[usize::from(side)],
            mac: mac(side),
            mtu,
        };
        netlink.add_veth(&end(0), &end(1))?;
        let mut index = |name: &str| netlink.link(name).map(|link| link.index);
        let [near, first, second, far] =
            [index(&ports.near)?, index(&names[0])?, index(&names[1])?, index(&ports.far)?];
        let up = Direction::over([near, first, second, far]);
        let down = Direction::over([far, second, first, near]);
        for link in [first, second] {
            netlink.set_up(link)?;
        }
        for direction in [&up, &down] {
            netlink.set_netem(direction.leaves, &Netem::default()).map_err(named)?;
            netlink.redirect(direction.enters, direction.crosses)?;
            netlink.redirect(direction.emerges, direction.leaves)?;
        }
        Ok(Self { name: ports.name.clone(), directions: [up, down] })
    }
}

/// The kernel's answer for a discipline that it does not know.
fn named(cause: btu_sys::Error) -> BackendError {
    match cause.errno() {
        Some(ENOENT) => BackendError::NoNetem(cause),
        _ => BackendError::Start(cause),
    }
}

impl Direction {
    fn over([enters, crosses, emerges, leaves]: [u32; 4]) -> Self {
        let (chain, before) = (ChainSpec::default(), Counted::default());
        Self { enters, crosses, emerges, leaves, chain, before }
    }

    fn counted(&self, netlink: &mut Netlink) -> Result<Counted, BackendError> {
        let of = |netlink: &mut Netlink, link| netlink.link_by_index(link).map(|it| it.counters);
        let enters = of(netlink, self.enters)?;
        let crosses = of(netlink, self.crosses)?;
        let leaves = of(netlink, self.leaves)?;
        Ok(Counted {
            root: netlink.root_counters(self.leaves)?,
            refused: netlink.refused(self.emerges)?,
            unseen: enters.rx_dropped + netlink.refused(self.enters)?,
            unsent: crosses.tx_dropped + leaves.tx_dropped,
            carried: 0,
        })
    }
}

impl Counted {
    /// What was counted since `before`; what is inside is so now.
    fn since(&self, before: &Self) -> Self {
        let (now, then) = (&self.root, &before.root);
        Self {
            root: RootCounters {
                packets: lap(now.packets, then.packets),
                bytes: now.bytes.saturating_sub(then.bytes),
                dropped: lap(now.dropped, then.dropped),
                held: now.held,
            },
            refused: lap(self.refused, before.refused),
            unseen: self.unseen.saturating_sub(before.unseen),
            unsent: self.unsent.saturating_sub(before.unsent),
            carried: then.held,
        }
    }
}

/// The kernel counts packets in 32 bits, which a long run at a high rate goes around.
fn lap(now: u64, then: u64) -> u64 {
    now.wrapping_sub(then) & u64::from(u32::MAX)
}

/// What is known of a direction. Netem tells neither which packets it lost nor how late it was.
fn sample(chain: &ChainSpec, seen: &Counted) -> DirectionSample {
    let Counted { root, refused, unseen, unsent, carried } = *seen;
    let lost = root.dropped.saturating_sub(refused);
    let texts = chain.texts();
    let drop = texts.iter().find(|text| text.starts_with("drop "));
    let has_line = chain.rate().is_some();
    DirectionSample {
        packets: (root.packets + root.dropped + root.held).saturating_sub(carried),
        bytes: root.bytes.saturating_sub(root.packets * ETHERNET_HEADER),
        dropped: lost,
        dropped_by: drop.map(|text| (text.clone(), lost)).into_iter().collect(),
        queue_dropped: if has_line { refused } else { 0 },
        overflow: if has_line { 0 } else { refused },
        held: root.held,
        socket_drops: unseen,
        send_errors: unsent,
        delay_asked_us: chain.constant_delay().map(Nanos::micros),
        backend: "netem".to_owned(),
        wait: "kernel".to_owned(),
        chain: texts,
        ..DirectionSample::default()
    }
}

/// For which netem has room: nothing that one link carries is faster.
const FASTEST: BitRate = BitRate::new(10_000_000_000);
/// No limit on the segments of a super-packet (`GSO_MAX_SEGS`).
const WHOLE: u32 = 65_535;
const ETHERNET_HEADER: u64 = 14;

#[cfg(test)]
mod tests {
    use btu_core::link::Reader;

    use super::*;

    fn chain(texts: &[&str]) -> ChainSpec {
        ChainSpec::as_given(texts, &Reader::PLAN).unwrap()
    }

    fn counted(packets: u64, dropped: u64, refused: u64) -> Counted {
        let root = RootCounters { packets, bytes: packets * 1514, dropped, held: 2 };
        Counted { root, refused, ..Counted::default() }
    }

    #[test]
    fn losses_by_chance_and_for_want_of_room_are_told_apart() {
        let seen = sample(&chain(&["drop 1%"]), &counted(900, 12, 0));
        assert_eq!((seen.packets, seen.dropped, seen.overflow, seen.held), (914, 12, 0, 2));
        assert_eq!(seen.dropped_by, [("drop 1%".to_owned(), 12)]);
        assert_eq!(seen.bytes, 900 * 1500);
        let seen = sample(&chain(&["delay 10ms"]), &counted(900, 12, 12));
        assert_eq!((seen.dropped, seen.overflow, seen.queue_dropped), (0, 12, 0));
        assert_eq!(seen.delay_asked_us, Some(10_000.0));
        let both = chain(&["drop 1%", "rate 10Mbit/s queue 50pkt"]);
        let seen = sample(&both, &counted(900, 12, 7));
        assert_eq!((seen.dropped, seen.overflow, seen.queue_dropped), (5, 0, 7));
    }

    #[test]
    fn counters_that_went_around_are_read_right() {
        let before = counted(u64::from(u32::MAX) - 9, 5, 5);
        let seen = counted(90, 8, 5).since(&before);
        assert_eq!((seen.root.packets, seen.root.dropped, seen.refused), (100, 3, 0));
        // Two were inside before, and two are now.
        assert_eq!(sample(&chain(&["delay 10ms"]), &seen).packets, 103);
    }

    #[test]
    fn packets_come_one_by_one_only_where_the_elements_want_it() {
        let grouping = |texts: &[&str]| wanted_of(&chain(texts), Wire::Ethernet).unwrap().1;
        assert_eq!(grouping(&["delay 10ms"]), Grouping::AsTheyCome);
        assert_eq!(grouping(&["drop 1%"]), Grouping::OneByOne);
        assert_eq!(grouping(&["rate 10Mbit/s queue 50pkt"]), Grouping::OneByOne);
    }
}
