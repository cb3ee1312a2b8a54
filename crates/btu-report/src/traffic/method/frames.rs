//! Frames by their size: throughput, latency, loss, bursts (RFC 2544, RFC 9004).

use btu_core::traffic::findings::FrameFinding;
use btu_core::traffic::findings::GoalFinding;

use super::table;
use crate::document::Block;
use crate::document::Column;
use crate::number;
use crate::traffic::rate;
use crate::traffic::span;

/// Nothing where no frames were sent.
pub(super) fn compose(found: &[FrameFinding]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let has_goals = found.iter().any(|one| !one.goals.is_empty());
    let first = if has_goals { goals } else { throughput };
    blocks.extend((!found.is_empty()).then(|| first(found)));
    blocks.extend(two_clocks(found));
    blocks.extend(found.iter().filter_map(losses));
    let bursts = found.iter().any(|one| one.burst.is_some());
    blocks.extend(bursts.then(|| back_to_back(found)));
    blocks
}

fn throughput(found: &[FrameFinding]) -> Block {
    // Not every method asks for it.
    let timed =
        |one: &FrameFinding| one.latency_p50_s.or(one.latency_p99_s).or(one.latency_bound_s);
    let is_timed = found.iter().any(|one| timed(one).is_some());
    let mut columns = vec![
        Column::left("frame"),
        Column::right("throughput, frames/s"),
        Column::right("on the wire"),
        Column::right("lost some at"),
        Column::right("trials"),
    ];
    if is_timed {
        columns.extend([Column::right("latency p50"), Column::right("p99")]);
    }
    let row = |one: &FrameFinding| {
        let whole = |fps: Option<f64>| {
            fps.map_or_else(|| number::NONE.to_owned(), |fps| number::fixed(fps, 0))
        };
        let lossy = one.lossy_fps.map_or_else(|| "none".to_owned(), |fps| number::fixed(fps, 0));
        let mut cells = vec![
            format!("{} B", one.frame_bytes),
            whole(one.throughput_fps),
            one.throughput_fps
                .map_or_else(|| number::NONE.to_owned(), |fps| rate(one.wire_bit_s(fps))),
            lossy,
            format!("{} of {}", one.trials, span(Some(one.trial_s))),
        ];
        if is_timed {
            cells.extend([span(one.latency_p50_s), span(one.latency_p99_s)]);
        }
        cells
    };
    let title = "Throughput: the highest load without loss (RFC 2544, 26.1)".to_owned();
    table(title, columns, found.iter().map(row).collect())
}

/// The bounds of every goal that was searched for.
fn goals(found: &[FrameFinding]) -> Block {
    let columns = vec![
        Column::left("frame"),
        Column::right("loss allowed"),
        Column::right("met at, frames/s"),
        Column::right("on the wire"),
        Column::right("not met at"),
        Column::right("trials"),
    ];
    let row = |one: &FrameFinding, goal: &GoalFinding| {
        let fps = |fps: Option<f64>, none: &str| {
            fps.map_or_else(|| none.to_owned(), |fps| number::fixed(fps, 0))
        };
        let wire = goal.lower_fps.map(|fps| rate(one.wire_bit_s(fps)));
        // A search that was cut short.
        let is_undecided = goal.lower_fps.or(goal.upper_fps).is_none();
        let [none_meets, none_misses] =
            if is_undecided { ["undecided"; 2] } else { [number::NONE, "none"] };
        vec![
            format!("{} B", one.frame_bytes),
            format!("{:.1} %", goal.loss * 100.0),
            fps(goal.lower_fps, none_meets),
            wire.unwrap_or_else(|| number::NONE.to_owned()),
            fps(goal.upper_fps, none_misses),
            format!("{} of {}", one.trials, span(Some(one.trial_s))),
        ]
    };
    let rows = found.iter().flat_map(|one| one.goals.iter().map(move |goal| row(one, goal)));
    let title =
        "The highest loads that meet each goal of loss in most trials (draft-ietf-bmwg-mlrsearch)";
    table(title.to_owned(), columns, rows.collect())
}

/// Between two hosts a latency is as well known as their clocks.
fn two_clocks(found: &[FrameFinding]) -> Option<Block> {
    let bound = found.iter().filter_map(|one| one.latency_bound_s).max_by(f64::total_cmp)?;
    Some(Block::paragraph(format!(
        "Latencies are known within {}, as well as the clocks of both hosts; smaller ones are not available.",
        span(Some(bound))
    )))
}

fn losses(found: &FrameFinding) -> Option<Block> {
    let columns =
        vec![Column::right("frames/s"), Column::right("on the wire"), Column::right("lost %")];
    let row = |(fps, lost): &(f64, f64)| {
        vec![
            number::fixed(*fps, 0),
            rate(found.wire_bit_s(*fps)),
            number::measured(lost * 100.0, ""),
        ]
    };
    let rows: Vec<Vec<String>> = found.losses.iter().map(row).collect();
    let title = format!("Frame loss rate of {} B (RFC 2544, 26.3)", found.frame_bytes);
    (!rows.is_empty()).then(|| table(title, columns, rows))
}

fn back_to_back(found: &[FrameFinding]) -> Block {
    let columns = vec![
        Column::left("frame"),
        Column::right("longest burst"),
        Column::right("from"),
        Column::right("to"),
        Column::right("searches"),
        Column::right("came at, frames/s"),
        Column::right("buffer, frames"),
        Column::right("buffer, time"),
    ];
    let row = |one: &FrameFinding| {
        let burst = one.burst?;
        let at_least = if burst.open_end { ">= " } else { "" };
        let limit = |value: Option<String>| {
            value.map_or_else(|| number::NONE.to_owned(), |value| format!("{at_least}{value}"))
        };
        Some(vec![
            format!("{} B", one.frame_bytes),
            format!("{at_least}{}", number::figure(burst.frames)),
            number::fixed(burst.least, 0),
            number::fixed(burst.most, 0),
            burst.searches.to_string(),
            number::fixed(burst.rate_fps, 0),
            limit(burst.buffer_frames.map(number::figure)),
            limit(burst.buffer_s.map(|seconds| span(Some(seconds)))),
        ])
    };
    let title = "Bursts back to back, and the buffer that they show (RFC 9004)".to_owned();
    table(title, columns, found.iter().filter_map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_that_no_run_measured_have_no_columns() {
        let found = |latency_p50_s| FrameFinding { latency_p50_s, ..FrameFinding::default() };
        let of = |found: FrameFinding| {
            let Block::Table(table) = throughput(&[found]) else { panic!("no table") };
            assert_eq!(table.columns.len(), table.rows[0].len());
            table.columns.len()
        };
        assert_eq!((of(found(None)), of(found(Some(0.1)))), (5, 7));
    }

    /// A search for several goals says of each what meets it and what does not.
    #[test]
    fn every_goal_has_its_row() {
        let goal = |loss, lower_fps, upper_fps| GoalFinding { loss, lower_fps, upper_fps };
        let found = FrameFinding {
            frame_bytes: 512,
            goals: vec![
                goal(0.0, None, Some(2000.0)),
                goal(0.005, Some(1990.0), None),
                goal(0.01, None, None),
            ],
            ..FrameFinding::default()
        };
        let blocks = compose(&[found]);
        let [Block::Table(table)] = &blocks[..] else { panic!("{blocks:?}") };
        assert!(table.title.contains("mlrsearch"), "{}", table.title);
        let row = |at: usize| table.rows[at][1..5].to_vec();
        assert_eq!(row(0), ["0.0 %", number::NONE, number::NONE, "2000"]);
        assert_eq!(row(1)[..2], ["0.5 %", "1990"]);
        assert_eq!(row(1)[3], "none");
        assert_eq!(row(2), ["1.0 %", "undecided", number::NONE, "undecided"]);
    }
}
