//! Which hosts are measured with which others, for how long and by what chance. Stored as `plan.toml`.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use serde::Deserialize;
use serde::Serialize;

use super::schedule;
use super::schedule::Round;
use crate::units::Nanos;
use crate::verb;
use crate::verb::PlanError;

/// Everything that decides what a mesh measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Tells this plan from those of other verbs.
    pub verb: Verb,
    /// The hosts, by the names of their agents. Elsewhere each is its number here, from 0.
    pub hosts: Vec<String>,
    /// The rack of each host; empty where nobody knows.
    #[serde(default)]
    pub racks: Vec<String>,
    /// How many others each host meets; all of them where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partners: Option<usize>,
    /// Seed of every random choice.
    pub seed: u64,
    /// How long each direction of a pair is measured.
    pub time_ns: Nanos,
    /// Connections at once in each direction.
    pub flows: u32,
}

/// The verb of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// `btu mesh`
    #[default]
    Mesh,
}

impl Plan {
    /// With two hosts nobody could say which of them is slow: both have one figure each way.
    pub const LEAST_HOSTS: usize = 3;

    /// A mesh of these hosts with everything as it is where nothing is said.
    pub fn new(hosts: Vec<String>, seed: u64) -> Self {
        Self {
            verb: Verb::Mesh,
            hosts,
            racks: Vec::new(),
            partners: None,
            seed,
            time_ns: TIME,
            flows: 1,
        }
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
        verb::is_plan_of("mesh", text)
    }

    /// The first value that nobody can measure with, by its key, and what is legal.
    pub fn illegal(&self) -> Option<(&'static str, String)> {
        let (hosts, most) = (self.hosts.len(), self.hosts.len().saturating_sub(1));
        let again = |at: usize| self.hosts[..at].contains(&self.hosts[at]);
        let least = Self::LEAST_HOSTS;
        if !(least..=MOST_HOSTS).contains(&hosts) {
            return Some(("hosts", format!("{hosts}: write {least} to {MOST_HOSTS} of them")));
        }
        if let Some(at) = (0..hosts).find(|at| again(*at)) {
            return Some(("hosts", format!("{} is named twice; name it once", self.hosts[at])));
        }
        if ![0, hosts].contains(&self.racks.len()) {
            let racks = self.racks.len();
            return Some((
                "racks",
                format!("{racks} for {hosts} hosts; write one for each, or none"),
            ));
        }
        if let Some(wrong) = self.partners.filter(|count| !(1..=most).contains(count)) {
            return Some(("partners", format!("{wrong}: write 1 to {most}")));
        }
        if self.partners.is_some() && !self.racks.is_empty() {
            return Some((
                "partners",
                "racks are for a mesh of all pairs; leave one out".to_owned(),
            ));
        }
        if !(LEAST_TIME..=MOST_TIME).contains(&self.time_ns) {
            let time = self.time_ns;
            return Some(("time_ns", format!("{time}: write {LEAST_TIME} to {MOST_TIME}")));
        }
        let wrong = !(1..=MOST_FLOWS).contains(&self.flows);
        wrong.then(|| ("flows", format!("{}: write 1 to {MOST_FLOWS}", self.flows)))
    }

    /// The rack of each host by its number in the order of their names; empty where nobody knows.
    pub fn rack_numbers(&self) -> Vec<usize> {
        let names = self.rack_names();
        let number = |rack: &String| names.iter().position(|name| *name == rack);
        self.racks.iter().filter_map(number).collect()
    }

    /// The racks, each once.
    pub fn rack_names(&self) -> Vec<&String> {
        let mut names: Vec<&String> = self.racks.iter().collect();
        names.sort();
        names.dedup();
        names
    }

    /// The rounds of the mesh: the same for the same plan.
    pub fn rounds(&self) -> Vec<Round> {
        let mut chance = self.chance("mesh", 0);
        let (hosts, of) = (self.hosts.len(), self.rack_numbers());
        match self.partners {
            Some(partners) => schedule::quick(hosts, partners, &mut chance),
            None if of.is_empty() => {
                schedule::relabelled(schedule::full(hosts), hosts, &mut chance)
            }
            None => {
                let in_rack = |rack| (0..hosts).filter(|host| of[*host] == rack).collect();
                let racks: Vec<Vec<usize>> = (0..self.rack_names().len()).map(in_rack).collect();
                schedule::by_rack(&racks)
            }
        }
    }

    /// The random stream for one purpose.
    pub(super) fn chance(&self, purpose: &str, number: u64) -> ChaCha12Rng {
        let mut hasher = blake3::Hasher::new_derive_key("btu mesh order 1");
        hasher.update(purpose.as_bytes());
        hasher.update(&self.seed.to_le_bytes());
        hasher.update(&number.to_le_bytes());
        ChaCha12Rng::from_seed(*hasher.finalize().as_bytes())
    }
}

/// A round of pairs takes about two seconds with it.
const TIME: Nanos = Nanos::from_millis(500);
const LEAST_TIME: Nanos = Nanos::from_millis(50);
const MOST_TIME: Nanos = Nanos::from_secs(60);
/// A reservation of an agent for each pair, all held by one process.
const MOST_HOSTS: usize = 512;
const MOST_FLOWS: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(hosts: usize) -> Plan {
        Plan::new((0..hosts).map(|host| format!("h{host}")).collect(), 1)
    }

    #[test]
    fn a_plan_is_read_back_as_it_was_written() {
        let racks = ["b", "a", "b", "a"].map(str::to_owned).to_vec();
        let written = Plan { racks, flows: 4, ..plan(4) };
        assert_eq!(Plan::stored("plan.toml", &written.to_toml()), Ok(written.clone()));
        assert!(Plan::is_in(&written.to_toml()));
        assert_eq!(written.rack_numbers(), [1, 0, 1, 0]);
    }

    #[test]
    fn what_cannot_be_measured_is_told_with_what_can() {
        let twice = Plan { hosts: ["a", "b", "a"].map(str::to_owned).to_vec(), ..plan(3) };
        let told = |plan: Plan| plan.illegal().map(|(key, cause)| format!("{key}: {cause}"));
        assert_eq!(told(plan(2)).unwrap(), "hosts: 2: write 3 to 512 of them");
        assert_eq!(told(twice).unwrap(), "hosts: a is named twice; name it once");
        let partners = Plan { partners: Some(3), ..plan(3) };
        assert_eq!(told(partners).unwrap(), "partners: 3: write 1 to 2");
        let racks = Plan { racks: vec!["a".to_owned()], ..plan(3) };
        assert_eq!(told(racks).unwrap(), "racks: 1 for 3 hosts; write one for each, or none");
        assert_eq!(told(plan(3)), None);
    }

    #[test]
    fn rounds_are_the_same_for_the_same_seed_and_others_for_another() {
        let other = Plan { seed: 2, ..plan(16) };
        assert_eq!(plan(16).rounds(), plan(16).rounds());
        assert_ne!(plan(16).rounds(), other.rounds());
        assert_eq!(Plan { partners: Some(4), ..plan(16) }.rounds().len(), 4);
    }
}
