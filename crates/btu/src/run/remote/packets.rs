//! Packets as agents handed them over: looked at before they are believed, and joined into one file.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use anyhow::Context;
use anyhow::anyhow;
use anyhow::ensure;
use btu_core::capture;
use btu_core::capture::Capture;
use btu_core::capture::Interface;
use btu_core::capture::LinkType;
use btu_core::capture::Packet;
use btu_core::capture::PcapNg;
use btu_core::units::Nanos;
use btu_testbed::capture::is_same;
use btu_testbed::segment;
use btu_testbed::segment::Frame;
use btu_testbed::segment::Vnet;

use crate::run::second::Packets;

/// What one agent handed over of a run.
pub(super) struct Handed {
    /// How the agent is called.
    pub(super) agent: String,
    /// The name of the link in the result.
    pub(super) link: String,
    /// Where its far ends listened.
    pub(super) far_ends: Vec<SocketAddr>,
    /// Since when, by the clock of this host.
    pub(super) since: Nanos,
    /// The file.
    pub(super) file: Vec<u8>,
}

/// One file of all links, one after the other, in the order of the case. The clocks of agents need not
/// agree with each other: the first packet of each link stands where this host began to connect.
pub(super) fn joined(all: &[Handed]) -> anyhow::Result<Packets> {
    let began = all.iter().map(|one| one.since).max().unwrap_or_default();
    let (mut file, mut count, mut lost) = (PcapNg::new(""), 0, 0);
    for (place, handed) in (0..).zip(all) {
        let capture = capture::read(&handed.file)
            .with_context(|| format!("packets of agent {}", handed.agent))?;
        let first = capture.packets.iter().map(|packet| packet.at).min();
        let first = first.ok_or_else(|| anyhow!("agent {} saw no packet of it", handed.agent))?;
        let interface = file.interface(&Interface::new(handed.link.clone(), LinkType::Ethernet));
        let mut connections = BTreeSet::new();
        for packet in &capture.packets {
            handed.refuse_others(&capture, packet, &mut connections)?;
            let since = packet.at.since(first).saturating_add(Nanos::new(place));
            let at = began.saturating_add(since);
            let comment = packet.comment.and_then(capture::own_words);
            file.packet(&Packet { at, interface, comment, ..*packet });
            count += 1;
        }
        let missing = &capture.missing;
        lost = missing.dropped.saturating_add(lost);
        match missing.full_since {
            Some(full) => {
                let at = began.saturating_add(full.since(first));
                file.full(interface, at, missing.scattered(), missing.behind);
            }
            None if missing.dropped > 0 => file.lost(interface, began, missing.dropped),
            None => {}
        }
    }
    Ok(Packets { bytes: file.finish(), count, lost })
}

/// A connection: which far end it came to, and from where.
type Came = (usize, SocketAddr);

impl Handed {
    /// An agent hands over headers of this run alone; what is anything else is nobody's business here.
    /// Which ports this host had the agent knows better, where a network in between rewrites them; but
    /// all of its connections came from one address, and no more of them than there were far ends.
    fn refuse_others(
        &self,
        capture: &Capture<'_>,
        packet: &Packet<'_>,
        connections: &mut BTreeSet<Came>,
    ) -> anyhow::Result<()> {
        let interface = usize::try_from(packet.interface).unwrap_or(usize::MAX);
        let interface = capture.interfaces.get(interface);
        let is_ethernet = interface.is_some_and(|one| one.link_type == LinkType::Ethernet);
        let came = self.connection(packet);
        let own = came.is_some_and(|came| {
            let is_of_host = connections.first().is_none_or(|one| one.1.ip() == came.1.ip());
            connections.insert(came);
            is_of_host && connections.len() <= self.far_ends.len()
        });
        ensure!(is_ethernet && own, "agent {}: packets that are not of this run", self.agent);
        Ok(())
    }

    /// The connection of a packet that is nothing but headers.
    fn connection(&self, packet: &Packet<'_>) -> Option<Came> {
        let whole = usize::try_from(packet.original_bytes).unwrap_or(usize::MAX);
        let Frame::Counted(shape) = segment::read_head(Vnet::default(), packet.data, whole) else {
            return None;
        };
        let [from, to] =
            shape.ends(packet.data).filter(|_| packet.data.len() <= shape.header_end())?;
        let place = |end| self.far_ends.iter().position(|far| is_same(*far, end));
        let (place, other) = match place(from) {
            Some(place) => (place, to),
            None => (place(to)?, from),
        };
        Some((place, SocketAddr::new(other.ip().to_canonical(), other.port())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headers of a TCP segment over IPv4 and Ethernet.
    fn headers(from: &str, to: &str) -> Vec<u8> {
        let [from, to] = [from, to].map(|end| end.parse::<std::net::SocketAddrV4>().unwrap());
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0]);
        frame.extend([from.ip().octets(), to.ip().octets()].concat());
        frame.extend([from.port().to_be_bytes(), to.port().to_be_bytes()].concat());
        frame.extend([0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
        frame
    }

    /// What an agent with two far ends handed over, packets at these times.
    fn handed(packets: &[(u64, Vec<u8>)]) -> Handed {
        let mut file = PcapNg::new("");
        let interface = file.interface(&Interface::new("any".to_owned(), LinkType::Ethernet));
        for (at, data) in packets {
            let at = Nanos::new(*at);
            let (heading, comment) = (None, None);
            file.packet(&Packet { at, interface, heading, original_bytes: 54, data, comment });
        }
        let far_ends = ["10.0.4.7:7420", "10.0.4.7:7421"].map(|end| end.parse().unwrap()).into();
        let (agent, link) = ("lab1".to_owned(), "active".to_owned());
        Handed { agent, link, far_ends, since: Nanos::from_secs(1), file: file.finish() }
    }

    #[test]
    fn packets_are_of_one_host_and_of_no_more_connections_than_far_ends() {
        let own = |port: u16| format!("10.0.4.1:{port}");
        let to = |from: &str, far: u16| (9, headers(from, &format!("10.0.4.7:{far}")));
        let answer = (9, headers("10.0.4.7:7421", &own(40_002)));
        let two = [to(&own(40_001), 7420), to(&own(40_002), 7421), answer];
        let packets = joined(&[handed(&two)]).unwrap();
        assert_eq!((packets.count, packets.lost), (3, 0));
        for other in [
            to("10.0.4.2:40001", 7420),
            to(&own(40_003), 7421),
            to(&own(40_001), 22),
            (9, headers("10.0.4.2:7420", "10.0.4.3:40001")),
        ] {
            let all = [&two[..], &[other]].concat();
            let Err(refused) = joined(&[handed(&all)]) else { panic!("taken for own: {all:?}") };
            assert_eq!(refused.to_string(), "agent lab1: packets that are not of this run");
        }
    }

    #[test]
    fn times_that_no_clock_shows_stay_times() {
        let headers = || headers("10.0.4.1:40001", "10.0.4.7:7420");
        let packets = joined(&[handed(&[(0, headers()), (u64::MAX, headers())])]).unwrap();
        let read = capture::read(&packets.bytes).unwrap();
        let times: Vec<Nanos> = read.packets.iter().map(|packet| packet.at).collect();
        assert_eq!(times, [Nanos::from_secs(1), Nanos::MAX]);
    }
}
