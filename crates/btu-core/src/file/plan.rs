//! What a measurement of a file service does: experiments, rounds, chance. Stored as `plan.toml` beside its samples.

use std::fmt;

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use serde::Deserialize;
use serde::Serialize;

use super::experiment;
use super::experiment::Experiment;
use super::night::Night;
use super::sample::Operation;
use super::sample::Trial;
use super::target::Target;
use crate::run::schedule::shuffle;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::verb;
use crate::verb::PlanError;

/// Everything that decides what is measured of a file service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Tells this plan from those of other verbs.
    pub verb: Verb,
    /// Between which hosts.
    pub path: Path,
    /// Seed of every random choice.
    pub seed: u64,
    /// Rounds before those that count, until all caches are warm.
    pub warm_rounds: u32,
    /// Rounds that count.
    pub rounds: u32,
    /// How long a client of a trial may take.
    pub patience_ns: Nanos,
    /// The experiments, by name.
    pub experiments: Vec<String>,
    /// File protocols, by name; empty for those that each experiment has by itself.
    #[serde(default)]
    pub protocols: Vec<String>,
    /// Sizes of files or blocks, likewise.
    #[serde(default)]
    pub sizes_bytes: Vec<Bytes>,
    /// Numbers of clients, likewise.
    #[serde(default)]
    pub clients: Vec<u32>,
    /// MTUs of the path, likewise.
    #[serde(default)]
    pub mtus_bytes: Vec<Bytes>,
    /// The server of others that stands for host B, with the path `target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// A file of it that is retrieved; where one is named, nothing is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Where each round is a slot with a time of its own; `None` for one behind the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub night: Option<Night>,
}

/// The verb of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// `btu file`
    #[default]
    File,
}

/// Between which hosts files go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Path {
    /// Between the test host and the active one of the local testbed, over their direct link.
    #[default]
    Direct,
    /// The loopback of this machine itself: both hosts are this one.
    Loopback,
    /// From this machine to a server that somebody else runs.
    Target,
}

/// A trial in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Number of the round, from 1, warm-up rounds first.
    pub round: u32,
    /// Place in the random order of the round, from 1.
    pub position: u32,
    /// True in a round that does not count.
    pub warm_up: bool,
    /// What is measured.
    pub trial: Trial,
}

impl Plan {
    /// A plan of these experiments with everything as they have it by themselves.
    pub fn new(experiments: Vec<String>, seed: u64) -> Self {
        let named = experiments.iter().filter_map(|name| experiment::by_name(name));
        let warm_rounds = named.map(Experiment::warm_rounds).min().unwrap_or(1);
        Self {
            verb: Verb::File,
            path: Path::default(),
            seed,
            warm_rounds,
            rounds: ROUNDS,
            patience_ns: Nanos::from_secs(20),
            experiments,
            protocols: Vec::new(),
            sizes_bytes: Vec::new(),
            clients: Vec::new(),
            mtus_bytes: Vec::new(),
            target: None,
            object: None,
            night: None,
        }
    }

    /// The same against a server of others, of which `object` is retrieved where one is named.
    #[must_use]
    pub fn against(self, target: Target, object: Option<String>) -> Self {
        let patience_ns = THEIR_PATIENCE;
        Self { path: Path::Target, patience_ns, target: Some(target), object, ..self }
    }

    /// The plan as `plan.toml` holds it.
    #[inline] // Compiled by whoever calls it: docs/decisions/0031-release-profile.md.
    pub fn to_toml(&self) -> String {
        // Every value of a plan has a form in TOML.
        toml::to_string(self).unwrap_or_default()
    }

    /// The plan of a file.
    ///
    /// # Errors
    /// The first value that is not legal, with its line.
    #[inline] // Compiled by whoever calls it: docs/decisions/0031-release-profile.md.
    pub fn stored(file: &str, text: &str) -> Result<Self, PlanError> {
        verb::legal_plan(file, text, Self::illegal)
    }

    /// True for the text of a plan of this verb, whole or damaged.
    pub fn is_in(text: &str) -> bool {
        verb::is_plan_of("file", text)
    }

    /// The first value that nobody can measure with, by its key, and what is legal.
    pub fn illegal(&self) -> Option<(&'static str, String)> {
        self.illegal_experiment()
            .or_else(|| outside("rounds", &[self.rounds], 1, MOST_ROUNDS))
            .or_else(|| outside("warm_rounds", &[self.warm_rounds], 0, MOST_ROUNDS))
            .or_else(|| outside("clients", &self.clients, 1, MOST_CLIENTS))
            .or_else(|| outside("sizes_bytes", &self.sizes_bytes, LEAST_SIZE, MOST_SIZE))
            .or_else(|| outside("mtus_bytes", &self.mtus_bytes, LEAST_MTU, MOST_MTU))
            .or_else(|| self.illegal_path())
            .or_else(|| self.illegal_target())
            .or_else(|| self.illegal_night())
            .or_else(|| self.repeated())
            .or_else(|| self.idle())
            .or_else(|| self.large_block())
    }

    /// The first size that is too large for a call.
    fn large_block(&self) -> Option<(&'static str, String)> {
        let is_large = |trial: &Trial| trial.operation.is_of_blocks();
        let mut blocks = self.trials().into_iter().filter(is_large);
        let block = blocks.find(|trial| trial.size_bytes > Operation::LARGEST_BLOCK)?.size_bytes;
        Some((
            "sizes_bytes",
            format!("{block}: the block of a call has at most {}", Operation::LARGEST_BLOCK),
        ))
    }

    /// The first value that is named twice: its rows would be.
    fn repeated(&self) -> Option<(&'static str, String)> {
        twice("experiments", &self.experiments)
            .or_else(|| twice("protocols", &self.protocols))
            .or_else(|| twice("sizes_bytes", &self.sizes_bytes))
            .or_else(|| twice("clients", &self.clients))
            .or_else(|| twice("mtus_bytes", &self.mtus_bytes))
    }

    /// The first value that no experiment of this plan looks at.
    fn idle(&self) -> Option<(&'static str, String)> {
        let with =
            |clients, mtu| Self { clients: vec![clients], mtus_bytes: vec![mtu], ..self.clone() };
        let (few, more) = (with(1, LEAST_MTU), with(2, LEAST_MTU));
        let cause = || format!("none of {} has them; leave them out", self.experiments.join(", "));
        if !self.clients.is_empty() && few.trials() == more.trials() {
            return Some(("clients", cause()));
        }
        let changes = few.trials() != with(1, MOST_MTU).trials();
        (!self.mtus_bytes.is_empty() && !changes).then(|| ("mtus_bytes", cause()))
    }

    fn illegal_experiment(&self) -> Option<(&'static str, String)> {
        if self.experiments.is_empty() {
            return Some(("experiments", format!("none; write {}", experiment::names())));
        }
        let unknown = self.experiments.iter().find(|name| experiment::by_name(name).is_none())?;
        let cause = format!("unknown experiment \"{unknown}\"; write {}", experiment::names());
        Some(("experiments", cause))
    }

    fn illegal_path(&self) -> Option<(&'static str, String)> {
        if self.patience_ns.is_zero() {
            return Some(("patience_ns", "0: write a time above 0".to_owned()));
        }
        let cause = match self.path {
            _ if self.mtus_bytes.is_empty() => return None,
            Path::Direct => return None,
            Path::Loopback => "the loopback keeps its MTU; leave it out, or write path direct",
            Path::Target => "the path to a server of others keeps its MTU; leave it out",
        };
        Some(("mtus_bytes", cause.to_owned()))
    }

    /// What cannot be asked of a server of others.
    fn illegal_target(&self) -> Option<(&'static str, String)> {
        if self.path != Path::Target || self.target.is_none() {
            let is_whole = self.path != Path::Target && self.target.is_none();
            let named = self.object.as_ref().map(|_| ("object", NO_TARGET.to_owned()));
            return if is_whole { named } else { Some(("target", NO_TARGET.to_owned())) };
        }
        if !self.protocols.is_empty() {
            return Some((
                "protocols",
                "the URL of the target names its own; leave them out".to_owned(),
            ));
        }
        if self.object.is_some() && self.sizes_bytes.len() > 1 {
            return Some(("sizes_bytes", "one file has one size; leave them out".to_owned()));
        }
        let cannot = |one: &'static dyn Experiment| Some((one.name(), one.needs_own_servers()?));
        let (name, reason) = self.named().into_iter().find_map(cannot)?;
        Some((
            "experiments",
            format!("{name} needs servers of this program: {reason}; leave it out"),
        ))
    }

    /// A night has no rounds but its slots: each is the first of its hour.
    fn illegal_night(&self) -> Option<(&'static str, String)> {
        let night = self.night.as_ref()?;
        if night.every_ns.is_zero() {
            return Some(("every", "0: write a time above 0".to_owned()));
        }
        let cause = "a night has none: every slot counts; leave them out";
        (self.warm_rounds > 0).then(|| ("warm_rounds", cause.to_owned()))
    }

    /// What host B is called.
    pub fn far(&self) -> &str {
        self.target.as_ref().map_or("B", |target| &target.host)
    }

    /// A trial of this plan in words.
    pub fn label(&self, trial: &Trial) -> String {
        trial.label_towards(self.far())
    }

    /// The experiments of this plan.
    pub fn named(&self) -> Vec<&'static dyn Experiment> {
        self.experiments.iter().filter_map(|name| experiment::by_name(name)).collect()
    }

    /// Every trial of a round, each once: what two experiments ask for serves both.
    pub fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        for trial in self.named().into_iter().flat_map(|one| one.trials(self)) {
            if !trials.contains(&trial) {
                trials.push(trial);
            }
        }
        trials
    }

    /// The trials of a round in its random order: the same for the same seed and round.
    pub fn round(&self, round: u32) -> Vec<Slot> {
        let mut trials = self.trials();
        shuffle(&mut trials, &mut generator(self.seed, round));
        let warm_up = round <= self.warm_rounds;
        let numbered = (1..).zip(trials);
        numbered.map(|(position, trial)| Slot { round, position, warm_up, trial }).collect()
    }

    /// Every trial of every round, in the order in which they are made.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        (1..=self.warm_rounds.saturating_add(self.rounds)).flat_map(|round| self.round(round))
    }

    /// The protocols that were asked for, or those of an experiment.
    pub(super) fn protocols_or(&self, own: &[&str]) -> Vec<String> {
        match &self.target {
            Some(target) => vec![target.scheme.clone()],
            None if self.protocols.is_empty() => {
                own.iter().map(|name| (*name).to_owned()).collect()
            }
            None => self.protocols.clone(),
        }
    }

    /// The sizes that were asked for, or those of an experiment.
    pub(super) fn sizes_or(&self, own: &[Bytes]) -> Vec<Bytes> {
        if self.sizes_bytes.is_empty() { own.to_vec() } else { self.sizes_bytes.clone() }
    }

    /// The numbers of clients that were asked for, or those of an experiment.
    pub(super) fn clients_or(&self, own: &[u32]) -> Vec<u32> {
        if self.clients.is_empty() { own.to_vec() } else { self.clients.clone() }
    }

    /// The MTUs that were asked for, or those of an experiment; on a loopback the one that it has.
    pub(super) fn mtus_or(&self, own: &[Bytes]) -> Vec<Option<Bytes>> {
        match (self.path, self.mtus_bytes.is_empty()) {
            (Path::Loopback | Path::Target, _) => vec![None],
            (Path::Direct, true) => own.iter().copied().map(Some).collect(),
            (Path::Direct, false) => self.mtus_bytes.iter().copied().map(Some).collect(),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Direct => "direct",
            Self::Loopback => "loopback",
            Self::Target => "target",
        })
    }
}

/// The first of these that is out of range.
fn outside<T>(name: &'static str, values: &[T], least: T, most: T) -> Option<(&'static str, String)>
where
    T: Copy + Ord + fmt::Display,
{
    let wrong = values.iter().find(|value| !(least..=most).contains(value))?;
    Some((name, format!("{wrong}: write {least} to {most}")))
}

/// The first of these that is there more than once.
fn twice<T: PartialEq + fmt::Display>(
    name: &'static str,
    values: &[T],
) -> Option<(&'static str, String)> {
    let is_again = |(at, value): &(usize, &T)| values[..*at].contains(value);
    let (_, again) = values.iter().enumerate().find(is_again)?;
    Some((name, format!("{again} is named twice; name it once")))
}

/// The random stream of one round.
fn generator(seed: u64, round: u32) -> ChaCha12Rng {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"btu file round");
    hasher.update(&seed.to_le_bytes());
    hasher.update(&round.to_le_bytes());
    ChaCha12Rng::from_seed(*hasher.finalize().as_bytes())
}

/// How long a client may wait for what goes over networks of others: a send buffer of 4 MB arrives within it at 0.6 Mbit/s.
const THEIR_PATIENCE: Nanos = Nanos::from_secs(60);
const NO_TARGET: &str = "a server of others is named by target, with path target";
/// As the seed: five results were averaged (CITI TR 92-2, section 2.1).
const ROUNDS: u32 = 5;
const MOST_ROUNDS: u32 = 1000;
/// So many sessions a server of this program has at once.
const MOST_CLIENTS: u32 = 64;
const LEAST_SIZE: Bytes = Bytes::new(1);
const MOST_SIZE: Bytes = Bytes::new(1 << 30);
/// The least of IPv4 (RFC 791, section 3.1).
const LEAST_MTU: Bytes = Bytes::new(576);
/// The longest packet of IPv4.
const MOST_MTU: Bytes = Bytes::new(65_535);

#[cfg(test)]
mod tests;
