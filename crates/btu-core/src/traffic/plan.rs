//! What `btu traffic` does: scenarios as cells, a link, passes. Stored as `plan.toml` beside its samples.

mod group;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::de::Error;

use super::class::EditedLimits;
use super::course::LONGEST_LOAD;
use super::course::LONGEST_TRIAL;
use super::course::QOS;
use crate::role::Role;
use crate::traffic::figures::capacity::Adjustment;
use crate::traffic::language::build::ScenarioError;
use crate::traffic::language::form::read_toml;
use crate::traffic::language::scenario::Scenario;
use crate::traffic::language::settings::Vocabulary;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::verb;
use crate::verb::PlanError;

pub use group::Group;

/// Everything that decides what is sent, over which path, and how its result is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Tells this plan from those of other verbs.
    pub verb: Verb,
    /// What the cells are for.
    pub study: Study,
    /// Seed of every random choice.
    pub seed: u64,
    /// How often each cell is run, unless it says otherwise; each pass has its own random order.
    pub passes: u32,
    /// How long nothing may move before a run is given up.
    pub stall_ns: Nanos,
    /// Divides every time of the plan and multiplies every rate, where it is a quick form of another.
    pub scale: u32,
    /// What the path does; without one the direct link is used.
    pub link: Option<Link>,
    /// What decides on the way which cells are run; then the plan has none of its own.
    pub course: Option<Course>,
    /// The agents that play `active` and `passive`, by the names that this host has for them, and the one
    /// that plays `test` where that is not this host itself; without any, the hosts are those of the
    /// local testbed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<Role, String>,
    /// What is run.
    #[serde(default)]
    pub cells: Vec<Cell>,
}

/// The verb of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// `btu traffic`
    #[default]
    Traffic,
}

/// What the cells of a plan are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Study {
    /// A standard method under its own name.
    Method,
    /// The quality of service of a path, by application class.
    Qos,
    /// The scenarios of a file, each by itself.
    #[default]
    Scenario,
    /// Throughput over block size, burst period, sessions or time.
    Sweep,
    /// The measurements of the paper, figure by figure.
    Viseum,
}

/// The link elements of both directions, in canonical text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Away from the test host.
    pub up: Vec<String>,
    /// Towards it.
    pub down: Vec<String>,
    /// What counts against a rate: `ethernet`, `ip` or `atm`.
    pub wire: String,
}

/// One point: a scenario and where it stands on an axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Its number, from 1.
    pub id: u32,
    /// The curve that it belongs to.
    pub group: Group,
    /// What it is called, such as `80 ms`.
    pub label: String,
    /// Where it stands on the axis of its group.
    pub x: f64,
    /// How often it is run, instead of the plan's passes.
    pub passes: Option<u32>,
    /// Every test of the scenario is run by so many sessions at once.
    pub sessions: u32,
    /// The application class that it loads the path with.
    pub class: Option<String>,
    /// Another link than the plan's.
    pub link: Option<Link>,
    /// Which of several curves of its group it belongs to, such as a frame size.
    pub series: Option<String>,
    /// What is run in the place of a scenario.
    pub probe: Option<Probe>,
    /// The scenario, in the TOML form.
    pub scenario: String,
}

/// What decides on the way which cells are run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// `knee`, `qos`, or the name of a standard method.
    pub name: String,
    /// Time of a trial.
    #[serde(deserialize_with = "trial_time")]
    pub time_ns: Nanos,
    /// Frame sizes on Ethernet, bytes.
    pub frames: Vec<u32>,
    /// Application classes.
    pub classes: Vec<String>,
    /// The relative distance of bounds at which a search ends.
    pub width: f64,
    /// How often a search is made again, where its mean counts.
    pub repeats: u32,
    /// Sessions of a class at most, where a host bounds its connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_sessions: Option<u32>,
    /// How the rate of a capacity search follows its receiver.
    #[serde(default, skip_serializing_if = "Adjustment::is_default")]
    pub adjustment: Adjustment,
    /// Limits of classes that were set in the place of their own.
    #[serde(default, skip_serializing_if = "EditedLimits::is_empty")]
    pub limits: EditedLimits,
}

/// What an engine does by itself, without a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Probe {
    /// Datagrams at a rate that follows what their receiver reports (RFC 9097).
    Capacity {
        /// How long.
        #[serde(deserialize_with = "trial_time")]
        time_ns: Nanos,
        /// Payload of a datagram.
        datagram_bytes: Bytes,
        /// How the rate follows the reports.
        #[serde(default, skip_serializing_if = "Adjustment::is_default")]
        adjustment: Adjustment,
    },
    /// Packets of rising and falling size that nobody may fragment (RFC 8899).
    PathMtu {
        /// How long an answer is waited for beside four times the slowest one.
        #[serde(deserialize_with = "trial_time")]
        timer_ns: Nanos,
    },
    /// Round trips while more and more connections fill the path.
    Responsiveness {
        /// After so long a connection is added.
        #[serde(deserialize_with = "trial_time")]
        interval_ns: Nanos,
        /// Intervals at most.
        #[serde(deserialize_with = "number_of_intervals")]
        intervals: u32,
    },
}

impl Plan {
    /// A plan of some cells with nothing special.
    pub fn new(study: Study, cells: Vec<Cell>, seed: u64) -> Self {
        Self {
            verb: Verb::Traffic,
            study,
            seed,
            passes: 1,
            stall_ns: Nanos::from_secs(10),
            scale: 1,
            link: None,
            course: None,
            agents: BTreeMap::new(),
            cells,
        }
    }

    /// The plan without cells that were decided on the way: what was asked for.
    #[must_use]
    pub fn asked(&self) -> Self {
        let decided = self.course.is_some();
        Self { cells: if decided { Vec::new() } else { self.cells.clone() }, ..self.clone() }
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
        let plan: Self = verb::read_plan(file, text)?;
        match plan.illegal() {
            Some(cause) => Err(PlanError { file: file.to_owned(), cause }),
            None => Ok(plan),
        }
    }

    /// The first value that no option could have asked for, where it is, and which are legal.
    fn illegal(&self) -> Option<String> {
        let course = self.course.iter().find(|course| course.name == QOS);
        if let Some(time) = course.map(|course| course.time_ns).filter(|t| *t > LONGEST_LOAD) {
            return Some(format!("course.time_ns: {}", beyond(time.count(), LONGEST_LOAD.count())));
        }
        if let Some(Err(cause)) = self.course.as_ref().map(|course| course.limits.check()) {
            return Some(format!("course.limits: {cause}"));
        }
        let (place, passes) = self.illegal_passes()?;
        Some(format!("{place}: {passes}: write 1 to {MOST_PASSES}"))
    }

    /// The first number of passes that no option could have asked for, and where it is.
    fn illegal_passes(&self) -> Option<(String, u32)> {
        let own = self.cells.iter().filter_map(|cell| Some((cell.id, cell.passes?)));
        let own = own.map(|(id, passes)| (format!("passes of cell {id}"), passes));
        let mut all = std::iter::once(("passes".to_owned(), self.passes)).chain(own);
        all.find(|(_, passes)| !(1..=MOST_PASSES).contains(passes))
    }

    /// True for the text of a plan of this verb, whole or damaged.
    pub fn is_in(text: &str) -> bool {
        verb::is_plan_of("traffic", text)
    }

    /// True where something is emulated between the hosts.
    pub fn has_link(&self) -> bool {
        self.link.is_some() || self.cells.iter().any(|cell| cell.link.is_some())
    }

    /// The cell of this number.
    pub fn cell(&self, id: u32) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.id == id)
    }

    /// Every run: pass by pass, each pass in a random order of its own.
    pub fn runs(&self) -> Vec<(u32, &Cell)> {
        let most = self.cells.iter().map(|cell| self.passes_of(cell)).max().unwrap_or(0);
        let mut runs = Vec::new();
        for pass in 1..=most {
            let mut cells: Vec<&Cell> =
                self.cells.iter().filter(|cell| self.passes_of(cell) >= pass).collect();
            // What a file describes has an order of its own.
            if self.study != Study::Scenario {
                cells.sort_by_cached_key(|cell| place(self.seed, pass, cell.id));
            }
            runs.extend(cells.into_iter().map(|cell| (pass, cell)));
        }
        runs
    }

    /// The seed of a pass: each draws trains of its own, and the same ones whenever it is made again.
    pub fn seed_of(&self, pass: u32) -> u64 {
        self.seed.wrapping_add(u64::from(pass.saturating_sub(1)))
    }

    /// How often a cell is run.
    pub fn passes_of(&self, cell: &Cell) -> u32 {
        cell.passes.unwrap_or(self.passes)
    }
}

impl Cell {
    /// Its scenario, which this program wrote.
    ///
    /// # Errors
    /// The first thing in it that is not legal, with its place.
    pub fn read(&self, words: &Vocabulary<'_>) -> Result<Scenario, ScenarioError> {
        read_toml("plan.toml", &self.scenario, words).map(|reading| reading.scenario)
    }
}

/// A time that nothing made of it overflows.
fn trial_time<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
    let time = Nanos::deserialize(from)?;
    let beyond = || D::Error::custom(beyond(time.count(), LONGEST_TRIAL.count()));
    (time <= LONGEST_TRIAL).then_some(time).ok_or_else(beyond)
}

fn number_of_intervals<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(from)?;
    let beyond = || D::Error::custom(beyond(number.into(), MOST_INTERVALS.into()));
    (number <= MOST_INTERVALS).then_some(number).ok_or_else(beyond)
}

fn beyond(value: u64, most: u64) -> String {
    format!("{value}: write 0 to {most}")
}

/// Of round trips under load; the methods ask for a few dozen.
const MOST_INTERVALS: u32 = 1000;

/// Passes of a plan, or of one of its cells.
const MOST_PASSES: u32 = 1000;

/// A number that orders the cells of a pass at random.
pub(super) fn place(seed: u64, pass: u32, cell: u32) -> [u8; 32] {
    let mut hash = blake3::Hasher::new_derive_key("btu traffic order 1");
    hash.update(&seed.to_le_bytes());
    hash.update(&pass.to_le_bytes());
    hash.update(&cell.to_le_bytes());
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
