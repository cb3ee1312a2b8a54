//! What an agent does for whom: a file on the agent's own host, which always wins.

mod front;
mod hours;
mod limits;

use std::net::IpAddr;
use std::net::SocketAddr;
use std::path::PathBuf;

use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use serde::Deserialize;

use crate::HostId;
use crate::message::Preparation;
use crate::message::Reservation;
use crate::message::ServiceOrder;

pub use front::Front;
pub use front::Mechanism;
use front::RawFront;
pub use hours::Hours;
pub use limits::NO_TEST;
pub(crate) use limits::speaks_in;

/// The policy of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Where it listens; loopback where the file names nothing.
    pub listen: Vec<SocketAddr>,
    /// How many conductors may share its time; 1 for nobody else.
    pub shared: u32,
    /// Whose links may be emulated, and behind which device; `None` where there is no front.
    pub front: Option<Front>,
    /// Where tests of this host write their files; `None` for the state directory, or the first disk.
    pub scratch: Option<PathBuf>,
    /// What is allowed to whom; the first that fits holds.
    pub classes: Vec<Grant>,
}

/// What is allowed to some peers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the file")]
pub struct Grant {
    /// Whom it is for; empty for every peer that is paired.
    pub peers: Vec<PeerRule>,
    /// When it holds; `None` for always.
    pub hours: Option<Hours>,
    /// What this agent sends at the most, all data connections together; `None` for what the path takes.
    pub max_rate: Option<BitRate>,
    /// The longest run.
    pub max_run: Nanos,
    /// The most connections at once.
    pub max_flows: u32,
    /// Payload of 24 hours, all runs together.
    pub max_bytes_per_day: Bytes,
    /// Ports of data connections; `None` for any that is free.
    pub data_ports: Option<(u16, u16)>,
    /// Host activities that this agent serves.
    pub activities: Vec<String>,
    /// Whether links may be emulated.
    pub emulation: bool,
    /// Whether packets of runs may be recorded and handed over.
    pub capture: bool,
    /// Services that this agent does; `None` for every one that it knows.
    pub services: Option<Vec<String>>,
    /// Whether this host may be put under test.
    pub test: bool,
    /// Whether a peer may send another host in its place.
    pub guests: bool,
}

/// A peer, or where peers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerRule {
    /// The host with this identity.
    Id(HostId),
    /// A network: address and length of the prefix.
    Network(IpAddr, u8),
}

/// A policy file that cannot be followed: place, value, legal values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {cause}")]
pub struct PolicyError {
    name: String,
    cause: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPolicy {
    listen: Option<Vec<String>>,
    shared: Option<u32>,
    front: Option<RawFront>,
    scratch: Option<PathBuf>,
    #[serde(default)]
    class: Vec<RawGrant>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGrant {
    peers: Option<Vec<String>>,
    hours: Option<String>,
    max_rate: Option<String>,
    max_run: Option<String>,
    max_flows: Option<u32>,
    max_bytes_per_day: Option<String>,
    data_ports: Option<[u16; 2]>,
    activities: Option<Vec<String>>,
    emulation: Option<bool>,
    capture: Option<bool>,
    services: Option<Vec<String>>,
    test: Option<bool>,
    guests: Option<bool>,
}

impl Default for Policy {
    /// Without a file: every paired peer, one at a time.
    fn default() -> Self {
        let classes = vec![Grant::default()];
        Self { listen: Vec::new(), shared: 1, front: None, scratch: None, classes }
    }
}

impl Default for Grant {
    fn default() -> Self {
        Self {
            peers: Vec::new(),
            hours: None,
            max_rate: None,
            max_run: Nanos::from_secs(600),
            max_flows: 64,
            max_bytes_per_day: Bytes::new(u64::MAX),
            data_ports: None,
            activities: vec!["ftp".to_owned()],
            emulation: true,
            capture: true,
            services: None,
            test: false,
            guests: true,
        }
    }
}

impl Policy {
    /// The policy in a file called `name`.
    ///
    /// # Errors
    /// The first thing that is not legal, with what is.
    pub fn parse(name: &str, text: &str) -> Result<Self, PolicyError> {
        let error = |cause: String| PolicyError { name: name.to_owned(), cause };
        let raw: RawPolicy = toml::from_str(text).map_err(|cause| {
            let (place, cause) = (place(text, &cause), cause.message());
            PolicyError { name: format!("{name}:{place}"), cause: cause.to_owned() }
        })?;
        raw.legal().map_err(error)
    }

    /// What is allowed to a peer that comes from there.
    pub fn grant(&self, peer: HostId, from: IpAddr) -> Option<&Grant> {
        self.classes.iter().find(|class| class.fits(peer, from))
    }
}

impl Grant {
    /// Both the identity and the network must match, where rules of that kind are given.
    fn fits(&self, peer: HostId, from: IpAddr) -> bool {
        let from = from.to_canonical();
        let verdicts = |kind: fn(&PeerRule) -> bool, fits: &dyn Fn(&PeerRule) -> bool| {
            let mut rules = self.peers.iter().filter(|rule| kind(rule)).peekable();
            rules.peek().is_none() || rules.any(fits)
        };
        let is_id = |rule: &PeerRule| matches!(rule, PeerRule::Id(_));
        let is_network = |rule: &PeerRule| matches!(rule, PeerRule::Network(..));
        verdicts(is_id, &|rule| matches!(rule, PeerRule::Id(id) if *id == peer))
            && verdicts(is_network, &|rule| match rule {
                PeerRule::Network(network, prefix) => is_inside(from, *network, *prefix),
                PeerRule::Id(_) => false,
            })
    }

    /// Why a reservation is refused; `None` where it is allowed.
    pub fn refuses(&self, wanted: &Reservation) -> Option<String> {
        let services = || wanted.services.iter().find_map(|name| self.refuses_name(name));
        if wanted.test {
            let refused = (!self.test).then(|| NO_TEST.to_owned());
            let refused = refused.or_else(services);
            return refused.or_else(|| self.exceeds(wanted.longest_run_ns, wanted.flows));
        }
        let unknown = wanted.activities.iter().find(|name| !self.activities.contains(name));
        if let Some(name) = unknown {
            return Some(format!("policy: the activity {name} is not allowed here"));
        }
        services().or_else(|| self.exceeds(wanted.longest_run_ns, wanted.flows))
    }

    /// Why a service is refused; `None` where it is allowed. `spent` is the payload of 24 hours.
    pub fn refuses_service(&self, order: &ServiceOrder, spent: Bytes) -> Option<String> {
        self.refuses_name(&order.service)
            .or_else(|| self.refuses_silence(order.lease_ns, spent))
            .or_else(|| self.exceeds(order.lease_ns, order.flows))
    }

    /// Why a conductor may not be silent for so long, or not go on at all.
    pub fn refuses_silence(&self, lease: Nanos, spent: Bytes) -> Option<String> {
        self.is_spent(spent).or_else(|| self.exceeds(lease, 0))
    }

    fn refuses_name(&self, service: &String) -> Option<String> {
        let allowed = self.services.as_ref().is_none_or(|names| names.contains(service));
        (!allowed).then(|| format!("policy: the service {service} is not allowed here"))
    }

    pub(crate) fn is_spent(&self, spent: Bytes) -> Option<String> {
        let most = self.max_bytes_per_day;
        (spent >= most).then(|| format!("policy: max_bytes_per_day = {most} is spent"))
    }

    /// Why nothing is done at this time, or not for so long; `None` where it is. `unix_s` is what
    /// the wall clock says: no deadline depends on it.
    pub fn refuses_time(&self, unix_s: u64, lasting: Nanos) -> Option<String> {
        let hours = self.hours?;
        let lasting_s = lasting.count().div_ceil(1_000_000_000);
        let closed = !hours.hold(unix_s, lasting_s);
        closed.then(|| format!("policy: hours = \"{hours}\" (UTC), which a run must not leave"))
    }

    /// Why a run is refused; `None` where it is allowed. `spent` is the payload of 24 hours.
    pub fn refuses_run(&self, order: &Preparation, spent: Bytes) -> Option<String> {
        let flows = u32::try_from(order.flows.len()).unwrap_or(u32::MAX);
        if order.link.is_some() && !self.emulation {
            return Some("policy: emulation is not allowed here".to_owned());
        }
        // Words meanwhile make the lease longer: the far ends themselves give the run up in time.
        let longest = order.lease_ns.max(order.cap_ns);
        self.is_spent(spent).or_else(|| self.exceeds(longest, flows))
    }

    /// Why the packets of a run are not handed over; `None` where they are.
    pub fn refuses_packets(&self) -> Option<String> {
        (!self.capture).then(|| "policy: capture = false".to_owned())
    }

    fn exceeds(&self, run: Nanos, flows: u32) -> Option<String> {
        if run > self.max_run {
            return Some(format!("policy: a run of {run} asked for, max_run = {}", self.max_run));
        }
        let many = flows > self.max_flows;
        many.then(|| format!("policy: {flows} flows asked for, max_flows = {}", self.max_flows))
    }
}

impl RawPolicy {
    fn legal(self) -> Result<Policy, String> {
        let listen = self.listen.unwrap_or_default();
        let listen: Result<Vec<_>, _> = listen.iter().map(|text| address("listen", text)).collect();
        let shared = self.shared.unwrap_or(1);
        if !(1..=MOST_SHARED).contains(&shared) {
            return Err(format!("shared = {shared}: write a number from 1 to {MOST_SHARED}"));
        }
        if let Some(scratch) = self.scratch.as_ref().filter(|scratch| !scratch.is_absolute()) {
            let cause = format!("scratch = \"{}\": write /var/lib/btu-io", scratch.display());
            return Err(cause);
        }
        let classes: Result<Vec<_>, _> = self.class.into_iter().zip(1..).map(of_class).collect();
        let classes = classes?;
        Ok(Policy {
            listen: listen?,
            shared,
            front: self.front.map(RawFront::legal).transpose()?,
            scratch: self.scratch,
            classes: if classes.is_empty() { vec![Grant::default()] } else { classes },
        })
    }
}

/// One class; what is wrong with it is named with its number.
fn of_class((class, number): (RawGrant, u32)) -> Result<Grant, String> {
    class.legal().map_err(|cause| format!("class {number}: {cause}"))
}

impl RawGrant {
    fn legal(self) -> Result<Grant, String> {
        let usual = Grant::default();
        let peers = self.peers.unwrap_or_default();
        let peers: Result<Vec<_>, _> = peers.iter().map(|text| rule(text)).collect();
        if let Some([first, last]) = self.data_ports
            && (first < 1024 || first > last)
        {
            return Err(format!(
                "data_ports = [{first}, {last}]: write [first, last] from 1024 on"
            ));
        }
        let max_rate = unit::<BitRate>("max_rate", self.max_rate)?;
        if max_rate.is_some_and(|rate| rate < LEAST_RATE) {
            return Err(format!("max_rate: write {LEAST_RATE} or more"));
        }
        Ok(Grant {
            peers: peers?,
            hours: unit("hours", self.hours)?,
            max_rate,
            max_run: unit("max_run", self.max_run)?.unwrap_or(usual.max_run),
            max_flows: self.max_flows.unwrap_or(usual.max_flows),
            max_bytes_per_day: unit("max_bytes_per_day", self.max_bytes_per_day)?
                .unwrap_or(usual.max_bytes_per_day),
            data_ports: self.data_ports.map(|[first, last]| (first, last)),
            activities: self.activities.unwrap_or(usual.activities),
            emulation: self.emulation.unwrap_or(usual.emulation),
            capture: self.capture.unwrap_or(usual.capture),
            services: self.services,
            test: self.test.unwrap_or(usual.test),
            guests: self.guests.unwrap_or(usual.guests),
        })
    }
}

/// A value with its unit.
fn unit<T: std::str::FromStr>(key: &str, text: Option<String>) -> Result<Option<T>, String>
where
    T::Err: std::fmt::Display,
{
    let read = |text: String| text.parse().map_err(|cause| format!("{key} = \"{text}\": {cause}"));
    text.map(read).transpose()
}

fn address(key: &str, text: &str) -> Result<SocketAddr, String> {
    let illegal = |_| format!("{key} = \"{text}\": write an address and a port, 10.0.4.7:7411");
    text.parse().map_err(illegal)
}

fn rule(text: &str) -> Result<PeerRule, String> {
    let illegal = || format!("peers = \"{text}\": write id:K3QF-... or a network, 10.0.4.0/24");
    match text.strip_prefix("id:") {
        Some(id) => id.parse().map(PeerRule::Id).map_err(|_| illegal()),
        None => {
            network(text).map(|(net, prefix)| PeerRule::Network(net, prefix)).ok_or_else(illegal)
        }
    }
}

/// `10.0.4.0/24`, or one address.
fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (address, prefix) = text.split_once('/').unwrap_or((text, ""));
    let address: IpAddr = address.parse().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let prefix = if text.contains('/') { prefix.parse().ok()? } else { longest };
    (prefix <= longest).then_some((address, prefix))
}

fn is_inside(address: IpAddr, network: IpAddr, prefix: u8) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(four) => (u128::from(u32::from(four)) << 96, true),
        IpAddr::V6(six) => (u128::from(six), false),
    };
    let ((one, four), (other, too)) = (bits(address), bits(network));
    let shift = 128 - u32::from(prefix);
    four == too && (shift >= 128 || (one ^ other) >> shift == 0)
}

/// Line and column of a syntax error.
fn place(text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}")
}

const MOST_SHARED: u32 = 64;
/// The least rate that a policy can set, one segment in a tenth of a second: with less, no run would
/// ever come to its end.
pub const LEAST_RATE: BitRate = BitRate::new(128_000);
