//! What a plan needs of agents as a whole, before anything starts: connections, and time without a word.

use btu_core::traffic::Block;
use btu_core::traffic::course::QOS;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Probe;
use btu_core::units::Nanos;

use super::expand;
use super::expand::Until;
use super::peers::Apart;
use super::peers::Needs;
use super::peers::SPARE;
use super::scenario;
use super::words;
use crate::exit::Failure;

/// Of every cell that is known, and of what a course may decide.
pub(super) fn of(plan: &Plan) -> Result<Needs, Failure> {
    let (mut connections, mut longest) = (0, Nanos::ZERO);
    if let Some(course) = &plan.course {
        let sessions = course.most_sessions.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        connections = sessions.unwrap_or(1).max(words::OF_A_PROBE);
        longest = if course.name == QOS { course.time_ns * SEARCH_TIMES } else { course.time_ns };
        longest = longest.max(course.time_ns.min(LONGEST_INTERVAL) * INTERVALS);
    }
    for cell in &plan.cells {
        let (needed, time) = match &cell.probe {
            Some(Probe::Capacity { time_ns, .. }) => (1, *time_ns),
            Some(Probe::Responsiveness { interval_ns, intervals }) => {
                (words::OF_A_PROBE, *interval_ns * u64::from(*intervals) * 2)
            }
            None => {
                let run = scenario::stored(&cell.scenario)?.run;
                let drain = plan.stall_ns;
                let time = expand::length(&run, plan.seed).saturating_add(drain);
                (of_block(&run, cell.sessions, plan)?, time)
            }
        };
        connections = connections.max(needed);
        longest = longest.max(time);
    }
    let connections = u32::try_from(connections.max(1)).unwrap_or(u32::MAX);
    Ok(Needs { connections, silence: longest.saturating_add(SPARE) })
}

/// Connections at once.
fn of_block(block: &Block, sessions: u32, plan: &Plan) -> Result<usize, Failure> {
    let each = |blocks: &[Block]| -> Result<Vec<usize>, Failure> {
        blocks.iter().map(|block| of_block(block, sessions, plan)).collect()
    };
    match block {
        Block::Cluster(cluster) => {
            let (patience, cancel) = (plan.stall_ns, std::sync::Arc::default());
            let until = Until { patience, cancel, most_blocks: words::MOST_BLOCKS };
            let cast = expand::flows(cluster, sessions, plan.seed, &Apart, &until)?;
            let of_talks: usize = cast.talks.iter().map(|talk| talk.connections).sum();
            Ok(cast.flows.len() + of_talks)
        }
        Block::Parallel(blocks) => Ok(each(blocks)?.into_iter().sum()),
        Block::Serial(blocks, _) => Ok(each(blocks)?.into_iter().max().unwrap_or(0)),
    }
}

/// A capacity search in times of the loads of a sheet.
const SEARCH_TIMES: u64 = 5;
/// Round trips under load: intervals of at most a second, and twice as many as there are.
const LONGEST_INTERVAL: Nanos = Nanos::from_secs(1);
const INTERVALS: u64 = 40;
