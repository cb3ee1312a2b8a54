//! Links, addresses, routes and neighbours of one network namespace, through rtnetlink.
//!
//! Blocking, one request at a time, no program started. The socket belongs to the namespace in
//! which it was opened; afterwards any thread may use it.

mod answer;
mod exchange;
mod message;
mod shaping;
pub(crate) mod wire;

use std::fmt;
use std::io;
use std::net::IpAddr;

use crate::Error;
use crate::Result;
use crate::namespace::NetNs;

use exchange::Exchange;
use wire::Message;

pub use shaping::Netem;
pub use shaping::NetemLine;
pub use shaping::RootCounters;
pub use shaping::USUAL_LIMIT;

/// A hardware address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mac(pub [u8; 6]);

/// One end of a new veth pair.
#[derive(Clone, Copy, Debug)]
pub struct VethEnd<'a> {
    /// Where it appears.
    pub namespace: &'a NetNs,
    /// Its name there, at most 15 bytes.
    pub name: &'a str,
    /// Its hardware address.
    pub mac: Mac,
    /// Its largest packet, from the IP header on.
    pub mtu: u32,
}

/// A link as the kernel reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The number by which other calls name it.
    pub index: u32,
    /// Its hardware address; zero for the loopback.
    pub mac: Mac,
    /// Its largest packet, from the IP header on.
    pub mtu: u32,
    /// True once it was brought up.
    pub up: bool,
    /// What passed.
    pub counters: LinkCounters,
}

/// What passed over a link. With offloads a super-packet counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Received.
    pub rx_packets: u64,
    /// Received, Ethernet header included.
    pub rx_bytes: u64,
    /// Dropped on the way in.
    pub rx_dropped: u64,
    /// Sent.
    pub tx_packets: u64,
    /// Sent, Ethernet header included.
    pub tx_bytes: u64,
    /// Dropped on the way out.
    pub tx_dropped: u64,
}

/// An XDP program on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkProgram {
    /// The name of the link.
    pub link: String,
    /// The number by which other calls name the program.
    pub program: u32,
}

/// How much of TCP's a link takes and gives in one piece, in bytes and segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LargestPieces {
    /// The link, by index.
    pub link: u32,
    /// `gso_max_size`: what the stack segments itself.
    pub gso_bytes: Option<u32>,
    /// `gso_max_segs`.
    pub gso_segments: Option<u32>,
    /// `gro_max_size`: what the stack joins on the way in.
    pub gro_bytes: Option<u32>,
    /// `tso_max_size`: what the device segments.
    pub tso_bytes: Option<u32>,
}

/// A queueing discipline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Qdisc {
    /// The link that it is on, by index.
    pub link: u32,
    /// Where: `root`, `ingress`, or the number of its class in the one above.
    pub place: String,
    /// `fq_codel`
    pub kind: String,
}

/// The device by which packets for an address leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Its name.
    pub device: String,
    /// Its largest packet, from the IP header on.
    pub mtu: u32,
}

/// A network: an address and how many of its bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Any address of it.
    pub address: IpAddr,
    /// The bits that count.
    pub length: u8,
}

/// A route to add.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// Where it leads.
    pub destination: Prefix,
    /// The link, by index.
    pub link: u32,
    /// The next hop; none for a network on the link itself.
    pub gateway: Option<IpAddr>,
    /// The source address of packets that leave by this route.
    pub source: Option<IpAddr>,
    /// Congestion control of TCP connections over this route (`congctl`).
    pub congestion: Option<&'a str>,
    /// Whether packets leave, or are for this host.
    pub kind: RouteKind,
}

/// Whether a route leads away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// Its packets are for this host (table `local`).
    Local,
    /// Its packets leave over the link (table `main`).
    Unicast,
}

/// A connection to the routing part of the kernel, in one network namespace.
#[derive(Debug)]
pub struct Netlink {
    exchange: Exchange,
}

impl Netlink {
    /// Opens a connection in `namespace`.
    pub fn open(namespace: &NetNs) -> Result<Self> {
        let exchange = namespace
            .inside(Exchange::open)
            .map_err(|cause| Error::new("open a netlink socket", io::Error::other(cause)))??;
        Ok(Self { exchange })
    }

    /// Opens a connection where this thread is: an ordinary user may not enter even that namespace again.
    pub fn here() -> Result<Self> {
        Ok(Self { exchange: Exchange::open()? })
    }

    /// Makes a veth pair. Both ends go to their own namespaces at once, so that no name shows in
    /// the namespace of this connection.
    pub fn add_veth(&mut self, near: &VethEnd<'_>, far: &VethEnd<'_>) -> Result<()> {
        let what = || format!("add veth {} - {}", near.name, far.name);
        self.create(what, &message::veth(near, far))
    }

    /// Makes a device with an address of its own on top of the device `over` of this connection's
    /// namespace (macvlan, private mode), and puts it into another namespace.
    pub fn add_macvlan(&mut self, end: &VethEnd<'_>, over: u32) -> Result<()> {
        let what = || format!("add macvlan {} on link {over}", end.name);
        self.create(what, &message::macvlan(end, over))
    }

    /// The link of this name.
    pub fn link(&mut self, name: &str) -> Result<Link> {
        let what = || format!("look up link {name}");
        self.look_up(what, &message::link_by_name(name), answer::link)
    }

    /// The link of this number.
    pub fn link_by_index(&mut self, link: u32) -> Result<Link> {
        let what = || format!("look up link {link}");
        self.look_up(what, &message::link_by_index(link), answer::link)
    }

    /// The device by which packets for this address leave now, by the kernel's own choice of a route.
    pub fn way_to(&mut self, address: IpAddr) -> Result<Way> {
        let what = || format!("look up the route to {address}");
        let route = message::route_to(address.to_canonical());
        let link = self.look_up(what, &route, answer::link_of_route)?;
        self.look_up(what, &message::link_by_index(link), answer::way)
    }

    /// The XDP programs on the links of this namespace.
    pub fn xdp_programs(&mut self) -> Result<Vec<LinkProgram>> {
        let what = || "list the links".to_owned();
        self.list(what, &message::any_link(), answer::xdp_program)
    }

    /// The queueing disciplines of all links of this namespace, by link and place.
    pub fn qdiscs(&mut self) -> Result<Vec<Qdisc>> {
        let what = || "list the queueing disciplines".to_owned();
        let mut found = self.list(what, &shaping::any_qdisc(), answer::qdisc)?;
        found.sort();
        Ok(found)
    }

    /// The largest pieces of all links of this namespace.
    pub fn largest_pieces(&mut self) -> Result<Vec<LargestPieces>> {
        let what = || "list the links".to_owned();
        self.list(what, &message::any_link(), answer::largest_pieces)
    }

    /// Brings a link up.
    pub fn set_up(&mut self, link: u32) -> Result<()> {
        let what = || format!("set link {link} up");
        self.acknowledged(what, 0, &message::up(link))
    }

    /// Takes a link away, and of a veth pair both ends. Their names are free when this returns.
    pub fn remove(&mut self, link: u32) -> Result<()> {
        self.acknowledged(|| format!("remove link {link}"), 0, &message::removed(link))
    }

    /// Limits how many segments TCP may hand to a link at once (`gso_max_segs`); 1 leaves no segmentation
    /// to the link.
    pub fn set_most_segments(&mut self, link: u32, segments: u32) -> Result<()> {
        let what = || format!("set gso_max_segs {segments} on link {link}");
        self.acknowledged(what, 0, &message::most_segments(link, segments))
    }

    /// Sets the largest packet of a link.
    pub fn set_mtu(&mut self, link: u32, mtu: u32) -> Result<()> {
        let what = || format!("set mtu {mtu} on link {link}");
        self.acknowledged(what, 0, &message::mtu(link, mtu))
    }

    /// Gives an address to a link, without the route that the kernel would add of itself.
    pub fn add_address(&mut self, link: u32, address: IpAddr, prefix_length: u8) -> Result<()> {
        let what = || format!("add address {address}/{prefix_length} to link {link}");
        self.create(what, &message::address(link, address, prefix_length))
    }

    /// Adds a route, or replaces the one to the same destination.
    pub fn set_route(&mut self, route: &Route<'_>) -> Result<()> {
        self.acknowledged(|| format!("set {route}"), CREATE | REPLACE, &message::route(route))
    }

    /// Adds a neighbour that never expires, so that no ARP or ND passes for it.
    pub fn add_neighbour(&mut self, link: u32, address: IpAddr, mac: Mac) -> Result<()> {
        let what = || format!("add neighbour {address} at {mac} to link {link}");
        self.create(what, &message::neighbour(link, address, mac))
    }

    /// Puts a queueing discipline with its default settings at the root of a link.
    pub fn set_root_qdisc(&mut self, link: u32, kind: &str) -> Result<()> {
        let what = || format!("set qdisc {kind} on link {link}");
        self.acknowledged(what, CREATE | REPLACE, &shaping::root_qdisc(link, kind))
    }

    /// The first that `read` finds among the answers.
    fn look_up<T>(
        &mut self,
        what: impl Fn() -> String,
        message: &Message,
        read: impl Fn(&Message) -> Option<T>,
    ) -> Result<T> {
        let found = self.exchange.answer(&what, ACK, message)?.iter().find_map(read);
        let nothing = || io::Error::new(io::ErrorKind::NotFound, "no answer");
        found.ok_or_else(|| Error::new(what(), nothing()))
    }

    /// All that `read` finds in the list of all that there is.
    fn list<T>(
        &mut self,
        what: impl Fn() -> String,
        message: &Message,
        read: impl Fn(&Message) -> Option<T>,
    ) -> Result<Vec<T>> {
        let answers = self.exchange.answer(&what, DUMP, message)?;
        Ok(answers.iter().filter_map(read).collect())
    }

    fn create(&mut self, what: impl Fn() -> String, message: &Message) -> Result<()> {
        self.acknowledged(what, CREATE | EXCLUSIVE, message)
    }

    fn acknowledged(
        &mut self,
        what: impl Fn() -> String,
        flags: u16,
        message: &Message,
    ) -> Result<()> {
        self.exchange.answer(&what, ACK | flags, message).map(|_| ())
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, byte) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { ":" };
            write!(out, "{separator}{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.address, self.length)
    }
}

impl fmt::Display for Route<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "route to {} over link {}", self.destination, self.link)?;
        if let Some(gateway) = self.gateway {
            write!(out, " via {gateway}")?;
        }
        match self.congestion {
            Some(name) => write!(out, " with congestion control {name}"),
            None => Ok(()),
        }
    }
}

// `linux/netlink.h`
const ACK: u16 = 0x4;
const REPLACE: u16 = 0x100;
const EXCLUSIVE: u16 = 0x200;
const DUMP: u16 = 0x300;
const CREATE: u16 = 0x400;
