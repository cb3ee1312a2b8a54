//! How long plans and the blocks of scenarios take.

use btu_core::traffic::Block;
use btu_core::traffic::Test;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Plan;
use btu_core::units::Nanos;

use super::expand::DURATION;
use super::scenario;
use crate::exit::Failure;

/// How long a plan takes, what is drained left out.
pub(super) fn estimate(plan: &Plan) -> Result<Nanos, Failure> {
    let mut all = Nanos::ZERO;
    for cell in &plan.cells {
        let once = of_run(cell, plan.seed)?;
        all = all.saturating_add(once.saturating_mul(plan.passes_of(cell).into()));
    }
    Ok(all)
}

/// How long a run of a cell takes, what is drained left out.
pub(super) fn of_run(cell: &Cell, seed: u64) -> Result<Nanos, Failure> {
    let scenario = scenario::stored(&cell.scenario)?;
    Ok(length(&scenario.run, seed).saturating_add(SET_UP))
}

/// How long a block sends, what is drained left out.
pub(super) fn length(block: &Block, seed: u64) -> Nanos {
    match block {
        Block::Cluster(cluster) => {
            let end = |test: &Test| {
                let streams = test.streams(&cluster.name, seed);
                test.start.saturating_add(test.traffic.duration(&streams).unwrap_or(DURATION))
            };
            cluster.tests.iter().map(end).max().unwrap_or(Nanos::ZERO)
        }
        Block::Parallel(blocks) => {
            blocks.iter().map(|block| length(block, seed)).max().unwrap_or(Nanos::ZERO)
        }
        Block::Serial(blocks, _) => {
            let each = blocks.iter().map(|block| length(block, seed));
            each.fold(Nanos::ZERO, Nanos::saturating_add)
        }
    }
}

/// Connections, barrier, and the last bytes.
const SET_UP: Nanos = Nanos::from_millis(150);

#[cfg(test)]
mod tests {
    use btu_core::traffic::plan::Study;

    use super::*;

    #[test]
    fn a_plan_of_centuries_takes_the_longest_time_and_no_less() {
        let test = "path = \"test -> active\"\ntype = \"full(duration=9000000 s)\"";
        let cluster = |name| format!("[[cluster]]\nname = \"{name}\"\n[[cluster.test]]\n{test}\n");
        let scenario = ["a", "b"].map(cluster).concat();
        let cell = Cell { sessions: 1, scenario, ..Cell::default() };
        let plan = Plan { passes: u32::MAX, ..Plan::new(Study::Scenario, vec![cell], 7) };
        assert_eq!(estimate(&plan).unwrap(), Nanos::MAX);
    }
}
