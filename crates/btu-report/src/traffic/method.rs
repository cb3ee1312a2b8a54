//! What standard methods found: a table for each kind of finding.

use btu_core::traffic::analysis::capacity::Adjustment;
use btu_core::traffic::analysis::capacity::BOTTOM_OF_C;
use btu_core::traffic::course::QOS;
use btu_core::traffic::findings::FrameFinding;
use btu_core::traffic::findings::TransferFinding;
use btu_core::traffic::method;
use btu_core::traffic::probe::CapacityFigures;
use btu_core::traffic::probe::PathMtuFigures;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::probe::ResponsivenessFigures;
use btu_core::traffic::sample::RunSample;

use super::Seen;
use super::path_mtu::how_found;
use super::rate;
use super::span;
use crate::document::Block;
use crate::document::Column;
use crate::document::Pair;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let findings = &seen.analysis.findings;
    let mut blocks: Vec<Block> = standard(seen).into_iter().collect();
    let bursts = findings.frames.iter().any(|found| found.burst.is_some());
    blocks.extend((!findings.frames.is_empty()).then(|| throughput(&findings.frames)));
    blocks.extend(two_clocks(&findings.frames));
    blocks.extend(findings.frames.iter().filter_map(losses));
    blocks.extend(bursts.then(|| back_to_back(&findings.frames)));
    blocks.extend(findings.path_mtu.as_ref().map(path_mtu));
    blocks.extend((!findings.transfers.is_empty()).then(|| transfers(&findings.transfers)));
    blocks.extend(beyond_ideal(&findings.transfers));
    blocks.extend(of_passes(seen, searched, capacity));
    blocks.extend(of_passes(seen, under_load, responsiveness));
    blocks
}

/// What each probe of a kind found, with its pass where there are several.
fn of_passes<T>(
    seen: &Seen<'_>,
    figures: fn(&ProbeSample) -> Option<T>,
    rows: fn(&T) -> Vec<Pair>,
) -> Vec<Block> {
    let block = |run: &RunSample| {
        let found = figures(run.probe.as_ref()?)?;
        let of = seen.journal.runs().filter(|other| other.cell == run.cell).count();
        let pass = (of > 1).then(|| Pair::new("pass", format!("{} of {of}", run.pass)));
        Some(Block::Facts { rows: pass.into_iter().chain(rows(&found)).collect() })
    };
    seen.journal.runs().filter_map(block).collect()
}

fn searched(probe: &ProbeSample) -> Option<CapacityFigures> {
    match probe {
        ProbeSample::Capacity(sample) => sample.figures(),
        ProbeSample::PathMtu(_) | ProbeSample::Responsiveness(_) => None,
    }
}

fn under_load(probe: &ProbeSample) -> Option<ResponsivenessFigures> {
    match probe {
        ProbeSample::Capacity(_) | ProbeSample::PathMtu(_) => None,
        ProbeSample::Responsiveness(sample) => sample.figures(),
    }
}

/// Which text was followed, and how far.
fn standard(seen: &Seen<'_>) -> Option<Block> {
    let course = seen.journal.plan.course.as_ref()?;
    let (method, source) = match method::find(&course.name) {
        Some(method) => (format!("{}: {}", method.name, method.about), method.source),
        None if course.name == QOS => (format!("{QOS}: a sheet of the path"), OF_SHEET),
        None => return None,
    };
    let deviations = seen.analysis.findings.deviations(course);
    let told = if deviations.is_empty() {
        "as the text asks".to_owned()
    } else {
        format!("not conformant: {}", deviations.join("; "))
    };
    Some(Block::Facts {
        rows: vec![
            Pair::new("Method", method),
            Pair::new("Follows", source),
            Pair::new("Effort", told),
        ],
    })
}

fn table(title: String, columns: Vec<Column>, rows: Vec<Vec<String>>) -> Block {
    Block::Table(Table { title, columns, rows, summary_rows: 0 })
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

fn path_mtu(found: &PathMtuFigures) -> Block {
    let mtu = found.path_mtu.map(|mtu| format!("{} B", mtu.count()));
    let at_least = if found.is_exact { "" } else { "at least " };
    let told = mtu.map_or_else(|| "not available".to_owned(), |mtu| format!("{at_least}{mtu}"));
    let rows =
        vec![Pair::new("path MTU (RFC 8899)", told), Pair::new("found by", how_found(found))];
    Block::Facts { rows }
}

fn transfers(found: &[TransferFinding]) -> Block {
    let columns = vec![
        Column::left("window"),
        Column::right("goodput"),
        Column::right("ideal"),
        Column::right("time ratio"),
        Column::right("efficiency %"),
        Column::right("buffer delay %"),
        Column::right("idle round trip"),
    ];
    let row = |one: &TransferFinding| {
        vec![
            one.label.clone(),
            rate(one.goodput_bit_s),
            rate(one.ideal_bit_s),
            number::ratio(one.figures.time_ratio),
            number::figure(one.figures.efficiency_percent),
            number::figure_or_none(one.figures.buffer_delay_percent),
            span(Some(one.idle_rtt_s)),
        ]
    };
    let title = "TCP over its window (RFC 6349)".to_owned();
    table(title, columns, found.iter().map(row).collect())
}

/// The ideal rate is that of the frames that were found before: a path that carries more has changed since, or
/// they were not all that it carried.
fn beyond_ideal(found: &[TransferFinding]) -> Option<Block> {
    let most = found.iter().max_by(|a, b| a.goodput_bit_s.total_cmp(&b.goodput_bit_s))?;
    (most.goodput_bit_s > most.ideal_bit_s * NOISE).then(|| {
        Block::paragraph(format!(
            "TCP carried {}, more than the {} that the frames found before allow: that search ended below \
             what the path carries, or the path changed meanwhile. Time ratios below 1 say no more than that.",
            rate(most.goodput_bit_s),
            rate(most.ideal_bit_s),
        ))
    })
}

fn capacity(found: &CapacityFigures) -> Vec<Pair> {
    let at_least = if found.is_lower_bound { "at least " } else { "" };
    let mut rows = vec![
        Pair::new(
            "maximum IP-layer capacity (RFC 9097)",
            format!(
                "{at_least}{} in the best {} of the search",
                rate(found.capacity_bit_s),
                span(Some(found.sub_interval_s))
            ),
        ),
        Pair::new(
            "in that time",
            format!(
                "{} lost, delay variation {}",
                number::measured(found.best_lost_share * 100.0, "%"),
                span(Some(found.delay_variation_s))
            ),
        ),
        Pair::new(
            "over the whole search",
            format!(
                "{}, {} lost; the rate goes up until datagrams wait or are lost",
                rate(found.mean_bit_s),
                number::measured(found.lost_share * 100.0, "%")
            ),
        ),
        Pair::new("smallest delay of one way", least_delay(found)),
        Pair::new("load adjustment", adjustment(found)),
    ];
    if let (true, Some((sent, asked))) = (found.is_lower_bound, found.offered()) {
        let told = format!(
            "the sender sent {} where it was asked for {}, and that came: the host was the limit, not the path",
            rate(sent),
            rate(asked)
        );
        rows.insert(1, Pair::new("host limited", told));
    }
    rows
}

/// Which it was, and what that means for the figure.
fn adjustment(found: &CapacityFigures) -> String {
    match (found.adjustment, found.may_be_short()) {
        (Adjustment::B, _) => "type B".to_owned(),
        (Adjustment::C, false) => "type C (multiply and retry)".to_owned(),
        (Adjustment::C, true) => format!(
            "type C (multiply and retry), which steps back to the bottom below {}: up to a fifth may be missing, \
             type B finds it",
            rate(BOTTOM_OF_C.mbps() * 1e6)
        ),
    }
}

fn least_delay(found: &CapacityFigures) -> String {
    match (found.least_delay_s, found.least_delay_bound_s) {
        (Some(least), Some(bound)) => {
            format!("{}, known within {}", span(Some(least)), span(Some(bound)))
        }
        (None, Some(bound)) => format!(
            "not available: smaller than the clocks of both hosts are known to agree ({})",
            span(Some(bound))
        ),
        (least, None) => span(least),
    }
}

fn responsiveness(found: &ResponsivenessFigures) -> Vec<Pair> {
    let idle = found.idle_rpm.map_or_else(|| number::NONE.to_owned(), |rpm| number::fixed(rpm, 0));
    vec![
        Pair::new(
            "round trips per minute under load (RPM)",
            format!("{}, confidence {}", number::fixed(found.rpm, 0), found.confidence.word()),
        ),
        Pair::new("on connections of their own", number::fixed(found.foreign_rpm, 0)),
        Pair::new("on connections that carry load", number::fixed(found.loaded_rpm, 0)),
        Pair::new("on the idle path", idle),
        Pair::new(
            "goodput of the load",
            format!(
                "{} on {} connections; {} broke",
                rate(found.goodput_bit_s),
                found.connections,
                found.broken
            ),
        ),
    ]
}

/// What a sheet follows.
const OF_SHEET: &str = "RFC 9097, RFC 6349 and draft-ietf-ippm-responsiveness, each in part";
/// What two measurements of one rate may differ by.
const NOISE: f64 = 1.02;

#[cfg(test)]
mod tests {
    use btu_core::traffic::analysis::transfer::TransferFigures;
    use btu_core::units::Bytes;

    use super::*;

    #[test]
    fn a_capacity_that_the_host_limited_is_a_lower_bound() {
        let found = |is_lower_bound: bool| CapacityFigures {
            adjustment: Adjustment::B,
            capacity_bit_s: 1.5e9,
            sub_interval_s: 1.0,
            asked_bit_s: Some(10e9),
            sent_bit_s: Some(1.5e9),
            is_lower_bound,
            mean_bit_s: 1e9,
            lost_share: 0.2,
            best_lost_share: 0.0,
            delay_variation_s: 0.0,
            least_delay_s: Some(0.001),
            least_delay_bound_s: None,
            reports: 200,
        };
        let said = |found: CapacityFigures| format!("{:?}", capacity(&found));
        let limited = said(found(true));
        assert!(limited.contains("at least 1.50 Gb/s in the best"), "{limited}");
        assert!(limited.contains("sent 1.50 Gb/s where it was asked for 10.0 Gb/s"), "{limited}");
        let free = said(found(false));
        assert!(!free.contains("at least") && !free.contains("limit"), "{free}");
        assert!(free.contains("\"0 % lost, ") && free.contains(", 20.0 % lost; "), "{free}");
        let apart = |least_delay_s| CapacityFigures {
            least_delay_s,
            least_delay_bound_s: Some(0.01),
            ..found(false)
        };
        let known = said(apart(Some(0.011)));
        assert!(known.contains("11.0 ms, known within 10.0 ms"), "{known}");
        assert!(known.contains("\"type B\""), "{known}");
        let of_c = |capacity_bit_s| {
            let adjustment = Adjustment::C;
            said(CapacityFigures { adjustment, capacity_bit_s, ..found(false) })
        };
        assert!(of_c(9e6).contains("type B finds it") && !of_c(20e6).contains("type B finds it"));
        let hidden = said(apart(None));
        assert!(hidden.contains("known to agree (10.0 ms)"), "{hidden}");
    }

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

    #[test]
    fn more_than_the_ideal_rate_is_said_to_be_no_feat_of_tcp() {
        let found = |goodput_bit_s: f64| TransferFinding {
            share: 1.0,
            label: "64 KiB".to_owned(),
            goodput_bit_s,
            ideal_bit_s: 1e6,
            idle_rtt_s: 0.02,
            figures: TransferFigures {
                time_ratio: 1e6 / goodput_bit_s,
                efficiency_percent: 100.0,
                buffer_delay_percent: Some(0.0),
                bdp: Bytes::new(2500),
            },
        };
        assert_eq!(beyond_ideal(&[found(0.9e6), found(1.01e6)]), None);
        let said = format!("{:?}", beyond_ideal(&[found(0.9e6), found(1.96e6)]).unwrap());
        assert!(said.contains("TCP carried 1.96 Mb/s, more than the 1.00 Mb/s"), "{said}");
    }
}
