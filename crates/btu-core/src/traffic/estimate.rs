//! How long the scenarios of a plan take before any is run, what is drained left out.

use super::plan::Cell;
use super::plan::Plan;
use crate::traffic::language::build::ScenarioError;
use crate::traffic::language::scenario::Block;
use crate::traffic::language::settings::Vocabulary;
use crate::units::Nanos;

impl Plan {
    /// The time of all its runs.
    ///
    /// # Errors
    /// A cell whose scenario cannot be read.
    pub fn estimate(&self, words: &Vocabulary<'_>) -> Result<Nanos, ScenarioError> {
        let mut all = Nanos::ZERO;
        for cell in &self.cells {
            let once = cell.estimate(self.seed, words)?;
            all = all.saturating_add(once.saturating_mul(self.passes_of(cell).into()));
        }
        Ok(all)
    }
}

impl Cell {
    /// The time of one run.
    ///
    /// # Errors
    /// A scenario that cannot be read.
    pub fn estimate(&self, seed: u64, words: &Vocabulary<'_>) -> Result<Nanos, ScenarioError> {
        Ok(self.read(words)?.run.estimate(seed).saturating_add(SET_UP))
    }
}

impl Block {
    /// How long it sends.
    pub fn estimate(&self, seed: u64) -> Nanos {
        match self {
            Self::Cluster(cluster) => {
                let tests = cluster.tests.iter();
                let ends = tests.map(|test| {
                    let streams = test.streams(&cluster.name, seed);
                    test.start.saturating_add(test.duration(&streams))
                });
                ends.max().unwrap_or(Nanos::ZERO)
            }
            Self::Parallel(blocks) => {
                blocks.iter().map(|block| block.estimate(seed)).max().unwrap_or(Nanos::ZERO)
            }
            Self::Serial(blocks, _) => {
                let each = blocks.iter().map(|block| block.estimate(seed));
                each.fold(Nanos::ZERO, Nanos::saturating_add)
            }
        }
    }
}

/// Connections, barrier, and the last bytes.
const SET_UP: Nanos = Nanos::from_millis(150);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::plan::Study;

    const WORDS: Vocabulary<'_> = Vocabulary { files: &|_| Err("no files in tests".to_owned()) };

    fn cluster(name: &str, duration: &str) -> String {
        let test = format!("path = \"test -> active\"\ntype = \"full(duration={duration})\"");
        format!("[[cluster]]\nname = \"{name}\"\n[[cluster.test]]\n{test}\n")
    }

    fn plan(scenario: String, passes: u32) -> Plan {
        let cell = Cell { sessions: 1, scenario, ..Cell::default() };
        Plan { passes, ..Plan::new(Study::Scenario, vec![cell], 7) }
    }

    #[test]
    fn clusters_follow_one_another_in_every_pass() {
        let scenario = [cluster("a", "2 s"), cluster("b", "3 s")].concat();
        let once = Nanos::from_secs(5).saturating_add(SET_UP);
        assert_eq!(plan(scenario, 3).estimate(&WORDS).unwrap(), once * 3);
    }

    #[test]
    fn a_plan_of_centuries_takes_the_longest_time_and_no_less() {
        let scenario = ["a", "b"].map(|name| cluster(name, "9000000 s")).concat();
        assert_eq!(plan(scenario, u32::MAX).estimate(&WORDS).unwrap(), Nanos::MAX);
    }

    #[test]
    fn what_sends_ends_where_nothing_is_written_of_it() {
        let models = crate::traffic::MODELS.iter().map(|model| &model.shape);
        for shape in crate::traffic::BASICS.iter().chain(models) {
            let duration = shape.parameter("duration").unwrap();
            let sends = shape.name != "sink";
            assert_eq!(!duration.default.is_empty(), sends, "{}", shape.name);
        }
    }
}
