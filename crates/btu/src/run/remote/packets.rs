//! Packets as agents handed them over: looked at before they are believed, and joined into one file.

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
use btu_testbed::capture::DROPPED;
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
        for packet in &capture.packets {
            handed.refuse_others(&capture, packet)?;
            let at = began + packet.at.since(first) + Nanos::new(place);
            let comment = packet.comment.filter(|comment| *comment == DROPPED);
            file.packet(&Packet { at, interface, comment, ..*packet });
            count += 1;
        }
        if capture.missing.dropped > 0 {
            file.lost(interface, began, capture.missing.dropped);
            lost += capture.missing.dropped;
        }
    }
    Ok(Packets { bytes: file.finish(), count, lost })
}

impl Handed {
    /// An agent hands over headers of this run alone; what is anything else is nobody's business here.
    fn refuse_others(&self, capture: &Capture<'_>, packet: &Packet<'_>) -> anyhow::Result<()> {
        let interface = usize::try_from(packet.interface).unwrap_or(usize::MAX);
        let interface = capture.interfaces.get(interface);
        let is_ethernet = interface.is_some_and(|one| one.link_type == LinkType::Ethernet);
        let whole = usize::try_from(packet.original_bytes).unwrap_or(usize::MAX);
        let own = match segment::read_head(Vnet::default(), packet.data, whole) {
            Frame::Counted(shape) if packet.data.len() <= shape.header_end() => {
                let is_end = |end| self.far_ends.iter().any(|far| is_same(*far, end));
                shape.ends(packet.data).is_some_and(|ends| ends.into_iter().any(is_end))
            }
            _ => false,
        };
        ensure!(is_ethernet && own, "agent {}: packets that are not of this run", self.agent);
        Ok(())
    }
}

fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && one.ip().to_canonical() == other.ip().to_canonical()
}
