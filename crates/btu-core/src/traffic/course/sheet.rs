//! The course of a sheet: capacity, knee, delays around it, sessions of each class, round trips under load.

use super::Made;
use super::SEARCH_TIMES;
use super::SoFar;
use crate::stats;
use crate::traffic::Transport;
use crate::traffic::analysis;
use crate::traffic::analysis::Estimate;
use crate::traffic::class;
use crate::traffic::class::Class;
use crate::traffic::figures::knee;
use crate::traffic::language::recipe;
use crate::traffic::method;
use crate::traffic::method::Method;
use crate::traffic::method::rfc9097::DATAGRAM;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Course;
use crate::traffic::plan::Group;
use crate::traffic::plan::Probe;
use crate::units::Nanos;

/// What is measured next.
pub(super) fn next(seen: &SoFar<'_>) -> Option<Cell> {
    stream(seen).or_else(|| {
        let mu = mu(seen)?.value;
        seen.until(search(seen), seen.plan.passes)
            .or_else(|| seen.round(loads(seen, mu, &LOADS), seen.plan.passes))
            .or_else(|| seen.round(knee_loads(seen, mu), seen.plan.passes))
            .or_else(|| classes(seen, mu))
            .or_else(|| seen.until(working(seen), seen.plan.passes))
    })
}

/// Full streams until as many as there are passes got something: a host may carry nothing for a while.
pub(super) fn stream(seen: &SoFar<'_>) -> Option<Cell> {
    let time = seen.course.time_ns.max(LEAST_STREAM);
    let cell = Cell {
        group: Group::Capacity,
        label: "full stream".to_owned(),
        x: 1.0,
        sessions: 1,
        scenario: recipe::full_over(tcp(seen), recipe::STREAM, time),
        ..Cell::default()
    };
    let got = mu(seen).map_or(0, |mu| mu.passes);
    let open = got < usize::try_from(seen.plan.passes).unwrap_or(usize::MAX);
    seen.until(cell, seen.plan.passes + MORE_STREAMS).filter(|_| open)
}

fn tcp(seen: &SoFar<'_>) -> &'static str {
    recipe::Path::of(seen.plan).tcp()
}

/// What full streams got, bit/s: as the report says it.
pub(super) fn mu(seen: &SoFar<'_>) -> Option<Estimate> {
    let streams = seen.made().filter(|made| made.cell.group == Group::Capacity);
    analysis::mu(streams.map(|made| &made.totals))
}

/// What is done without a schedule: a capacity search, and round trips under load.
pub(super) fn probes(course: &Course) -> Vec<Probe> {
    vec![capacity(course), trips(course)]
}

fn capacity(course: &Course) -> Probe {
    let (time_ns, adjustment) = (course.time_ns * SEARCH_TIMES, course.adjustment);
    Probe::Capacity { time_ns, datagram_bytes: DATAGRAM, adjustment }
}

fn trips(course: &Course) -> Probe {
    let interval_ns = course.time_ns.min(LONGEST_INTERVAL);
    Probe::Responsiveness { interval_ns, intervals: INTERVALS }
}

/// The standard methods that a sheet uses, each with the time that it has here.
pub(in crate::traffic) fn methods(course: &Course) -> [(&'static Method, Nanos); 3] {
    [
        (&method::rfc9097::METHOD, course.time_ns * SEARCH_TIMES),
        (&method::rfc6349::METHOD, course.time_ns.max(LEAST_STREAM)),
        (&method::responsiveness::METHOD, course.time_ns.min(LONGEST_INTERVAL)),
    ]
}

fn search(seen: &SoFar<'_>) -> Cell {
    Cell {
        group: Group::Search,
        label: "capacity search".to_owned(),
        x: 1.0,
        sessions: 1,
        probe: Some(capacity(seen.course)),
        ..Cell::default()
    }
}

fn working(seen: &SoFar<'_>) -> Cell {
    Cell {
        group: Group::Working,
        label: "round trips under load".to_owned(),
        x: 1.0,
        sessions: 1,
        probe: Some(trips(seen.course)),
        ..Cell::default()
    }
}

/// Random arrivals at shares of what a full stream gets.
fn loads(seen: &SoFar<'_>, mu: f64, shares: &[f64]) -> Vec<Cell> {
    let cell = |share: &f64| Cell {
        group: Group::Load,
        label: format!("{share} mu"),
        x: *share,
        sessions: 1,
        scenario: recipe::poisson(tcp(seen), share * mu, seen.course.time_ns),
        ..Cell::default()
    };
    shares.iter().map(cell).collect()
}

/// The same at shares of the knee that those loads have, of mu where they have none: where the sheet says the delay.
fn knee_loads(seen: &SoFar<'_>, mu: f64) -> Vec<Cell> {
    let first = |made: &&Made<'_>| made.cell.group == Group::Load && made.cell.series.is_none();
    let points = seen.made().filter(first).filter_map(|made| made.totals.loaded(made.cell.id));
    let found = knee::hinge(&points.collect::<Vec<_>>()).map(|hinge| hinge.knee);
    let (knee, name) = found.map_or((mu, "mu"), |knee| (knee, "the knee"));
    let cell = |share: &f64| Cell {
        group: Group::Load,
        label: format!("{:.0} % of {name}", share * 100.0),
        x: share * knee / mu,
        sessions: 1,
        series: Some(KNEE.to_owned()),
        scenario: recipe::poisson(tcp(seen), share * knee, seen.course.time_ns),
        ..Cell::default()
    };
    KNEE_SHARES.iter().map(cell).collect()
}

/// The longest run of a class.
pub(super) fn longest_class(course: &Course) -> Nanos {
    let classes = course.classes.iter().filter_map(|name| class::by_name(name));
    classes.map(|class| course.limits.of(class).time(course.time_ns)).max().unwrap_or_default()
}

/// The first class whose number of sessions is still open.
fn classes(seen: &SoFar<'_>, mu: f64) -> Option<Cell> {
    let all = seen.course.classes.iter().filter_map(|name| class::by_name(name));
    all.into_iter().find_map(|class| {
        let tried = tried(seen, class, mu);
        let most = most(class).min(seen.course.most_sessions.unwrap_or(MOST));
        let sessions = next_number(&tried, first_number(class, mu).min(most), most)?;
        let time = seen.course.limits.of(class).time(seen.course.time_ns);
        let traffic = format!("{}, duration={} ns)", class.traffic, time.count());
        let transport = match class.transport {
            Transport::Tcp => tcp(seen),
            Transport::Quic | Transport::Udp => class.transport.name(),
        };
        Some(Cell {
            group: Group::Class,
            label: format!("{} {sessions}", class.name),
            x: f64::from(sessions),
            sessions,
            class: Some(class.name.to_owned()),
            scenario: recipe::one_test(&traffic, transport, ""),
            ..Cell::default()
        })
    })
}

/// What is known of a number of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Carried,
    Missed,
    Open,
}

/// A number is carried where as many runs as there are passes met the limits, and missed with the first that
/// did not and whose generator kept its time.
fn tried(seen: &SoFar<'_>, class: &Class, mu: f64) -> Vec<(u32, Verdict)> {
    let own = |made: &&Made<'_>| made.cell.class.as_deref() == Some(class.name);
    let mut numbers: Vec<u32> = seen.made().filter(own).map(|made| made.cell.sessions).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let verdict = |sessions: u32| {
        let runs = seen.made().filter(own).filter(|made| made.cell.sessions == sessions);
        let limits = seen.course.limits.of(class);
        let tried = limits.tried(runs.map(|made| &made.totals), sessions, Some(mu));
        match (tried.missed, tried.met >= seen.plan.passes) {
            (Some(_), _) => Verdict::Missed,
            (None, true) => Verdict::Carried,
            (None, false) => Verdict::Open,
        }
    };
    numbers.into_iter().map(|sessions| (sessions, verdict(sessions))).collect()
}

/// Twice as many while they are carried, then halfway between what is carried and what is not, until
/// those are next to each other or within a twentieth.
fn next_number(tried: &[(u32, Verdict)], first: u32, most: u32) -> Option<u32> {
    if let Some((open, _)) = tried.iter().find(|(_, verdict)| *verdict == Verdict::Open) {
        return Some(*open);
    }
    let missed = tried.iter().find(|(_, verdict)| *verdict == Verdict::Missed).map(|(n, _)| *n);
    let below = |n: u32| missed.is_none_or(|missed| n < missed);
    let carried = tried.iter().filter(|(n, verdict)| *verdict == Verdict::Carried && below(*n));
    match (carried.map(|(n, _)| *n).max(), missed) {
        (None, None) => Some(first),
        (Some(carried), None) => (carried < most).then(|| (carried * 2).min(most)),
        (None, Some(missed)) => (missed > 1).then_some(missed / 2),
        (Some(carried), Some(missed)) => {
            let apart = missed - carried;
            (apart > 1.max(missed / 20)).then_some(carried + apart / 2)
        }
    }
}

/// Nearly what the rate of the path would allow.
fn first_number(class: &Class, mu: f64) -> u32 {
    if class.bit_s <= 0.0 {
        return 1;
    }
    let number = stats::floor((0.7 * mu / class.bit_s).clamp(1.0, f64::from(MOST)));
    u32::try_from(number).unwrap_or(MOST)
}

fn most(class: &Class) -> u32 {
    if class.bit_s <= 0.0 { MOST_GREEDY } else { MOST }
}

/// The series of the loads around the knee.
pub(in crate::traffic) const KNEE: &str = "knee";
/// Of the knee: where the sheet says the delay.
pub(in crate::traffic) const KNEE_SHARES: [f64; 3] = [0.5, 0.8, 0.95];
/// A stream that is shorter measures its own start.
pub(super) const LEAST_STREAM: Nanos = Nanos::from_millis(300);
const MORE_STREAMS: u32 = 4;
const LOADS: [f64; 6] = [0.25, 0.7, 0.9, 1.1, 1.5, 2.0];
/// Sessions of a class at most.
const MOST: u32 = 1024;
/// The same of a class that takes what it gets.
const MOST_GREEDY: u32 = 64;
/// draft-ietf-ippm-responsiveness, section 5: an interval of 1 s.
const LONGEST_INTERVAL: Nanos = Nanos::from_secs(1);
/// Intervals of round trips under load at most.
const INTERVALS: u32 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    /// Any first guess, any number that a path carries: the search ends at it.
    #[test]
    fn the_number_of_sessions_is_found_from_any_first_guess() {
        for carries in [0_u32, 1, 2, 3, 17, 18, 600, 1024, 5000] {
            for first in [1, 5, 40, 1024] {
                let mut tried: Vec<(u32, Verdict)> = Vec::new();
                while let Some(n) = next_number(&tried, first, MOST) {
                    let verdict = if n <= carries { Verdict::Carried } else { Verdict::Missed };
                    assert!(!tried.iter().any(|(known, _)| *known == n), "{n} twice: {tried:?}");
                    tried.push((n, verdict));
                    tried.sort_by_key(|(n, _)| *n);
                }
                let met = tried.iter().filter(|(_, v)| *v == Verdict::Carried).map(|(n, _)| *n);
                let most = met.max().unwrap_or(0);
                let want = carries.min(MOST);
                assert!(most <= want && want - most <= want / 20 + 1, "{most} of {want}");
                assert!(tried.len() < 24, "{tried:?}");
            }
        }
    }

    #[test]
    fn an_open_number_is_run_again_before_another() {
        let tried = [(4, Verdict::Carried), (8, Verdict::Open), (16, Verdict::Missed)];
        assert_eq!(next_number(&tried, 1, MOST), Some(8));
    }
}
