//! Devices, addresses and routes of the local testbed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::sync::Arc;

use btu_core::disclosure::Fact;
use btu_core::role::Role;
use btu_sys::cpu::CpuSet;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;
use btu_sys::sysctl;

use super::BlackBoxes;
use super::LocalError;
use super::Path;
use super::Steering;
use crate::offload;
use crate::sysctls;

/// Two hosts: a direct and an emulated path between them.
#[derive(Debug)]
pub(super) struct Pair {
    /// The host from which `up` leads away: the test host wherever it is one of the two.
    pub(super) near: Role,
    pub(super) far: Role,
    /// Third byte of the addresses: digits of the two hosts.
    net: u8,
}

/// The pairs of the test host. 198.18.0.0/15 is the benchmarking range (RFC 2544).
static OF_TEST: [Pair; 2] = [
    Pair { near: Role::Test, far: Role::Active, net: 12 },
    Pair { near: Role::Test, far: Role::Passive, net: 13 },
];
/// The pair of the black boxes, which exists where it is asked for.
static OF_BLACK_BOXES: Pair = Pair { near: Role::Active, far: Role::Passive, net: 23 };

/// The pairs of a testbed.
pub(super) fn pairs(black_boxes: BlackBoxes) -> Vec<&'static Pair> {
    let third = (black_boxes == BlackBoxes::Joined).then_some(&OF_BLACK_BOXES);
    OF_TEST.iter().chain(third).collect()
}

/// One end of one path of a pair.
struct End<'a> {
    host: &'a NetNs,
    role: Role,
    device: String,
    own: IpAddr,
    peer: IpAddr,
    peer_mac: Mac,
}

impl Pair {
    /// The pair of the test host and a black box.
    pub(super) fn to(black_box: Role) -> &'static Self {
        match black_box {
            Role::Passive => &OF_TEST[1],
            Role::Active | Role::Test => &OF_TEST[0],
        }
    }

    /// `test-active`
    pub(super) fn name(&self) -> String {
        format!("{}-{}", self.near, self.far)
    }

    /// `active`, and `active_passive` where the test host is none of the two: how facts call it.
    pub(super) fn fact(&self) -> String {
        match self.near {
            Role::Test => self.far.to_string(),
            near => format!("{near}_{}", self.far),
        }
    }

    /// Whether these are the two hosts, whichever way.
    pub(super) fn joins(&self, one: Role, other: Role) -> bool {
        [(one, other), (other, one)].contains(&(self.near, self.far))
    }

    /// The address of one of the two hosts on a path.
    pub(super) fn address(&self, role: Role, path: Path) -> IpAddr {
        let second = if path == Path::Direct { 18 } else { 19 };
        Ipv4Addr::new(198, second, self.net, number(role)).into()
    }

    /// The emulator's device towards one of the two hosts: `tactive` and `atest`.
    pub(super) fn wire_port(&self, role: Role) -> String {
        format!("{:.1}{}", role.name(), self.other(role))
    }

    fn other(&self, role: Role) -> Role {
        if role == self.near { self.far } else { self.near }
    }

    /// Makes both paths. Tells which congestion control their routes have.
    pub(super) fn join(
        &self,
        hosts: &BTreeMap<Role, Arc<NetNs>>,
        wire: &NetNs,
        congestion: Option<&str>,
    ) -> Result<Fact, LocalError> {
        self.add_direct(hosts).map_err(at(self.far))?;
        for role in [self.near, self.far] {
            self.add_emulated(&hosts[&role], role, wire).map_err(at(role))?;
        }
        let mut fact = Fact::known(congestion.unwrap_or("the system's own"));
        for path in [Path::Direct, Path::Emulated] {
            for role in [self.near, self.far] {
                let end = self.end(&hosts[&role], role, path);
                if let Some(refusal) = end.configure(congestion).map_err(at(role))? {
                    fact = refusal;
                }
            }
        }
        Ok(fact)
    }

    /// Sets how many segments both ends of the direct path take at once.
    pub(super) fn set_offload(
        &self,
        hosts: &BTreeMap<Role, Arc<NetNs>>,
        on: bool,
    ) -> Result<(), LocalError> {
        let segments = if on { MOST_SEGMENTS } else { 1 };
        self.at_both_ends(hosts, |netlink, link| netlink.set_most_segments(link, segments))
    }

    pub(super) fn set_mtu(
        &self,
        hosts: &BTreeMap<Role, Arc<NetNs>>,
        mtu: Option<u32>,
    ) -> Result<(), LocalError> {
        self.at_both_ends(hosts, |netlink, link| netlink.set_mtu(link, mtu.unwrap_or(MTU)))
    }

    /// Sets something on both devices of the direct link.
    fn at_both_ends(
        &self,
        hosts: &BTreeMap<Role, Arc<NetNs>>,
        set: impl Fn(&mut Netlink, u32) -> btu_sys::Result<()>,
    ) -> Result<(), LocalError> {
        for role in [self.near, self.far] {
            let set = || {
                let mut netlink = Netlink::open(&hosts[&role])?;
                let link = netlink.link(&self.device(role, Path::Direct))?.index;
                set(&mut netlink, link)
            };
            set().map_err(at(role))?;
        }
        Ok(())
    }

    fn add_direct(&self, hosts: &BTreeMap<Role, Arc<NetNs>>) -> btu_sys::Result<()> {
        let [near, far] = [self.near, self.far].map(|role| self.device(role, Path::Direct));
        let end = |role, name| VethEnd {
            namespace: &hosts[&role],
            name,
            mac: self.mac(role, Path::Direct),
            mtu: MTU,
        };
        Netlink::open(&hosts[&self.near])?.add_veth(&end(self.near, &near), &end(self.far, &far))
    }

    /// The pair between a host and the emulator's namespace.
    fn add_emulated(&self, host: &NetNs, role: Role, wire: &NetNs) -> btu_sys::Result<()> {
        let (device, port) = (self.device(role, Path::Emulated), self.wire_port(role));
        let (mac, Mac(mut inner)) =
            (self.mac(role, Path::Emulated), self.mac(role, Path::Emulated));
        inner[2] = b'w';
        let mut netlink = Netlink::open(wire)?;
        netlink.add_veth(
            &VethEnd { namespace: host, name: &device, mac, mtu: MTU },
            &VethEnd { namespace: wire, name: &port, mac: Mac(inner), mtu: MTU },
        )?;
        offload::restrain(host, &device);
        let link = netlink.link(&port)?;
        netlink.set_up(link.index)
    }

    fn end<'a>(&self, host: &'a NetNs, role: Role, path: Path) -> End<'a> {
        let peer = self.other(role);
        End {
            host,
            role,
            device: self.device(role, path),
            own: self.address(role, path),
            peer: self.address(peer, path),
            peer_mac: self.mac(peer, path),
        }
    }

    /// `active0` is the direct device towards the active box, `active1` the emulated one.
    pub(super) fn device(&self, role: Role, path: Path) -> String {
        format!("{}{}", self.other(role), u8::from(path == Path::Emulated))
    }

    fn mac(&self, role: Role, path: Path) -> Mac {
        Mac([0x02, b'b', b't', self.net, u8::from(path == Path::Emulated), number(role)])
    }
}

impl End<'_> {
    /// Address, route and permanent neighbour. Gives the reason where the kernel refuses the
    /// congestion control; the route then has the system's own.
    fn configure(&self, congestion: Option<&str>) -> btu_sys::Result<Option<Fact>> {
        let mut netlink = Netlink::open(self.host)?;
        let link = netlink.link(&self.device)?.index;
        netlink.set_up(link)?;
        netlink.add_address(link, self.own, PREFIX_LENGTH)?;
        netlink.add_neighbour(link, self.peer, self.peer_mac)?;
        let route = Route {
            destination: network(self.own),
            link,
            gateway: None,
            source: Some(self.own),
            congestion,
            kind: RouteKind::Unicast,
        };
        let Err(refusal) = netlink.set_route(&route) else { return Ok(None) };
        if congestion.is_none() {
            return Err(refusal);
        }
        netlink.set_route(&Route { congestion: None, ..route })?;
        let because = format!("{} on {}: {refusal}", congestion.unwrap_or_default(), self.role);
        Ok(Some(Fact::unavailable(because)))
    }
}

/// Settings that must stand before the host's first device exists, and its loopback. Tells whether
/// received packets are handled on the role's own CPUs.
pub(super) fn prepare(
    host: &NetNs,
    role: Role,
    cpus: &CpuSet,
    steering: Steering,
) -> Result<Fact, LocalError> {
    host.inside(|| settle(cpus, steering))?
        .and_then(|fact| loopback_up(host).map(|()| fact))
        .map_err(at(role))
}

/// The same for the emulator's namespace, which passes packets by hand, never by the kernel.
pub(super) fn prepare_wire(wire: &NetNs, cpus: &CpuSet) -> Result<Fact, LocalError> {
    wire.inside(|| settle(cpus, Steering::Receiver))?
        .map_err(|source| LocalError::Join { host: "the emulator", source })
}

/// Over a veth pair the receiver's part of the stack runs on the sender's CPU, unless packets are
/// steered to the receiver's own: for the emulator that part copies every frame.
fn settle(cpus: &CpuSet, steering: Steering) -> btu_sys::Result<Fact> {
    sysctls::write_all(sysctls::QUIET)?;
    if steering == Steering::Sender {
        return Ok(Fact::known("none: received packets are handled on the sender's CPU"));
    }
    let mask = mask(cpus);
    Ok(match sysctl::write("net.core.rps_default_mask", &mask) {
        Ok(()) => Fact::known(mask),
        Err(cause) => Fact::unavailable(format!("rps_default_mask {mask}: {cause}")),
    })
}

/// Opens a black box's receive window at once, so that a cell in which the test host sends does not
/// measure how the black box's window grows (tcp(7), `tcp_rmem`).
pub(super) fn open_window(black_box: &NetNs, role: Role) -> Result<Fact, LocalError> {
    black_box
        .inside(|| {
            let found = sysctl::read(TCP_RMEM)?;
            let wanted = opened(&found).unwrap_or_else(|| found.clone());
            Ok(match sysctl::write(TCP_RMEM, &wanted) {
                Ok(()) => Fact::known(wanted),
                Err(cause) => Fact::unavailable(format!("{TCP_RMEM} {wanted}: {cause}")),
            })
        })?
        .map_err(at(role))
}

/// Least, first and largest buffer, the first as large as a window of [`WINDOW`] needs.
fn opened(tcp_rmem: &str) -> Option<String> {
    let sizes: Result<Vec<u64>, _> = tcp_rmem.split_whitespace().map(str::parse).collect();
    let [least, first, largest] = sizes.ok()?.try_into().ok()?;
    Some(format!("{least} {} {largest}", WINDOW.clamp(first.min(largest), largest)))
}

fn loopback_up(host: &NetNs) -> btu_sys::Result<()> {
    let mut netlink = Netlink::open(host)?;
    let loopback = netlink.link("lo")?;
    netlink.set_up(loopback.index)
}

/// Last byte of a host's addresses.
fn number(role: Role) -> u8 {
    match role {
        Role::Test => 1,
        Role::Active => 2,
        Role::Passive => 3,
    }
}

/// CPU numbers as the kernel's hexadecimal mask, 32 bits a group.
fn mask(cpus: &CpuSet) -> String {
    let highest = cpus.iter().max().unwrap_or(0);
    let group = |group: u32| {
        cpus.iter().filter(|cpu| cpu / 32 == group).fold(0_u32, |mask, cpu| mask | 1 << (cpu % 32))
    };
    let groups = (0..=highest / 32).rev().map(|index| format!("{:08x}", group(index)));
    groups.collect::<Vec<_>>().join(",")
}

fn network(address: IpAddr) -> Prefix {
    let IpAddr::V4(address) = address else { return Prefix { address, length: 128 } };
    let [a, b, c, d] = address.octets();
    Prefix { address: Ipv4Addr::new(a, b, c, d & !7).into(), length: PREFIX_LENGTH }
}

fn at(host: Role) -> impl Fn(btu_sys::Error) -> LocalError {
    move |source| LocalError::Join { host: host.name(), source }
}

const TCP_RMEM: &str = "net.ipv4.tcp_rmem";
/// The kernel's own default for the largest.
const WINDOW: u64 = 6 << 20;
const PREFIX_LENGTH: u8 = 29;
const MTU: u32 = 1500;
/// What a device has unless somebody set less (`GSO_MAX_SEGS`).
const MOST_SEGMENTS: u32 = 65_535;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_opens_to_its_largest_and_never_closes() {
        assert_eq!(opened("4096\t131072\t33554432").unwrap(), "4096 6291456 33554432");
        assert_eq!(opened("4096 131072 4194304").unwrap(), "4096 4194304 4194304");
        assert_eq!(opened("4096 8388608 16777216").unwrap(), "4096 8388608 16777216");
        assert_eq!(opened("4096 131072"), None);
    }

    #[test]
    fn paths_differ_by_address_alone() {
        let active = Pair::to(Role::Active);
        assert_eq!(active.address(Role::Test, Path::Direct).to_string(), "198.18.12.1");
        assert_eq!(active.address(Role::Active, Path::Emulated).to_string(), "198.19.12.2");
        let passive = Pair::to(Role::Passive);
        assert_eq!(passive.address(Role::Passive, Path::Direct).to_string(), "198.18.13.3");
        let third = &OF_BLACK_BOXES;
        assert_eq!(third.address(Role::Active, Path::Direct).to_string(), "198.18.23.2");
        assert_eq!(third.address(Role::Passive, Path::Emulated).to_string(), "198.19.23.3");
    }

    #[test]
    fn no_two_pairs_share_a_device_an_address_or_a_mac() {
        let all = pairs(BlackBoxes::Joined);
        let mut seen = std::collections::BTreeSet::new();
        for pair in &all {
            for role in [pair.near, pair.far] {
                let port = pair.wire_port(role);
                assert!(port.len() < 16 && seen.insert(port.clone()), "{port}");
                for path in [Path::Direct, Path::Emulated] {
                    let device = format!("{role} {}", pair.device(role, path));
                    assert!(seen.insert(device.clone()), "{device}");
                    assert!(seen.insert(pair.address(role, path).to_string()));
                    assert!(seen.insert(format!("{:?}", pair.mac(role, path))));
                }
            }
        }
        let names: Vec<String> = all.iter().map(|pair| pair.name()).collect();
        assert_eq!(names, ["test-active", "test-passive", "active-passive"]);
        assert_eq!(pairs(BlackBoxes::Apart).len(), 2);
    }

    #[test]
    fn cpu_masks_are_groups_of_eight_digits() {
        assert_eq!(mask(&CpuSet::of([0])), "00000001");
        assert_eq!(mask(&CpuSet::of([1, 33])), "00000002,00000002");
    }
}
