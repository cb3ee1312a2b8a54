//! The order of runs: complete randomised blocks, a new order in every pass.

use std::fmt;

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;

use crate::run::cell::ActivityName;
use crate::run::cell::Cell;
use crate::run::plan::Plan;
use crate::run::plan::Work;

/// One thing to run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// An activity without COMM.
    Alone(ActivityName),
    /// A cell of the matrix.
    Cell(Cell),
}

/// A step with its place in the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Number of the pass, from 1.
    pub pass: u32,
    /// Place in the pass, from 1.
    pub position: u32,
    /// What to run.
    pub step: Step,
}

impl Plan {
    /// Every cell of the matrix, baselines included, in the plan's order.
    pub fn cells(&self) -> Vec<Cell> {
        let with_none = || self.activities.iter().cloned().chain([ActivityName::none()]);
        let mut cells = Vec::new();
        for case in &self.cases {
            for application in &self.applications {
                cells.extend(with_none().map(|activity| Cell {
                    case: *case,
                    application: application.clone(),
                    activity,
                }));
            }
        }
        cells
    }

    /// The steps of a pass, in the plan's order.
    pub fn steps(&self) -> Vec<Step> {
        let cells = self.cells().into_iter().map(Step::Cell);
        cells.chain(self.activities.iter().cloned().map(Step::Alone)).collect()
    }

    /// The steps of one pass in their random order: the same for the same seed and pass.
    ///
    /// Every cell and every activity alone stands in it once, so drift of the machine hits all
    /// alike. Calibrated work needs the baselines first (maly1996, section 3, step ii).
    pub fn pass_order(&self, pass: u32) -> Vec<Slot> {
        let mut steps = self.steps();
        shuffle(&mut steps, &mut generator(self.seed, pass));
        if self.work == Work::Calibrated {
            steps.sort_by_key(Step::rank);
        }
        let numbered = (1..).zip(steps);
        numbered.map(|(position, step)| Slot { pass, position, step }).collect()
    }
}

impl Step {
    /// Baselines, then activities alone, then loaded cells.
    fn rank(&self) -> u8 {
        match self {
            Self::Cell(cell) if cell.activity.is_none() => 0,
            Self::Alone(_) => 1,
            Self::Cell(_) => 2,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone(activity) => write!(out, "{activity} alone"),
            Self::Cell(cell) => cell.fmt(out),
        }
    }
}

/// Fisher-Yates (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm P).
pub(crate) fn shuffle<T>(steps: &mut [T], chance: &mut ChaCha12Rng) {
    for last in (1..steps.len()).rev() {
        steps.swap(last, chance.random_range(0..=last));
    }
}

/// The random stream of one pass.
fn generator(seed: u64, pass: u32) -> ChaCha12Rng {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"btu pass order");
    hasher.update(&seed.to_le_bytes());
    hasher.update(&pass.to_le_bytes());
    ChaCha12Rng::from_seed(*hasher.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::run::plan::Choices;
    use crate::run::plan::Vocabulary;

    fn plan(edition: &str) -> Plan {
        let choices = Choices { edition: Some(edition), seed: Some(7), ..Choices::default() };
        Plan::resolve(&choices, &Vocabulary { activities: &["cpu", "ftp", "io"] }, 7).unwrap()
    }

    #[test]
    fn a_pass_holds_every_cell_and_every_activity_once() {
        let plan = plan("btu-26");
        for pass in 1..20 {
            let order = plan.pass_order(pass);
            let distinct: BTreeSet<&Step> = order.iter().map(|slot| &slot.step).collect();
            assert_eq!((order.len(), distinct.len()), (123, 123));
            assert!(order.iter().map(|slot| slot.position).eq(1..=123));
        }
    }

    #[test]
    fn the_order_is_the_seeds_and_differs_between_passes() {
        let plan = plan("btu-26");
        assert_eq!(plan.pass_order(1), plan.pass_order(1));
        assert_ne!(plan.pass_order(1), plan.pass_order(2));
    }

    #[test]
    fn a_stored_seed_gives_the_stored_order_for_ever() {
        let order = plan("btu-26").pass_order(1);
        let names: Vec<String> = order.iter().map(|slot| slot.step.to_string()).collect();
        let digest = blake3::hash(names.join("\n").as_bytes()).to_hex().to_string();
        assert_eq!(&digest[..16], "01357bc8c6af29b2", "first steps: {:?}", &names[..3]);
    }

    #[test]
    fn calibrated_work_comes_after_its_baselines() {
        let order = plan("btu-96").pass_order(1);
        let ranks: Vec<u8> = order.iter().map(|slot| slot.step.rank()).collect();
        assert!(ranks.is_sorted());
        assert_eq!(ranks.iter().position(|rank| *rank > 0), Some(30));
    }
}
