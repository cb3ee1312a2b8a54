//! What stands out of a mesh: a host, one of its directions, what joins two racks, the path of one pair.
//!
//! Judged against the others of the same mesh, in logarithms and by medians, so that a few bad ones do not move what is usual.
//! What more than half of the hosts share is usual by that: a mesh is held against an expected rate or an earlier mesh for it.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt;

use super::polish::Effects;
use crate::stats::NORMAL_MAD;
use crate::stats::count;
use crate::stats::mad;
use crate::stats::median;

/// What is slower than the others, by the numbers of hosts and racks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspect {
    /// A host, whichever way: its CPU, its bus, its network card.
    Host(usize),
    /// A host where it sends: its cable, a queue of its card, the mode of its link.
    Sender(usize),
    /// A host where it receives.
    Receiver(usize),
    /// All that leaves a rack.
    RackOut(usize),
    /// All that comes into a rack.
    RackIn(usize),
    /// What joins one rack to another, in this direction.
    Racks(usize, usize),
    /// From one host to another: one of several paths, mostly.
    Path(usize, usize),
}

/// A suspect, and by how much it is slower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspicion {
    /// Who.
    pub suspect: Suspect,
    /// Its rate over what is usual, below 1.
    pub ratio: f64,
}

/// What is slower in a mesh, the slowest first. `racks` has the rack of each host; empty where nobody knows.
pub fn suspicions(effects: &Effects, racks: &[usize]) -> Vec<Suspicion> {
    let rest = &effects.rest;
    let noise = NORMAL_MAD * mad_of(rest.figures().map(|(.., left)| left)).unwrap_or(0.0);
    let mut tx = bad_ones(&effects.tx, noise, |host| rest.sent_by(host).len());
    let mut rx = bad_ones(&effects.rx, noise, |host| rest.received_by(host).len());
    let racks = Some(racks).filter(|racks| racks.len() == rest.hosts()).unwrap_or_default();
    let mut found = Vec::new();
    for rack in racks.iter().copied().collect::<BTreeSet<_>>() {
        found.extend(joint(&mut tx, effects, racks, rack).map(of(Suspect::RackOut(rack))));
        found.extend(joint(&mut rx, effects, racks, rack).map(of(Suspect::RackIn(rack))));
    }
    found.extend(of_hosts(&tx, &rx));
    found.extend(of_racks(effects, racks, noise));
    found.extend(of_paths(effects, racks, noise, &found));
    found.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
    found
}

fn of(suspect: Suspect) -> impl Fn(f64) -> Suspicion {
    move |effect| Suspicion { suspect, ratio: effect.exp() }
}

/// The effects that are bad, by host; `met` tells from how many partners each is.
fn bad_ones(effects: &[Option<f64>], noise: f64, met: impl Fn(usize) -> usize) -> Vec<Option<f64>> {
    let spread = NORMAL_MAD * mad_of(effects.iter().flatten().copied()).unwrap_or(0.0);
    let bad = |(host, effect): (usize, &Option<f64>)| {
        let chance = MEDIANS_ERROR * noise / count(met(host).max(1)).sqrt();
        effect.filter(|effect| is_bad(*effect, spread.max(chance)))
    };
    effects.iter().enumerate().map(bad).collect()
}

/// Takes the hosts of a rack out of the bad ones, where they are most of it and have among themselves what is usual: it is
/// what joins the rack to others then. Returns the median of their effects.
fn joint(bad: &mut [Option<f64>], effects: &Effects, racks: &[usize], rack: usize) -> Option<f64> {
    let hosts = || (0..racks.len()).filter(|host| racks[*host] == rack);
    let own: Vec<f64> = hosts().filter_map(|host| bad[host]).collect();
    let is_most = own.len() > 1 && own.len() * 2 > hosts().count();
    if !is_most || !is_well_within(effects, racks, rack) {
        return None;
    }
    hosts().for_each(|host| bad[host] = None);
    median(&own)
}

/// Whether hosts of a rack have what is usual among themselves.
fn is_well_within(effects: &Effects, racks: &[usize], rack: usize) -> bool {
    let is_within = |from: usize, to: usize| racks[from] == rack && racks[to] == rack;
    let within = effects.rest.figures().filter(|(from, to, _)| is_within(*from, *to));
    let of_both = |from: usize, to: usize| Some(effects.tx[from]? + effects.rx[to]?);
    let whole = within.filter_map(|(from, to, left)| Some(left + of_both(from, to)?));
    median(&whole.collect::<Vec<_>>()).is_some_and(|usual| usual >= LEAST.ln())
}

fn of_hosts(tx: &[Option<f64>], rx: &[Option<f64>]) -> Vec<Suspicion> {
    let told = |(host, bad): (usize, (&Option<f64>, &Option<f64>))| match bad {
        (Some(tx), Some(rx)) => Some(of(Suspect::Host(host))(f64::midpoint(*tx, *rx))),
        (Some(tx), None) => Some(of(Suspect::Sender(host))(*tx)),
        (None, Some(rx)) => Some(of(Suspect::Receiver(host))(*rx)),
        (None, None) => None,
    };
    tx.iter().zip(rx).enumerate().filter_map(told).collect()
}

/// Slower by more than is worth a name, and than chance alone makes it.
fn is_bad(effect: f64, error: f64) -> bool {
    effect < LEAST.ln() && effect < -FAR * error
}

/// Pairs of racks whose cells are slow though neither rack is.
fn of_racks(effects: &Effects, racks: &[usize], noise: f64) -> Vec<Suspicion> {
    let mut blocks: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    let of_racks = effects.rest.figures().filter(|(from, ..)| *from < racks.len());
    for (from, to, left) in of_racks.filter(|(from, to, _)| racks[*from] != racks[*to]) {
        blocks.entry((racks[from], racks[to])).or_default().push(left);
    }
    blocks.retain(|_, cells| cells.len() > 1);
    let usual = |cells: &Vec<f64>| median(cells).unwrap_or(0.0);
    let spread = NORMAL_MAD * mad_of(blocks.values().map(usual)).unwrap_or(0.0);
    let bad = |((from, to), cells): (&(usize, usize), &Vec<f64>)| {
        let (effect, error) = (usual(cells), MEDIANS_ERROR * noise / count(cells.len()).sqrt());
        is_bad(effect, spread.max(error)).then(|| of(Suspect::Racks(*from, *to))(effect))
    };
    blocks.iter().filter_map(bad).collect()
}

/// Single cells far below the model, but for those of two racks that are named already.
fn of_paths(effects: &Effects, racks: &[usize], noise: f64, found: &[Suspicion]) -> Vec<Suspicion> {
    let is_named = |from: usize, to: usize| {
        let (Some(from), Some(to)) = (racks.get(from), racks.get(to)) else { return false };
        found.iter().any(|one| one.suspect == Suspect::Racks(*from, *to))
    };
    let is_far = |left: f64| left < PATH.ln() && left < -PATH_FAR * noise;
    let far = effects.rest.figures().filter(|(.., left)| is_far(*left));
    far.filter(|(from, to, _)| !is_named(*from, *to))
        .map(|(from, to, left)| of(Suspect::Path(from, to))(left))
        .collect()
}

fn mad_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    mad(&values.collect::<Vec<_>>())
}

impl Suspect {
    /// The hosts that are no good partners while it is retested. A path or what joins racks makes none bad.
    pub fn hosts(self, racks: &[usize]) -> Vec<usize> {
        match self {
            Self::Host(host) | Self::Sender(host) | Self::Receiver(host) => vec![host],
            Self::RackOut(rack) | Self::RackIn(rack) => {
                (0..racks.len()).filter(|host| racks[*host] == rack).collect()
            }
            Self::Racks(..) | Self::Path(..) => Vec::new(),
        }
    }
}

impl fmt::Display for Suspect {
    /// As a key of results: `sender 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => write!(f, "host {host}"),
            Self::Sender(host) => write!(f, "sender {host}"),
            Self::Receiver(host) => write!(f, "receiver {host}"),
            Self::RackOut(rack) => write!(f, "rack-out {rack}"),
            Self::RackIn(rack) => write!(f, "rack-in {rack}"),
            Self::Racks(from, to) => write!(f, "racks {from} {to}"),
            Self::Path(from, to) => write!(f, "path {from} {to}"),
        }
    }
}

/// The standard error of a median of k values over that of one: the root of pi / 2 (for large k).
const MEDIANS_ERROR: f64 = 1.2533;

/// Less than 3 % slower is nothing that anybody drains a host for.
const LEAST: f64 = 0.97;

/// How many errors an effect has to be away.
const FAR: f64 = 4.0;

/// A single cell is named where it has less than this share of what the model expects ...
const PATH: f64 = 0.8;

/// ... and is so many deviations of the rest away: there are hosts times hosts chances.
const PATH_FAR: f64 = 6.0;
