//! IS: integer keys are ranked, over and over, by a sort into buckets.
//!
//! Source: NASA report NAS-95-020, the integer sort benchmark; the buckets are those of NPB 3.4.2 for message passing.

mod reference;
mod sorter;
#[cfg(test)]
mod tests;

use super::Check;
use super::Kernel;
use super::Outcome;
use super::is_power_of_two;
use crate::app::class::ProblemClass;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;
use crate::units::Bytes;
use reference::Size;
use reference::TESTS;
use sorter::Sorter;

/// "Integer sort": every key moves in each iteration.
#[derive(Debug)]
pub(super) struct Is;

impl Kernel for Is {
    fn name(&self) -> &'static str {
        "is"
    }

    fn about(&self) -> &'static str {
        "ranks of integer keys by a bucket sort; every key to another rank at once"
    }

    fn takes(&self, ranks: usize) -> bool {
        is_power_of_two(ranks) && ranks <= MOST_RANKS
    }

    fn legal(&self) -> &'static str {
        "a power of two, up to 128"
    }

    /// The keys as they are drawn, sent, received and at last sorted; and how many are smaller than each.
    fn memory(&self, class: ProblemClass, _: usize) -> Bytes {
        let size = Size::of(class);
        Bytes::new((size_of::<i32>() * (4 * size.keys + size.key_limit)) as u64)
    }

    fn run(&self, class: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        let mut sorter = Sorter::new(Size::of(class), ranks);
        sorter.rank_keys(1, ranks)?;
        ranks.start()?;
        let mut passed = [0; 2];
        for iteration in 1..=ITERATIONS {
            passed[0] += sorter.rank_keys(iteration, ranks)?;
        }
        ranks.stop();
        passed[1] = i32::from(sorter.is_in_order(ranks)?);
        verify(passed, ranks)
    }
}

/// Adds up what each rank could see of its keys. The benchmark has one sum of both numbers.
fn verify(mut passed: [i32; 2], ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
    ranks.reduce(0, &mut passed)?;
    ranks.broadcast(0, &mut passed)?;
    let [tests, parts] = passed.map(f64::from);
    let all_tests = (ITERATIONS * TESTS) as f64;
    let checks = vec![
        Check::new("ranks of test keys", tests, all_tests, 0.0),
        Check::new("parts in order", parts, ranks.size() as f64, 0.0),
    ];
    Ok(Outcome { checks })
}

const ITERATIONS: usize = 10;
/// With more, one bucket in the middle of class S has more keys than the share of a rank, and some rank gets none.
const MOST_RANKS: usize = 128;
