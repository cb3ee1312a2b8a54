//! A stretch of a run in which nothing arrived.

use crate::run::analysis::CountedRun;
use crate::run::anomaly::Evidence;
use crate::run::anomaly::Finding;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::CellRuns;
use crate::run::verdict::standstill;
use crate::sample::ConnectionSample;
use crate::units::Nanos;
use crate::words::beyond;

pub(super) const RULE: Rule = Rule {
    name: "stall",
    about: "no progress for longer than 200 ms and 4 round trips, in cells of at least 5 repeats of \
            at least 1 s",
    weight: Weight::Abnormal,
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let judged = |run: &CountedRun<'_>| {
        let mut cells = evidence.cells.iter();
        let known = |cell: &&CellRuns<'_>| *cell.cell == run.scored.cell;
        cells.find(known).is_some_and(|cell| evidence.is_well_measured(cell))
    };
    evidence.each_run(|run| if judged(run) { judge(run) } else { None })
}

fn judge(run: &CountedRun<'_>) -> Option<String> {
    let comm = run.sample.comm.as_ref()?;
    let stalls = comm.connections.iter().filter_map(|one| Some((one, one.longest_pause_ns?)));
    let (one, pause) = stalls.max_by_key(|(_, pause)| *pause)?;
    let bound = bound(one);
    (pause > bound).then(|| {
        let beyond = beyond(pause.millis(), '>', bound.millis(), 0, " ms");
        let why = standstill(comm).map(|stood| format!("; {stood}")).unwrap_or_default();
        format!("nothing arrived for {beyond} (peer {}){why}", one.peer)
    })
}

fn bound(one: &ConnectionSample) -> Nanos {
    SHORTEST.max(one.round_trip() * 4)
}

const SHORTEST: Nanos = Nanos::from_millis(200);
