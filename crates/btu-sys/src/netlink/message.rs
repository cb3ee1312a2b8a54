//! What each request says: the rtnetlink messages of links, addresses, routes and neighbours.

use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;

use netlink_packet_route::AddressFamily;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::AddressAttribute;
use netlink_packet_route::address::AddressFlags;
use netlink_packet_route::address::AddressMessage;
use netlink_packet_route::address::AddressScope;
use netlink_packet_route::link::InfoData;
use netlink_packet_route::link::InfoKind;
use netlink_packet_route::link::InfoMacVlan;
use netlink_packet_route::link::InfoVeth;
use netlink_packet_route::link::LinkAttribute;
use netlink_packet_route::link::LinkFlags;
use netlink_packet_route::link::LinkInfo;
use netlink_packet_route::link::LinkMessage;
use netlink_packet_route::link::LinkXdp;
use netlink_packet_route::link::MacVlanMode;
use netlink_packet_route::link::Stats64;
use netlink_packet_route::neighbour::NeighbourAddress;
use netlink_packet_route::neighbour::NeighbourAttribute;
use netlink_packet_route::neighbour::NeighbourMessage;
use netlink_packet_route::neighbour::NeighbourState;
use netlink_packet_route::route::RouteAttribute;
use netlink_packet_route::route::RouteHeader;
use netlink_packet_route::route::RouteMessage;
use netlink_packet_route::route::RouteMetric;
use netlink_packet_route::route::RouteProtocol;
use netlink_packet_route::route::RouteScope;
use netlink_packet_route::route::RouteType;
use netlink_packet_route::tc::TcAttribute;
use netlink_packet_route::tc::TcHandle;
use netlink_packet_route::tc::TcMessage;

use super::LargestPieces;
use super::Link;
use super::LinkCounters;
use super::LinkProgram;
use super::Mac;
use super::Qdisc;
use super::Route;
use super::RouteKind;
use super::VethEnd;
use super::Way;

pub(super) fn veth(near: &VethEnd<'_>, far: &VethEnd<'_>) -> LinkMessage {
    let mut message = veth_end(near);
    let peer = InfoData::Veth(InfoVeth::Peer(veth_end(far)));
    let info = vec![LinkInfo::Kind(InfoKind::Veth), LinkInfo::Data(peer)];
    message.attributes.push(LinkAttribute::LinkInfo(info));
    message
}

fn veth_end(end: &VethEnd<'_>) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.attributes = vec![
        LinkAttribute::IfName(end.name.to_owned()),
        LinkAttribute::Address(end.mac.0.to_vec()),
        LinkAttribute::Mtu(end.mtu),
        LinkAttribute::NetNsFd(end.namespace.as_fd().as_raw_fd()),
    ];
    message
}

/// A device of its own address on top of the device `over`, alone with it: nothing else there hears it.
pub(super) fn macvlan(end: &VethEnd<'_>, over: u32) -> LinkMessage {
    let mut message = veth_end(end);
    let mode = InfoData::MacVlan(vec![InfoMacVlan::Mode(MacVlanMode::Private)]);
    let info = vec![LinkInfo::Kind(InfoKind::MacVlan), LinkInfo::Data(mode)];
    message.attributes.push(LinkAttribute::Link(over));
    message.attributes.push(LinkAttribute::LinkInfo(info));
    message
}

pub(super) fn link_by_name(name: &str) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.attributes = vec![LinkAttribute::IfName(name.to_owned())];
    message
}

pub(super) fn link_by_index(link: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = link;
    message
}

/// The device that an answer describes.
pub(super) fn way_of(answer: &RouteNetlinkMessage) -> Option<Way> {
    let RouteNetlinkMessage::NewLink(message) = answer else { return None };
    let name = message.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.clone()),
        _ => None,
    });
    Some(Way { device: name?, mtu: link_of(answer)?.mtu })
}

/// The question for the route to one address.
pub(super) fn route_to(address: IpAddr) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(address);
    message.header.destination_prefix_length = if address.is_ipv4() { 32 } else { 128 };
    message.attributes = vec![RouteAttribute::Destination(address.into())];
    message
}

/// The link over which the route of an answer leads.
pub(super) fn link_of_route(answer: &RouteNetlinkMessage) -> Option<u32> {
    let RouteNetlinkMessage::NewRoute(message) = answer else { return None };
    message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Oif(link) => Some(*link),
        _ => None,
    })
}

pub(super) fn any_link() -> LinkMessage {
    LinkMessage::default()
}

/// The XDP program on the link that an answer describes.
pub(super) fn xdp_program_of(answer: &RouteNetlinkMessage) -> Option<LinkProgram> {
    let RouteNetlinkMessage::NewLink(message) = answer else { return None };
    let (mut link, mut program) = (String::new(), None);
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.clone_from(name),
            LinkAttribute::Xdp(parts) => {
                program = parts.iter().find_map(|part| match part {
                    LinkXdp::ProgId(number) => Some(*number),
                    _ => None,
                });
            }
            _ => {}
        }
    }
    program.map(|program| LinkProgram { link, program })
}

/// The largest pieces of the link that an answer describes.
pub(super) fn largest_pieces_of(answer: &RouteNetlinkMessage) -> Option<LargestPieces> {
    let RouteNetlinkMessage::NewLink(message) = answer else { return None };
    let mut largest = LargestPieces { link: message.header.index, ..LargestPieces::default() };
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::GsoMaxSize(bytes) => largest.gso_bytes = Some(*bytes),
            LinkAttribute::GsoMaxSegs(count) => largest.gso_segments = Some(*count),
            LinkAttribute::GroMaxSize(bytes) => largest.gro_bytes = Some(*bytes),
            LinkAttribute::TsoMaxSize(bytes) => largest.tso_bytes = Some(*bytes),
            _ => {}
        }
    }
    Some(largest)
}

pub(super) fn up(link: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = link;
    message.header.flags = LinkFlags::Up;
    message.header.change_mask = LinkFlags::Up;
    message
}

pub(super) fn most_segments(link: u32, segments: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = link;
    message.attributes = vec![LinkAttribute::GsoMaxSegs(segments)];
    message
}

pub(super) fn mtu(link: u32, mtu: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = link;
    message.attributes = vec![LinkAttribute::Mtu(mtu)];
    message
}

/// The link that an answer describes.
pub(super) fn link_of(answer: &RouteNetlinkMessage) -> Option<Link> {
    let RouteNetlinkMessage::NewLink(message) = answer else { return None };
    let mut link = Link {
        index: message.header.index,
        mac: Mac([0; 6]),
        mtu: 0,
        up: message.header.flags.contains(LinkFlags::Up),
        counters: LinkCounters::default(),
    };
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::Address(bytes) => {
                link.mac = bytes.as_slice().try_into().map_or(link.mac, Mac);
            }
            LinkAttribute::Mtu(mtu) => link.mtu = *mtu,
            LinkAttribute::Stats64(counters) => link.counters = counters_of(counters),
            _ => {}
        }
    }
    Some(link)
}

fn counters_of(stats: &Stats64) -> LinkCounters {
    LinkCounters {
        rx_packets: stats.rx_packets,
        rx_bytes: stats.rx_bytes,
        rx_dropped: stats.rx_dropped,
        tx_packets: stats.tx_packets,
        tx_bytes: stats.tx_bytes,
        tx_dropped: stats.tx_dropped,
    }
}

pub(super) fn address(link: u32, address: IpAddr, prefix_length: u8) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = family(address);
    message.header.prefix_len = prefix_length;
    message.header.scope = AddressScope::Universe;
    message.header.index = link;
    // IPv6 addresses would stay unusable for a second while duplicates are looked for.
    let flags = AddressFlags::Noprefixroute | AddressFlags::Nodad;
    message.attributes = vec![
        AddressAttribute::Local(address),
        AddressAttribute::Address(address),
        AddressAttribute::Flags(flags),
    ];
    message
}

pub(super) fn route(route: &Route<'_>) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header = route_header(route);
    let attributes = &mut message.attributes;
    if route.destination.length > 0 {
        attributes.push(RouteAttribute::Destination(route.destination.address.into()));
    }
    attributes.push(RouteAttribute::Oif(route.link));
    attributes.extend(route.gateway.map(|next| RouteAttribute::Gateway(next.into())));
    attributes.extend(route.source.map(|source| RouteAttribute::PrefSource(source.into())));
    attributes.extend(
        route
            .congestion
            .map(|name| RouteAttribute::Metrics(vec![RouteMetric::CcAlgo(name.to_owned())])),
    );
    message
}

fn route_header(route: &Route<'_>) -> RouteHeader {
    let (table, kind) = match route.kind {
        RouteKind::Local => (LOCAL_TABLE, RouteType::Local),
        RouteKind::Unicast => (RouteHeader::RT_TABLE_MAIN, RouteType::Unicast),
    };
    let scope = match (route.kind, route.gateway) {
        (RouteKind::Local, _) => RouteScope::Host,
        (RouteKind::Unicast, None) => RouteScope::Link,
        (RouteKind::Unicast, Some(_)) => RouteScope::Universe,
    };
    RouteHeader {
        address_family: family(route.destination.address),
        destination_prefix_length: route.destination.length,
        table,
        // The kernel's own local routes are replaced only by routes of the same origin.
        protocol: RouteProtocol::Kernel,
        scope,
        kind,
        ..RouteHeader::default()
    }
}

pub(super) fn neighbour(link: u32, address: IpAddr, mac: Mac) -> NeighbourMessage {
    let mut message = NeighbourMessage::default();
    message.header.family = family(address);
    message.header.ifindex = link;
    message.header.state = NeighbourState::Permanent;
    message.header.kind = RouteType::Unicast;
    let destination = match address {
        IpAddr::V4(address) => NeighbourAddress::Inet(address),
        IpAddr::V6(address) => NeighbourAddress::Inet6(address),
    };
    message.attributes = vec![
        NeighbourAttribute::Destination(destination),
        NeighbourAttribute::LinkLayerAddress(mac.0.to_vec()),
    ];
    message
}

pub(super) fn root_qdisc(link: u32, kind: &str) -> TcMessage {
    let mut message = TcMessage::default();
    message.header.index = i32::try_from(link).unwrap_or(i32::MAX);
    message.header.parent = TcHandle::ROOT;
    message.attributes = vec![TcAttribute::Kind(kind.to_owned())];
    message
}

pub(super) fn any_qdisc() -> TcMessage {
    TcMessage::default()
}

/// The queueing discipline that an answer describes.
pub(super) fn qdisc_of(answer: &RouteNetlinkMessage) -> Option<Qdisc> {
    let RouteNetlinkMessage::NewQueueDiscipline(message) = answer else { return None };
    let kind = message.attributes.iter().find_map(|attribute| match attribute {
        TcAttribute::Kind(kind) => Some(kind.clone()),
        _ => None,
    })?;
    let place = match message.header.parent {
        TcHandle::ROOT | TcHandle::UNSPEC => "root".to_owned(),
        TcHandle::INGRESS => "ingress".to_owned(),
        // The major number is one that the kernel gave, and tells nothing.
        TcHandle { minor, .. } => format!(":{minor:x}"),
    };
    Some(Qdisc { link: u32::try_from(message.header.index).ok()?, place, kind })
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// `RT_TABLE_LOCAL`: the addresses of this host.
const LOCAL_TABLE: u8 = 255;
