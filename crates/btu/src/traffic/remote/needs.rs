//! What a plan needs of agents as a whole, before anything starts: connections, and time without a word.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::anyhow;
use btu_core::role::Role;
use btu_core::traffic::Block;
use btu_core::traffic::Cluster;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Probe;
use btu_core::units::Nanos;

use super::peers::Apart;
use super::peers::Needs;
use super::peers::SPARE;
use super::words;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::traffic::checked;
use crate::traffic::expand;
use crate::traffic::expand::Cast;
use crate::traffic::expand::Until;
use crate::traffic::scenario;

/// Of every cell that is known, and of what a course may decide; drawing all trains of many passes takes
/// a while, and ends when `interrupt` is set. What cannot be carried is told with its place in `file`, where
/// the scenario was written.
pub(crate) fn of(
    plan: &Plan,
    file: Option<&Path>,
    interrupt: &Interrupt,
) -> Result<Needs, Failure> {
    let (mut connections, mut longest) = (0, Nanos::ZERO);
    if let Some(course) = &plan.course {
        let sessions = course.most_sessions.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        connections = sessions.unwrap_or(1).max(words::OF_A_PROBE);
        longest = course.longest_run();
    }
    for cell in &plan.cells {
        let (needed, time) = match &cell.probe {
            Some(probe @ (Probe::Capacity { .. } | Probe::PathMtu { .. })) => (1, probe.longest()),
            Some(probe @ Probe::Responsiveness { .. }) => (words::OF_A_PROBE, probe.longest()),
            None => of_passes(plan, (cell, file), interrupt)?,
        };
        connections = connections.max(needed);
        longest = longest.max(time);
    }
    let connections = u32::try_from(connections.max(1)).unwrap_or(u32::MAX);
    Ok(Needs { connections, silence: longest.saturating_add(SPARE) })
}

/// The most that any pass of a scenario needs: each draws trains of its own.
fn of_passes(
    plan: &Plan,
    (cell, file): (&Cell, Option<&Path>),
    interrupt: &Interrupt,
) -> Result<(usize, Nanos), Failure> {
    let scenario = scenario::stored(cell)?;
    let tests = scenario.clusters().into_iter().flat_map(|cluster| &cluster.tests);
    let is_fixed = tests.into_iter().all(|test| test.traffic.is_fixed());
    let passes = if is_fixed { 1 } else { plan.passes_of(cell).max(1) };
    let (mut most, mut longest) = (Load::default(), Nanos::ZERO);
    for seed in (1..=passes).map(|pass| plan.seed_of(pass)) {
        if interrupt.flag().load(Relaxed) {
            return Err(interrupt.before_all());
        }
        let drawn = Drawn { cell, file, seed, patience: plan.stall_ns };
        let load = of_block(&scenario.run, &drawn)?;
        most = most.with(load, usize::max);
        longest = longest.max(scenario.run.estimate(seed));
    }
    most.fits()?;
    Ok((most.connections, longest.saturating_add(plan.stall_ns)))
}

/// What is there at once.
#[derive(Debug, Default)]
struct Load {
    connections: usize,
    /// Of the clusters in which an agent has an end: it keeps the whole schedule of each.
    blocks: BTreeMap<Role, usize>,
}

impl Load {
    fn with(mut self, other: Self, together: fn(usize, usize) -> usize) -> Self {
        self.connections = together(self.connections, other.connections);
        for (role, blocks) in other.blocks {
            let own = self.blocks.entry(role).or_default();
            *own = together(*own, blocks);
        }
        self
    }

    /// Each agent bounds the jobs that it has open together.
    fn fits(&self) -> Result<(), Failure> {
        let most = words::MOST_BLOCKS;
        let Some((role, blocks)) = self.blocks.iter().find(|(_, blocks)| **blocks > most) else {
            return Ok(());
        };
        let cause = anyhow!("{role}: {blocks} blocks in parallel clusters, at most {most}");
        Err(Failure::usage(cause).hint("run the clusters one after the other"))
    }
}

/// What a scenario is drawn with.
struct Drawn<'d> {
    cell: &'d Cell,
    /// Where it was written.
    file: Option<&'d Path>,
    seed: u64,
    patience: Nanos,
}

/// What a block of a scenario needs.
fn of_block(block: &Block, drawn: &Drawn<'_>) -> Result<Load, Failure> {
    let all = |blocks: &[Block], together: fn(usize, usize) -> usize| {
        blocks
            .iter()
            .try_fold(Load::default(), |sum, block| Ok(sum.with(of_block(block, drawn)?, together)))
    };
    match block {
        Block::Cluster(cluster) => of_cluster(cluster, drawn),
        Block::Parallel(blocks) => all(blocks, usize::saturating_add),
        Block::Serial(blocks, _) => all(blocks, usize::max),
    }
}

fn of_cluster(cluster: &Cluster, drawn: &Drawn<'_>) -> Result<Load, Failure> {
    let Drawn { cell, file, seed, patience } = *drawn;
    let (cancel, most_blocks) = (std::sync::Arc::default(), words::MOST_BLOCKS);
    let until = Until { patience, cancel, most_blocks };
    let cast = expand::flows(cluster, cell.sessions, seed, &Apart, &until);
    cast.map(|cast| of_cast(&cast)).map_err(|refused| {
        let one = |at: &usize| {
            let alone = checked::alone(cluster, *at);
            expand::flows(&alone, cell.sessions, seed, &Apart, &until).is_err()
        };
        match (0..cluster.tests.len()).find(one) {
            Some(at) => checked::told(refused, file, (cell, cluster, at)),
            None => refused,
        }
    })
}

fn of_cast(cast: &Cast) -> Load {
    let of_talks: usize = cast.talks.iter().map(|talk| talk.connections).sum();
    let blocks = cast.blocks();
    let ends = cast.flows.iter().flat_map(|named| [named.from, named.to]);
    let of_ends = ends.chain(cast.talks.iter().map(|talk| talk.said.to));
    let agents = of_ends.filter(|role| *role != Role::Test);
    let blocks = agents.map(|role| (role, blocks)).collect();
    Load { connections: cast.flows.len() + of_talks, blocks }
}

#[cfg(test)]
mod tests {
    use btu_core::traffic::plan::Study;

    use super::*;
    use crate::exit::Exit;

    #[test]
    fn every_pass_has_the_time_that_it_draws() {
        let test = "type = \"burstq(blocksize=1 kB, period=1 s, duration=uniform(10 s, 90 s))\"";
        let scenario =
            format!("[[cluster]]\n[[cluster.test]]\npath = \"test -> active\"\n{test}\n");
        let cell = Cell { sessions: 1, scenario, ..Cell::default() };
        let plan =
            |seed, passes| Plan { passes, ..Plan::new(Study::Scenario, vec![cell.clone()], seed) };
        let interrupt = Interrupt::default();
        let silence = |seed, passes| of(&plan(seed, passes), None, &interrupt).unwrap().silence;
        let each: Vec<Nanos> = (7..19).map(|seed| silence(seed, 1)).collect();
        assert!(each.iter().any(|one| *one > each[0]), "{each:?}");
        assert_eq!(Some(silence(7, 12)), each.into_iter().max());
        interrupt.flag().store(true, Relaxed);
        let ended = of(&plan(7, u32::MAX), None, &interrupt).unwrap_err();
        assert_eq!(ended.exit, Exit::Interrupted, "{ended:?}");
    }

    /// Nothing else looks at a measurement with agents before it starts.
    #[test]
    fn what_no_agent_can_carry_is_told_with_its_test_and_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.toml");
        let some = "type = \"burstq(blocksize=1 kB, period=1 s, duration=1 s)\"";
        let wrong = "name = \"web\"\ntransport = \"udp\"\ntype = \"www-3gpp(duration=1 s)\"";
        let test = |what| format!("[[cluster.test]]\npath = \"test -> active\"\n{what}\n");
        let scenario = format!("[[cluster]]\n{}{}", test(some), test(wrong));
        std::fs::write(&file, &scenario).unwrap();
        let cell = Cell { id: 1, sessions: 1, scenario, ..Cell::default() };
        let agents = [(Role::Active, "lab1".to_owned())].into();
        let plan = Plan { agents, ..Plan::new(Study::Scenario, vec![cell], 7) };
        let told = |file| {
            let refused = of(&plan, file, &Interrupt::default()).unwrap_err();
            format!("{:#}", refused.cause)
        };
        let place = format!("{}:5:1: cluster c1, test web: ", file.display());
        assert!(told(Some(&file)).starts_with(&place), "{}", told(Some(&file)));
        assert!(told(None).starts_with("cell 1, \"\": cluster c1, test web: "), "{}", told(None));
    }

    /// Two clusters with one agent and one with another, of which the first two run as `run` says.
    fn load(run: &str) -> Load {
        let cluster = |name: &str, to: &str| {
            let test = "type = \"burstq(blocksize=1 kB, period=1 ms, duration=10 ms)\"";
            format!(
                "[[cluster]]\nname = \"{name}\"\n[[cluster.test]]\npath = \"test -> {to}\"\n{test}\n"
            )
        };
        let clusters =
            [("a", "active"), ("b", "active"), ("c", "passive")].map(|(n, to)| cluster(n, to));
        let text = format!("run = {run}\n{}", clusters.concat());
        let run = scenario::told(&text).unwrap().run;
        let cell = Cell { sessions: 1, ..Cell::default() };
        let drawn = Drawn { cell: &cell, file: None, seed: 7, patience: Nanos::ZERO };
        of_block(&run, &drawn).unwrap()
    }

    #[test]
    fn blocks_count_together_where_an_agent_has_them_at_once() {
        let apart = load("{ serial = [\"a\", \"b\", \"c\"] }");
        let beside = load("{ parallel = [\"a\", \"b\", \"c\"] }");
        let one = apart.blocks[&Role::Active];
        assert!(one > 0 && apart.blocks[&Role::Passive] == one, "{apart:?}");
        assert_eq!((beside.blocks[&Role::Active], beside.blocks[&Role::Passive]), (2 * one, one));
        assert_eq!([apart.connections, beside.connections], [1, 3]);
    }

    #[test]
    fn what_parallel_clusters_have_beyond_an_agents_bound_is_refused_with_both_numbers() {
        let most = words::MOST_BLOCKS;
        let load = |blocks| Load { connections: 2, blocks: [(Role::Active, blocks)].into() };
        let each = || load(most / 2);
        each().with(each(), usize::saturating_add).fits().unwrap();
        let refused = each().with(load(most / 2 + 1), usize::saturating_add).fits().unwrap_err();
        let reason = "active: 8000001 blocks in parallel clusters, at most 8000000";
        assert_eq!(refused.cause.to_string(), reason);
    }
}
