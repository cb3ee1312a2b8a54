//! Which programs are launched over which message layers, how often, and by what chance. Stored as `plan.toml`.

use std::fmt;

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use serde::Deserialize;
use serde::Serialize;

use super::class::ProblemClass;
use super::sample::Job;
use super::sample::Wait;
use crate::run::schedule::shuffle;
use crate::units::Nanos;
use crate::verb;
use crate::verb::PlanError;

/// Everything that decides what applications are launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Tells this plan from those of other verbs.
    pub verb: Verb,
    /// Between which hosts.
    pub path: Path,
    /// How large the problems are.
    pub class: ProblemClass,
    /// The message layers.
    pub layers: Vec<String>,
    /// How a rank waits for a message.
    pub wait: Wait,
    /// How often each job is launched.
    pub launches: u32,
    /// The longest that a launch may take.
    pub cap_ns: Nanos,
    /// Seed of the order of the launches.
    pub seed: u64,
    /// What is launched over each layer.
    pub programs: Vec<Program>,
}

/// The verb of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// `btu app`
    #[default]
    App,
}

/// On which hosts the ranks are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Path {
    /// In turn on the test host and the active one of the local testbed, over their direct link.
    Direct,
    /// All on this machine, over its loopback where a layer needs a network.
    #[default]
    Loopback,
}

/// A kernel divided among some ranks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The kernel.
    pub kernel: String,
    /// How many ranks.
    pub ranks: u32,
}

/// A job at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Number of the round, from 1.
    pub round: u32,
    /// Place in the round, from 1.
    pub position: u32,
    /// What is launched.
    pub job: Job,
}

impl Plan {
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
        let plan: Self = verb::read_plan(file, text)?;
        match plan.illegal() {
            Some(cause) => Err(PlanError { file: file.to_owned(), cause }),
            None => Ok(plan),
        }
    }

    /// The first value that no option could have asked for, and which are legal.
    fn illegal(&self) -> Option<String> {
        if !(1..=MOST_LAUNCHES).contains(&self.launches) {
            return Some(format!("launches: {}: write 1 to {MOST_LAUNCHES}", self.launches));
        }
        if !(1..=MOST_CAP.count()).contains(&self.cap_ns.count()) {
            return Some(format!("cap_ns: {}: write a time up to {MOST_CAP}", self.cap_ns));
        }
        if self.programs.is_empty() || self.layers.is_empty() {
            return Some("programs, layers: write one of each at the least".to_owned());
        }
        let beyond = |program: &&Program| !(1..=MOST_RANKS).contains(&program.ranks);
        if let Some(one) = self.programs.iter().find(beyond) {
            return Some(format!("programs.ranks: {}: write 1 to {MOST_RANKS}", one.ranks));
        }
        let layer = first_again(&self.layers).map(|layer| format!("layers: {layer}"));
        let twice = layer.or_else(|| Some(format!("programs: {}", first_again(&self.programs)?)));
        twice.map(|what| format!("{what} is there twice: write each once"))
    }

    /// True for the text of a plan of this verb, whole or damaged.
    pub fn is_in(text: &str) -> bool {
        verb::is_plan_of("app", text)
    }

    /// Every job, in the order of the plan: each program over each layer.
    pub fn jobs(&self) -> Vec<Job> {
        let of = |program| self.layers.iter().map(move |layer| self.job(program, layer));
        self.programs.iter().flat_map(of).collect()
    }

    /// A program over a layer.
    pub fn job(&self, program: &Program, layer: &str) -> Job {
        Job {
            kernel: program.kernel.clone(),
            class: self.class,
            ranks: program.ranks,
            layer: layer.to_owned(),
            wait: self.wait,
        }
    }

    /// Every launch in its order: a round has every job once, so what drifts on the machine meets all of them alike.
    pub fn order(&self) -> Vec<Slot> {
        (1..=self.launches).flat_map(|round| self.round(round)).collect()
    }

    fn round(&self, round: u32) -> Vec<Slot> {
        let mut jobs = self.jobs();
        shuffle(&mut jobs, &mut generator(self.seed, round));
        (1..).zip(jobs).map(|(position, job)| Slot { round, position, job }).collect()
    }
}

/// The first that is equal to one before it: launches of equal jobs could not be told apart.
fn first_again<T: PartialEq>(all: &[T]) -> Option<&T> {
    all.iter().enumerate().find(|(place, one)| all[..*place].contains(one)).map(|(_, one)| one)
}

/// The random stream of one round.
fn generator(seed: u64, round: u32) -> ChaCha12Rng {
    let mut hasher = blake3::Hasher::new_derive_key("btu app round order 1");
    hasher.update(&seed.to_le_bytes());
    hasher.update(&round.to_le_bytes());
    ChaCha12Rng::from_seed(*hasher.finalize().as_bytes())
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Direct => "direct",
            Self::Loopback => "loopback",
        })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} with {}", self.kernel, crate::words::several(self.ranks, "rank"))
    }
}

/// Launches of each job: more make no interval narrower that anybody would wait for.
pub const MOST_LAUNCHES: u32 = 1000;
/// Ranks are threads of one process, each with a connection to every other.
pub const MOST_RANKS: u32 = 256;
/// A launch that takes longer than a day has no one to wait for it.
pub const MOST_CAP: Nanos = Nanos::from_secs(86_400);

#[cfg(test)]
mod tests;
