//! What a ping-pong does: sizes, configurations, rounds, chance. Stored as `plan.toml` beside its samples.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use super::chasm::Settings;
use super::configuration::Configuration;
use super::configuration::Mode;
use super::configuration::REFERENCE;
use super::nature::Nature;
use super::sample::ConfigurationId;
use super::schedule::LEAST_CAP;
use super::schedule::Order;
use super::schedule::POINT_TIME;
use super::schedule::Sweep;
use super::sizes::Sizes;
use super::statistic::Statistic;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::verb;
use crate::verb::PlanError;

/// Everything that decides what a ping-pong measures and how its result is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Tells this plan from those of other verbs.
    pub verb: Verb,
    /// Between which hosts.
    pub path: Path,
    /// Seed of every random choice.
    pub seed: u64,
    /// How often each point is visited.
    pub rounds: u32,
    /// Connections of each configuration, one after the other.
    pub connections: u32,
    /// The share of one point in the time of the sweep, all its rounds together.
    pub point_time_ns: Nanos,
    /// The longest that a block may take, one way: larger ones are left out.
    #[serde(default = "block_time")]
    pub block_time_ns: Nanos,
    /// How long nothing may come of a visit beyond its limit before it is given up.
    pub patience_ns: Nanos,
    /// A new connection for every visit.
    pub reset: bool,
    /// The order of the visits.
    #[serde(default)]
    pub order: Order,
    /// What the curves are drawn of.
    pub statistic: Statistic,
    /// Whether copies of memory are measured beside, as the machine's own limit.
    pub reference: bool,
    /// CPUs of the end that starts, such as `0` or `0-3`; those of its host where none are named.
    pub near_cpus: Option<String>,
    /// CPUs of the end that answers.
    pub far_cpus: Option<String>,
    /// A fault of the answering end, made on purpose: shows that a check of contents sees it.
    pub plant: Option<String>,
    /// The transport that costs are counted from; the first one where none is named.
    pub base: Option<String>,
    /// Where to look for chasms, and for how long; `None` where nobody looks.
    pub chasms: Option<ChasmSearch>,
    /// The sizes.
    pub sizes: SizeChoice,
    /// What is compared; a configuration's number in the journal is its place here, from 1.
    pub configurations: Vec<Configuration>,
}

/// The verb of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// `btu pingpong`
    #[default]
    PingPong,
}

/// Between which hosts a ping-pong goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Path {
    /// From the test host to the active one of the local testbed, over their direct link.
    #[default]
    Direct,
    /// The loopback of this machine itself, as other programs use it.
    Loopback,
    /// From this host to a paired one, whose agent answers.
    Peer,
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Direct => "direct",
            Self::Loopback => "loopback",
            Self::Peer => "peer",
        })
    }
}

/// How the chasm finder is let loose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChasmSearch {
    /// The most time of the search in one curve; what is confirmed by then is kept.
    pub time_ns: Nanos,
    /// How exactly an edge is found.
    pub resolution_bytes: Bytes,
}

/// Which block sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeChoice {
    /// By rule.
    Grid(Sizes),
    /// Named one by one.
    Listed(Vec<Bytes>),
}

impl Plan {
    /// A plan of NetPIPE's sizes with nothing special.
    pub fn new(configurations: Vec<Configuration>, seed: u64) -> Self {
        Self {
            verb: Verb::PingPong,
            path: Path::default(),
            seed,
            rounds: 10,
            connections: 3,
            point_time_ns: POINT_TIME,
            block_time_ns: block_time(),
            patience_ns: Nanos::from_secs(5),
            reset: false,
            order: Order::default(),
            statistic: Statistic::default(),
            reference: false,
            near_cpus: None,
            far_cpus: None,
            plant: None,
            base: None,
            chasms: None,
            sizes: SizeChoice::Grid(Sizes::default()),
            configurations,
        }
    }

    /// The plan as `plan.toml` holds it: what was asked for, and not what the transports are.
    #[inline] // Compiled by whoever calls it: docs/decisions/0031-release-profile.md.
    pub fn to_toml(&self) -> String {
        let asked = self.with_natures(|_| Nature::default());
        // Every value of a plan has a form in TOML.
        toml::to_string(&asked).unwrap_or_default()
    }

    /// The same plan for transports that are what `nature` tells of each configuration.
    #[must_use]
    pub fn with_natures(&self, nature: impl Fn(&Configuration) -> Nature) -> Self {
        let told = |one: &Configuration| Configuration { nature: nature(one), ..one.clone() };
        let configurations = self.configurations.iter().map(told).collect();
        Self { configurations, ..self.clone() }
    }

    /// The plan of a file.
    ///
    /// # Errors
    /// The first value that is not legal, with its line.
    #[inline] // Compiled by whoever calls it: docs/decisions/0031-release-profile.md.
    pub fn stored(file: &str, text: &str) -> Result<Self, PlanError> {
        let plan: Self = verb::read_plan(file, text)?;
        match plan.illegal() {
            Some(cause) => Err(PlanError { file: file.to_owned(), cause }),
            None => Ok(plan),
        }
    }

    /// The first value that no option could have asked for, where it is, and which are legal.
    fn illegal(&self) -> Option<String> {
        let counts = [("rounds", self.rounds), ("connections", self.connections)];
        let count = counts.into_iter().find(|(_, count)| !(1..=MOST_ROUNDS).contains(count));
        let empty =
            matches!(&self.sizes, SizeChoice::Listed(sizes) if sizes.contains(&Bytes::ZERO));
        let count = count.map(|(name, count)| format!("{name}: {count}: write 1 to {MOST_ROUNDS}"));
        let beyond = self.configurations.iter().find_map(Configuration::out_of_range);
        count
            .or_else(|| empty.then(|| "sizes.listed: 0: the smallest block is 1 byte".to_owned()))
            .or_else(|| beyond.map(|one| format!("configurations.{}: {one}", one.key)))
            .or_else(|| self.no_time().map(|(name, cause)| format!("{name}_ns: {cause}")))
    }

    /// The first time in which nothing could be measured, by its name, and what is legal.
    pub fn no_time(&self) -> Option<(&'static str, String)> {
        let times = [
            ("patience", self.patience_ns),
            ("point_time", self.point_time_ns),
            ("block_time", self.block_time_ns),
        ];
        let (name, time) = times.into_iter().find(|(_, time)| time.is_zero())?;
        Some((name, format!("{time}: write a time above 0")))
    }

    /// True for the text of a plan of this verb, whole or damaged.
    pub fn is_in(text: &str) -> bool {
        verb::is_plan_of("pingpong", text)
    }

    /// The sizes, ascending, each once.
    pub fn points(&self) -> Vec<Bytes> {
        match &self.sizes {
            SizeChoice::Grid(sizes) => sizes.points(),
            SizeChoice::Listed(sizes) => {
                let mut sizes = sizes.clone();
                sizes.sort_unstable();
                sizes.dedup();
                sizes
            }
        }
    }

    /// The configurations with their numbers, and the reference behind them.
    pub fn numbered(&self) -> Vec<(ConfigurationId, Configuration)> {
        let reference = self.configurations.first().filter(|_| self.reference).map(reference);
        let all = self.configurations.iter().cloned().chain(reference);
        (1..).map(ConfigurationId).zip(all).collect()
    }

    /// True where contents are checked and nothing is timed.
    pub fn verifies(&self) -> bool {
        self.configurations.iter().any(|configuration| configuration.verify)
    }

    /// The sweep over configurations, each with the largest block that it carries.
    pub fn sweep(&self, carried: &[(ConfigurationId, Bytes)], resolution: Nanos) -> Sweep {
        let sizes = self.points();
        let points: usize = carried
            .iter()
            .map(|(_, largest)| sizes.iter().filter(|size| *size <= largest).count())
            .sum();
        let points = u64::try_from(points).unwrap_or(u64::MAX);
        Sweep {
            configurations: carried.iter().map(|(id, _)| *id).collect(),
            largest: carried.iter().copied().collect(),
            longest: self.longest(),
            rounds: self.rounds,
            connections: self.connections,
            budget: self.point_time_ns * points,
            point_time: self.point_time_ns.max(LEAST_CAP),
            order: self.order,
            resolution,
            ..Sweep::new(sizes, self.seed)
        }
    }

    /// The longest exchange of each configuration: that of a block, there and back where it comes back.
    fn longest(&self) -> BTreeMap<ConfigurationId, Nanos> {
        let exchange = |one: Configuration| {
            let ways = if one.mode == Mode::PingPong { 2 } else { 1 };
            Nanos::new(self.block_time_ns.count().saturating_mul(ways))
        };
        self.numbered().into_iter().map(|(id, one)| (id, exchange(one))).collect()
    }

    /// The sweep of the reference line: copies repeat so well that little of them will do.
    pub fn reference_sweep(&self, id: ConfigurationId, resolution: Nanos) -> Sweep {
        let sweep = self.sweep(&[(id, REFERENCE_LARGEST)], resolution);
        let budget = REFERENCE_POINT * u64::try_from(sweep.sizes.len()).unwrap_or(u64::MAX);
        Sweep { budget, connections: 1, ..sweep }
    }

    /// What counts as a chasm here.
    pub fn chasm_settings(&self) -> Settings {
        let resolution = self.chasms.map_or(Bytes::new(1), |search| search.resolution_bytes);
        Settings { resolution, seed: self.seed, ..Settings::default() }
    }

    /// How long the sweep takes, and how much longer the search for chasms may make it.
    pub fn estimate(&self) -> (Nanos, Nanos) {
        let points = u64::try_from(self.points().len()).unwrap_or(u64::MAX);
        let curves = u64::try_from(self.configurations.len()).unwrap_or(u64::MAX);
        let reference = if self.reference { REFERENCE_POINT * points } else { Nanos::ZERO };
        let sweep = self.point_time_ns * points * curves + reference;
        (sweep, self.chasms.map_or(Nanos::ZERO, |search| search.time_ns * curves))
    }
}

/// Copies of memory with the buffers of a configuration.
fn reference(configuration: &Configuration) -> Configuration {
    Configuration {
        transport: REFERENCE.to_owned(),
        send_offset_bytes: configuration.send_offset_bytes,
        receive_offset_bytes: configuration.receive_offset_bytes,
        cache: configuration.cache,
        nature: Nature::of_copies(),
        ..Configuration::new(REFERENCE)
    }
}

/// That of `NetPIPE`, which stops once a block takes longer; plans were stored before there was a choice.
const fn block_time() -> Nanos {
    Nanos::from_secs(1)
}

/// Rounds of a plan, and connections that share them.
const MOST_ROUNDS: u32 = 1000;
/// Any block can be copied.
const REFERENCE_LARGEST: Bytes = super::sizes::LARGEST;
/// The time of one point of the reference line.
const REFERENCE_POINT: Nanos = Nanos::from_millis(5);

#[cfg(test)]
mod tests;
