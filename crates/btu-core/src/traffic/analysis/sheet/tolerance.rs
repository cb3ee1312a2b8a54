//! How long an overload lasts until something waits longer than a class bears, by what was measured beyond mu.

use super::SheetLine;
use super::figure::apart;
use super::line_or;
use super::mean;
use crate::traffic::analysis::Analysis;
use crate::traffic::analysis::Carried;
use crate::traffic::analysis::Measured;
use crate::traffic::plan::Group;
use crate::traffic::sample::Agreement;
use crate::traffic::sample::Curves;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::Journal;
use crate::traffic::sample::RunSample;
use crate::traffic::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

/// A line for each load beyond mu, where the class bears no more than some delay. The loads go over TCP, which loses
/// nothing: a byte that the path does not take waits.
pub(super) fn lines(journal: &Journal, analysis: &Analysis, carried: &Carried) -> Vec<SheetLine> {
    let Some(limit) = carried.limits.delay_p99_s else { return Vec::new() };
    let at = |rho: f64| {
        let mut loads = analysis.group(Group::Load).filter(|load| load.cell.series.is_none());
        loads.find(|load| rho.to_bits() == load.cell.x.to_bits())
    };
    let of = |(rho, figure): &(f64, &'static str)| match at(*rho) {
        Some(load) => of_load(figure, journal, load, limit),
        None => line_or(figure, None, "that load was not run"),
    };
    OVERLOADS.iter().map(of).collect()
}

fn of_load(figure: &'static str, journal: &Journal, load: &Measured, limit_s: f64) -> SheetLine {
    let runs = || journal.runs().filter(|run| run.cell == load.cell.id);
    let times: Vec<Borne> = runs().filter_map(|run| of_run(run, limit_s)).collect();
    let all = mean(&times.iter().map(|time| time.seconds).collect::<Vec<_>>());
    let hidden = runs().flat_map(RunSample::flows).find_map(|flow| hidden(flow, limit_s));
    let why = hidden.unwrap_or_else(|| "no run of that load came to its end".to_owned());
    SheetLine {
        at_least: times.iter().any(|time| time.open),
        bound_s: load.delay_bound_s(),
        cells: vec![load.cell.id],
        ..line_or(figure, all, &why)
    }
}

/// Why two clocks do not tell when something has waited that long.
fn hidden(flow: &FlowSample, limit_s: f64) -> Option<String> {
    match flow.clocks.as_ref()? {
        Agreement::Unknown(reason) => Some(apart(reason)),
        Agreement::Within(bound) => (limit_s < bound.seconds()).then(|| {
            format!(
                "the class bears {:.3} ms, and the clocks of both hosts are known to agree within {:.3} ms",
                limit_s * 1e3,
                bound.millis()
            )
        }),
    }
}

/// How long an overload was borne.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Borne {
    seconds: f64,
    /// True where it ended before the limit was reached.
    open: bool,
}

fn of_run(run: &RunSample, limit_s: f64) -> Option<Borne> {
    let flow = run.flows().next()?;
    if hidden(flow, limit_s).is_some() {
        return None;
    }
    borne(&flow.curves, flow.duration_ns, limit_s).filter(|_| is_whole(flow))
}

fn is_whole(flow: &FlowSample) -> bool {
    flow.outcome.is_complete()
}

/// When the first byte arrived that waited longer than the limit: the distance sideways between A(t) and D(t).
fn borne(curves: &Curves, duration: Nanos, limit_s: f64) -> Option<Borne> {
    let points = curves.points();
    let (end, ..) = *points.last()?;
    let within = points.iter().take_while(|(at, ..)| *at <= duration);
    let mut before: Option<(f64, f64)> = None;
    for (at, arrived, _) in within {
        let at_s = at.seconds();
        let read = read_at(&points, *arrived);
        // What nobody read had waited until the end at the least.
        let wait = read.unwrap_or(end.seconds()) - at_s;
        if wait > limit_s {
            let (from, less) = before.unwrap_or((at_s, wait));
            let share = if wait > less { (limit_s - less) / (wait - less) } else { 0.0 };
            return Some(Borne { seconds: from + share * (at_s - from), open: false });
        }
        if read.is_none() {
            break;
        }
        before = Some((at_s, wait));
    }
    before.map(|(seconds, _)| Borne { seconds, open: true })
}

/// When so many bytes had been read, seconds, on the line between two points.
fn read_at(points: &[(Nanos, Bytes, Bytes)], bytes: Bytes) -> Option<f64> {
    let next = points.iter().position(|(_, _, read)| *read >= bytes)?;
    let (at, _, read) = points[next];
    let Some((from, _, before)) = next.checked_sub(1).map(|last| points[last]) else {
        return Some(at.seconds());
    };
    let grown = float(read.saturating_sub(before).count());
    let share = float(bytes.saturating_sub(before).count()) / grown.max(1.0);
    Some(from.seconds() + share * at.since(from).seconds())
}

/// The loads beyond mu whose lines a sheet has.
const OVERLOADS: [(f64, &str); 2] = [(1.5, "overload_of_1_5_mu_s"), (2.0, "overload_of_2_mu_s")];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::figures::flow::rounded;
    use crate::traffic::sending::burst::Block;
    use crate::traffic::sending::burst::Discipline;
    use crate::traffic::simulated::Line;

    /// Segments at `rho` times the rate of a line for 2 s.
    fn overload(rho: f64, line: Line, mu: f64) -> Curves {
        let time = Nanos::from_secs(2);
        let gap = 1448.0 * 8.0 / (rho * mu) * 1e9;
        let blocks: Vec<Block> = (0..100_000_u32)
            .map(|k| Block { due: Nanos::new(rounded(gap * f64::from(k))), size: Bytes::new(1448) })
            .take_while(|block| block.due < time)
            .collect();
        Curves::of(&line.carry(&blocks, time, Discipline::Queue))
    }

    /// A fluid at rho waits t (rho - 1) at t: 150 ms are reached after 300 and after 150 ms. A way of 50 ms takes a third
    /// of what there is to bear.
    #[test]
    fn an_overload_is_borne_until_the_limit_less_the_length_of_the_way() {
        let mu = 10e6;
        let line = || Line::new(mu).with_buffer(Bytes::new(1 << 30));
        for (rho, way_ms, want) in [(1.5, 0, 0.3), (2.0, 0, 0.15), (1.5, 50, 0.2), (2.0, 50, 0.1)] {
            let line = line().with_length(Nanos::from_millis(way_ms));
            let found = borne(&overload(rho, line, mu), Nanos::from_secs(2), 0.15).unwrap();
            assert!(!found.open && (found.seconds - want).abs() < 0.01, "{rho}: {found:?}");
        }
        // 3 s are not reached within 2 s of it, and 1 ms is less than the way.
        let found = borne(&overload(1.5, line(), mu), Nanos::from_secs(2), 3.0).unwrap();
        assert!(found.open && found.seconds > 1.9, "{found:?}");
        let long = line().with_length(Nanos::from_millis(50));
        let found = borne(&overload(1.5, long, mu), Nanos::from_secs(2), 0.001).unwrap();
        assert_eq!(found, Borne { seconds: 0.0, open: false });
        assert_eq!(borne(&Curves::default(), Nanos::from_secs(2), 0.15), None);
    }
}
