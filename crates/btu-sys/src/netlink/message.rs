//! What each request says: the rtnetlink messages of links, addresses, routes and neighbours.

use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;

use super::Mac;
use super::Route;
use super::RouteKind;
use super::VethEnd;
use super::wire;
use super::wire::Message;

pub(super) fn veth(near: &VethEnd<'_>, far: &VethEnd<'_>) -> Message {
    let peer = wire::nest(PEER, &[&link_header(0, 0), &new_end(far)]);
    Message::new(libc::RTM_NEWLINK, &[&link_header(0, 0), &new_end(near), &kind("veth", &peer)])
}

/// A device of its own address on top of the device `over`, alone with it: nothing else there hears it.
pub(super) fn macvlan(end: &VethEnd<'_>, over: u32) -> Message {
    let below = wire::number(libc::IFLA_LINK, over);
    let kind = kind("macvlan", &wire::number(MACVLAN_MODE, PRIVATE));
    Message::new(libc::RTM_NEWLINK, &[&link_header(0, 0), &new_end(end), &below, &kind])
}

fn new_end(end: &VethEnd<'_>) -> Vec<u8> {
    [
        wire::text(libc::IFLA_IFNAME, end.name),
        wire::attribute(libc::IFLA_ADDRESS, &end.mac.0),
        wire::number(libc::IFLA_MTU, end.mtu),
        wire::number(libc::IFLA_NET_NS_FD, end.namespace.as_fd().as_raw_fd().cast_unsigned()),
    ]
    .concat()
}

/// The kind of a new link, and what only links of this kind have.
fn kind(name: &str, own: &[u8]) -> Vec<u8> {
    let own = wire::attribute(libc::IFLA_INFO_DATA, own);
    wire::nest(libc::IFLA_LINKINFO, &[&wire::text(libc::IFLA_INFO_KIND, name), &own])
}

pub(super) fn link_by_name(name: &str) -> Message {
    let name = wire::text(libc::IFLA_IFNAME, name);
    Message::new(libc::RTM_GETLINK, &[&link_header(0, 0), &name])
}

pub(super) fn link_by_index(link: u32) -> Message {
    Message::new(libc::RTM_GETLINK, &[&link_header(link, 0)])
}

pub(super) fn any_link() -> Message {
    link_by_index(0)
}

pub(super) fn up(link: u32) -> Message {
    Message::new(libc::RTM_SETLINK, &[&link_header(link, UP)])
}

pub(super) fn removed(link: u32) -> Message {
    Message::new(libc::RTM_DELLINK, &[&link_header(link, 0)])
}

pub(super) fn most_segments(link: u32, segments: u32) -> Message {
    changed(link, libc::IFLA_GSO_MAX_SEGS, segments)
}

pub(super) fn mtu(link: u32, mtu: u32) -> Message {
    changed(link, libc::IFLA_MTU, mtu)
}

fn changed(link: u32, setting: u16, value: u32) -> Message {
    let setting = wire::number(setting, value);
    Message::new(libc::RTM_SETLINK, &[&link_header(link, 0), &setting])
}

/// `struct ifinfomsg`: a link, and the flags that are to be set.
fn link_header(link: u32, flags: u32) -> Vec<u8> {
    wire::words(&[0, link, flags, flags])
}

pub(super) fn address(link: u32, address: IpAddr, prefix_length: u8) -> Message {
    let mut header = vec![family(address), prefix_length, 0, libc::RT_SCOPE_UNIVERSE];
    header.extend(link.to_ne_bytes());
    // IPv6 addresses would stay unusable for a second while duplicates are looked for.
    let flags = wire::number(libc::IFA_FLAGS, libc::IFA_F_NOPREFIXROUTE | libc::IFA_F_NODAD);
    let local = of_address(libc::IFA_LOCAL, address);
    let prefix = of_address(libc::IFA_ADDRESS, address);
    Message::new(libc::RTM_NEWADDR, &[&header, &local, &prefix, &flags])
}

/// The question for the route to one address.
pub(super) fn route_to(address: IpAddr) -> Message {
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let header = [family(address), bits, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    Message::new(libc::RTM_GETROUTE, &[&header, &of_address(libc::RTA_DST, address)])
}

pub(super) fn route(route: &Route<'_>) -> Message {
    let Route { destination, link, gateway, source, congestion, .. } = *route;
    let destination = (destination.length > 0).then_some(destination.address);
    let metrics = |name| wire::nest(libc::RTA_METRICS, &[&wire::text(CONGESTION, name)]);
    let parts = [
        Some(route_header(route).to_vec()),
        destination.map(|network| of_address(libc::RTA_DST, network)),
        Some(wire::number(libc::RTA_OIF, link)),
        gateway.map(|next| of_address(libc::RTA_GATEWAY, next)),
        source.map(|source| of_address(libc::RTA_PREFSRC, source)),
        congestion.map(metrics),
    ];
    Message { kind: libc::RTM_NEWROUTE, body: parts.into_iter().flatten().flatten().collect() }
}

/// `struct rtmsg`
fn route_header(route: &Route<'_>) -> [u8; 12] {
    let (table, kind) = match route.kind {
        RouteKind::Local => (libc::RT_TABLE_LOCAL, libc::RTN_LOCAL),
        RouteKind::Unicast => (libc::RT_TABLE_MAIN, libc::RTN_UNICAST),
    };
    let scope = match (route.kind, route.gateway) {
        (RouteKind::Local, _) => libc::RT_SCOPE_HOST,
        (RouteKind::Unicast, None) => libc::RT_SCOPE_LINK,
        (RouteKind::Unicast, Some(_)) => libc::RT_SCOPE_UNIVERSE,
    };
    // The kernel's own local routes are replaced only by routes of the same origin.
    let protocol = libc::RTPROT_KERNEL;
    let (source_length, tos) = (0, 0);
    let family = family(route.destination.address);
    let length = route.destination.length;
    [family, length, source_length, tos, table, protocol, scope, kind, 0, 0, 0, 0]
}

pub(super) fn neighbour(link: u32, address: IpAddr, mac: Mac) -> Message {
    let mut header = vec![family(address), 0, 0, 0];
    header.extend(link.to_ne_bytes());
    header.extend(libc::NUD_PERMANENT.to_ne_bytes());
    let flags = 0;
    header.extend([flags, libc::RTN_UNICAST]);
    let destination = of_address(libc::NDA_DST, address);
    let mac = wire::attribute(libc::NDA_LLADDR, &mac.0);
    Message::new(libc::RTM_NEWNEIGH, &[&header, &destination, &mac])
}

fn of_address(kind: u16, address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => wire::attribute(kind, &address.octets()),
        IpAddr::V6(address) => wire::attribute(kind, &address.octets()),
    }
}

fn family(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => INET,
        IpAddr::V6(_) => INET6,
    }
}

/// `AF_INET`
const INET: u8 = 2;
/// `AF_INET6`
const INET6: u8 = 10;
/// `IFF_UP`
pub(super) const UP: u32 = 1;
/// `VETH_INFO_PEER`
const PEER: u16 = 1;
/// `IFLA_MACVLAN_MODE`
const MACVLAN_MODE: u16 = 1;
/// `MACVLAN_MODE_PRIVATE`
const PRIVATE: u32 = 1;
/// `RTAX_CC_ALGO`
const CONGESTION: u16 = 16;

/// The bytes are those of `netlink-packet-route` 0.34, whose messages the kernel was given before.
#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::super::Prefix;
    use super::*;
    use crate::namespace::NetNs;

    fn hex(message: &Message) -> String {
        let words = message
            .body
            .chunks(4)
            .map(|word| word.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")));
        words.collect::<Vec<_>>().join(" ")
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    const MAC: Mac = Mac([2, 0, 0, 0, 0, 1]);

    #[test]
    fn new_links_say_name_address_mtu_and_namespace() {
        let here = NetNs::current().unwrap();
        let end = |name, last, mtu| VethEnd {
            namespace: &here,
            name,
            mac: Mac([2, 0, 0, 0, 0, last]),
            mtu,
        };
        let descriptor = format!("{:02x}000000", here.as_fd().as_raw_fd());
        let header = "00000000 00000000 00000000 00000000";
        let near = format!(
            "09000300 64617461 00000000 0a000100 02000000 00010000 08000400 78050000 08001c00 {descriptor}"
        );
        let far = format!(
            "0a000300 77697265 30000000 0a000100 02000000 00020000 08000400 dc050000 08001c00 {descriptor}"
        );
        let of_veth = "50001200 09000100 76657468 00000000 40000200 3c000100";
        assert_eq!(
            hex(&veth(&end("data", 1, 1400), &end("wire0", 2, 1500))),
            format!("{header} {near} {of_veth} {header} {far}")
        );
        let of_macvlan =
            "08000500 07000000 1c001200 0c000100 6d616376 6c616e00 0c000200 08000100 01000000";
        assert_eq!(
            hex(&macvlan(&end("data", 1, 1400), 7)),
            format!("{header} {near} {of_macvlan}")
        );
    }

    #[test]
    fn links_are_asked_for_and_changed() {
        let asked = "00000000 00000000 00000000 00000000 09000300 64617461 00000000";
        assert_eq!(hex(&link_by_name("data")), asked);
        assert_eq!(hex(&link_by_index(5)), "00000000 05000000 00000000 00000000");
        assert_eq!(hex(&up(5)), "00000000 05000000 01000000 01000000");
        let header = "00000000 05000000 00000000 00000000";
        assert_eq!(hex(&removed(5)), header);
        assert_eq!(hex(&most_segments(5, 1)), format!("{header} 08002800 01000000"));
        assert_eq!(hex(&mtu(5, 9000)), format!("{header} 08000400 28230000"));
    }

    #[test]
    fn addresses_and_neighbours_are_of_both_families() {
        let (v4, v6) = (ip("198.18.12.1"), ip("fd00::1"));
        let sixteen = "fd000000 00000000 00000000 00000001";
        assert_eq!(
            hex(&address(5, v4, 29)),
            "021d0000 05000000 08000200 c6120c01 08000100 c6120c01 08000800 02020000"
        );
        assert_eq!(
            hex(&address(5, v6, 64)),
            format!("0a400000 05000000 14000200 {sixteen} 14000100 {sixteen} 08000800 02020000")
        );
        let mac = "0a000200 02000000 00010000";
        assert_eq!(
            hex(&neighbour(5, v4, MAC)),
            format!("02000000 05000000 80000001 08000100 c6120c01 {mac}")
        );
        assert_eq!(
            hex(&neighbour(5, v6, MAC)),
            format!("0a000000 05000000 80000001 14000100 {sixteen} {mac}")
        );
    }

    #[test]
    fn routes_have_the_scope_and_the_table_of_their_kind() {
        let (v4, v6) = (ip("198.18.12.1"), ip("fd00::1"));
        let plain = Route {
            destination: Prefix { address: ip("198.18.12.0"), length: 29 },
            link: 5,
            gateway: None,
            source: Some(v4),
            congestion: Some("reno"),
            kind: RouteKind::Unicast,
        };
        assert_eq!(
            hex(&route(&plain)),
            "021d0000 fe02fd01 00000000 08000100 c6120c00 08000400 05000000 08000700 c6120c01 \
             10000800 09001000 72656e6f 00000000"
        );
        let by_gateway = Route {
            destination: Prefix { address: ip("0.0.0.0"), length: 0 },
            gateway: Some(v4),
            source: None,
            congestion: None,
            ..plain
        };
        let default = "02000000 fe020001 00000000 08000400 05000000 08000500 c6120c01";
        assert_eq!(hex(&route(&by_gateway)), default);
        let local = Route {
            destination: Prefix { address: v6, length: 128 },
            gateway: None,
            kind: RouteKind::Local,
            ..by_gateway
        };
        assert_eq!(
            hex(&route(&local)),
            "0a800000 ff02fe02 00000000 14000100 fd000000 00000000 00000000 00000001 08000400 05000000"
        );
        assert_eq!(hex(&route_to(v4)), "02200000 00000000 00000000 08000100 c6120c01");
    }
}
