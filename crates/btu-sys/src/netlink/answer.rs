//! What answers of rtnetlink say: links, routes, queueing disciplines and what they counted.

use super::LargestPieces;
use super::Link;
use super::LinkCounters;
use super::LinkProgram;
use super::Mac;
use super::Qdisc;
use super::RootCounters;
use super::Way;
use super::message::UP;
use super::shaping::ACTIONS;
use super::shaping::INGRESS_HOOK;
use super::shaping::ROOT;
use super::wire;
use super::wire::Message;

/// The link that an answer describes.
pub(super) fn link(answer: &Message) -> Option<Link> {
    let (header, attributes) = parts::<LINK_HEADER>(answer, libc::RTM_NEWLINK)?;
    let mac = wire::find(attributes, libc::IFLA_ADDRESS).and_then(|bytes| bytes.try_into().ok());
    let counters = wire::find(attributes, libc::IFLA_STATS64).and_then(link_counters);
    Some(Link {
        index: wire::u32_at(header, 4)?,
        mac: Mac(mac.unwrap_or_default()),
        mtu: wire::find_number(attributes, libc::IFLA_MTU).unwrap_or_default(),
        up: wire::u32_at(header, 8)? & UP != 0,
        counters: counters.unwrap_or_default(),
    })
}

/// `struct rtnl_link_stats64`
fn link_counters(stats: &[u8]) -> Option<LinkCounters> {
    let counter = |place: usize| wire::u64_at(stats, place * 8);
    Some(LinkCounters {
        rx_packets: counter(0)?,
        rx_bytes: counter(2)?,
        rx_dropped: counter(6)?,
        tx_packets: counter(1)?,
        tx_bytes: counter(3)?,
        tx_dropped: counter(7)?,
    })
}

/// The device that an answer describes.
pub(super) fn way(answer: &Message) -> Option<Way> {
    let (_, attributes) = parts::<LINK_HEADER>(answer, libc::RTM_NEWLINK)?;
    Some(Way { device: wire::find_text(attributes, libc::IFLA_IFNAME)?, mtu: link(answer)?.mtu })
}

/// The XDP program on the link that an answer describes.
pub(super) fn xdp_program(answer: &Message) -> Option<LinkProgram> {
    let (_, attributes) = parts::<LINK_HEADER>(answer, libc::RTM_NEWLINK)?;
    let program = wire::find_number(wire::find(attributes, libc::IFLA_XDP)?, XDP_PROGRAM)?;
    let link = wire::find_text(attributes, libc::IFLA_IFNAME).unwrap_or_default();
    Some(LinkProgram { link, program })
}

/// The largest pieces of the link that an answer describes.
pub(super) fn largest_pieces(answer: &Message) -> Option<LargestPieces> {
    let (header, attributes) = parts::<LINK_HEADER>(answer, libc::RTM_NEWLINK)?;
    let setting = |kind| wire::find_number(attributes, kind);
    Some(LargestPieces {
        link: wire::u32_at(header, 4)?,
        gso_bytes: setting(libc::IFLA_GSO_MAX_SIZE),
        gso_segments: setting(libc::IFLA_GSO_MAX_SEGS),
        gro_bytes: setting(libc::IFLA_GRO_MAX_SIZE),
        tso_bytes: setting(libc::IFLA_TSO_MAX_SIZE),
    })
}

/// The link over which the route of an answer leads.
pub(super) fn link_of_route(answer: &Message) -> Option<u32> {
    let (_, attributes) = parts::<ROUTE_HEADER>(answer, libc::RTM_NEWROUTE)?;
    wire::find_number(attributes, libc::RTA_OIF)
}

/// The queueing discipline that an answer describes.
pub(super) fn qdisc(answer: &Message) -> Option<Qdisc> {
    let (header, attributes) = parts::<TC_HEADER>(answer, libc::RTM_NEWQDISC)?;
    let place = match wire::u32_at(header, 12)? {
        UNSPECIFIED | ROOT => "root".to_owned(),
        INGRESS_HOOK => "ingress".to_owned(),
        // The major number is one that the kernel gave, and tells nothing.
        class => format!(":{:x}", class & 0xffff),
    };
    let kind = wire::find_text(attributes, libc::TCA_KIND)?;
    Some(Qdisc { link: wire::u32_at(header, 4)?, place, kind })
}

/// What the queueing discipline of an answer has counted, if it is the one at the root of `link`.
pub(super) fn root_counters(answer: &Message, link: u32) -> Option<RootCounters> {
    let (header, attributes) = parts::<TC_HEADER>(answer, libc::RTM_NEWQDISC)?;
    let is_it = wire::u32_at(header, 4)? == link && wire::u32_at(header, 12)? == ROOT;
    let stats = is_it.then(|| wire::find(attributes, libc::TCA_STATS2)).flatten()?;
    let (basic, queue) = (wire::find(stats, BASIC)?, wire::find(stats, QUEUE)?);
    Some(RootCounters {
        packets: wire::u32_at(basic, 8)?.into(),
        bytes: wire::u64_at(basic, 0)?,
        dropped: wire::u32_at(queue, 8)?.into(),
        held: wire::u32_at(queue, 0)?.into(),
    })
}

/// What the links behind the actions of an answer's filter have not taken: an action counts it as over
/// its limit.
pub(super) fn refused(answer: &Message) -> Option<u64> {
    let (_, attributes) = parts::<TC_HEADER>(answer, libc::RTM_NEWTFILTER)?;
    let actions = wire::find(wire::find(attributes, libc::TCA_OPTIONS)?, ACTIONS)?;
    let over_limit = |action| {
        let queue = wire::find(wire::find(action, ACTION_STATS)?, QUEUE)?;
        wire::u32_at(queue, 16)
    };
    Some(
        wire::attributes(actions).filter_map(|(_, action)| over_limit(action)).map(u64::from).sum(),
    )
}

/// The header and the attributes of an answer of this kind.
fn parts<const HEADER: usize>(answer: &Message, kind: u16) -> Option<(&[u8; HEADER], &[u8])> {
    if answer.kind != kind {
        return None;
    }
    answer.body.split_first_chunk()
}

/// `struct ifinfomsg`: family, kind, index, flags, mask.
const LINK_HEADER: usize = 16;
/// `struct rtmsg`
const ROUTE_HEADER: usize = 12;
/// `struct tcmsg`: family, index, handle, parent, info.
const TC_HEADER: usize = 20;
/// `IFLA_XDP_PROG_ID`
const XDP_PROGRAM: u16 = 4;
/// `TC_H_UNSPEC`
const UNSPECIFIED: u32 = 0;
/// `TCA_ACT_STATS`
const ACTION_STATS: u16 = 4;
/// `TCA_STATS_BASIC`: bytes, packets.
const BASIC: u16 = 1;
/// `TCA_STATS_QUEUE`: packets and bytes inside, drops, put back, over the limit.
const QUEUE: u16 = 3;
