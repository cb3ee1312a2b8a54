//! What both ends of a visit tell, folded into its sample.

use btu_core::pingpong::sample::Ended;
use btu_core::pingpong::sample::Fault;
use btu_core::pingpong::sample::Times;
use btu_core::pingpong::sample::VisitHost;
use btu_core::pingpong::sample::VisitSample;
use btu_core::pingpong::schedule::Division;
use btu_core::pingpong::schedule::Visit;
use btu_core::sample::SocketOptions;
use btu_core::units::Nanos;
use btu_core::words::sentence;
use btu_sys::clock;
use btu_sys::cpu::ThreadUse;

use super::worker::Done;
use super::worker::Side;
use crate::pingpong::duty::Broken;

/// What is known of a visit.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    near: Option<Done>,
    far: Option<Done>,
    first_fault: Option<Side>,
    cut: Option<Cut>,
    was_broken: bool,
    steal_ns: Option<Nanos>,
}

/// Why a session ended a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Cancelled,
    Overdue,
}

impl Outcome {
    /// Nothing was tried.
    pub(super) fn of_a_broken_session() -> Self {
        Self { was_broken: true, ..Self::default() }
    }

    /// All that one end told: the other was not asked to do anything.
    pub(super) fn of_one(done: Done) -> Self {
        let mut outcome = Self::default();
        outcome.take(done);
        outcome
    }

    /// True for the first fault: now the other end has nobody to talk to.
    pub(super) fn take(&mut self, done: Done) -> bool {
        let is_first = done.outcome.is_err() && self.first_fault.is_none();
        if is_first || self.is_reason(&done) {
            self.first_fault = Some(done.side);
        }
        match done.side {
            Side::Far => self.far = Some(done),
            Side::Near => self.near = Some(done),
        }
        is_first
    }

    /// True where this end says why the other found nobody any more.
    fn is_reason(&self, done: &Done) -> bool {
        let fault = |side| self.broken(side).map(Broken::fault);
        let found_nobody = self.first_fault.and_then(fault) == Some(Fault::PeerGone);
        found_nobody && matches!(&done.outcome, Err(Broken::Elsewhere { .. }))
    }

    /// True where an end broke off, or both connections were ended.
    pub(super) fn is_broken(&self) -> bool {
        self.first_fault.is_some() || self.cut.is_some()
    }

    pub(super) fn has_both(&self) -> bool {
        self.near.is_some() && self.far.is_some()
    }

    /// The session ended the connections: nobody wants the visit any more, or its cap is reached.
    pub(super) fn cut_short(&mut self, cancelled: bool) {
        self.cut = Some(if cancelled { Cut::Cancelled } else { Cut::Overdue });
    }

    pub(super) fn add_steal(&mut self, before: Option<Nanos>) {
        self.steal_ns = before.zip(steal_ns()).map(|(before, after)| after.since(before));
    }

    pub(super) fn is_failure(&self) -> bool {
        self.was_broken || self.first_fault.is_some() || self.cut.is_some() || !self.has_both()
    }

    pub(super) fn sample(
        &self,
        visit: &Visit,
        elapsed_ns: Nanos,
        options: Option<SocketOptions>,
        verified: bool,
    ) -> VisitSample {
        let times = self.near.as_ref().map_or(&[][..], |done| &done.times);
        let division = self.near.as_ref().and_then(|done| done.division);
        let batch = division.map_or(visit.batch, |division| division.batch);
        let times = if verified { Times::default() } else { Times::fold(times, batch, KEPT) };
        let ended = by_a_moving_clock(self.ended(), &times);
        VisitSample {
            times,
            flags: Vec::from_iter(division.as_ref().and_then(Division::flag)),
            verified: self.verified(),
            host: self.host(),
            options,
            ..VisitSample::of(visit, elapsed_ns, ended)
        }
    }

    /// The memory of the times, for the next visit.
    pub(super) fn into_times(self) -> Vec<u64> {
        self.near.map(|done| done.times).unwrap_or_default()
    }

    fn verified(&self) -> u64 {
        let answer = self.near.as_ref().and_then(|done| done.outcome.as_ref().ok());
        answer.map_or(0, |answer| answer.verified)
    }

    fn ended(&self) -> Ended {
        let failed = |fault, detail: &str| Ended::Failed { fault, detail: detail.to_owned() };
        if self.was_broken {
            return failed(Fault::PeerGone, "the connection ended in an earlier visit");
        }
        if let Some(ended) = self.cut.and_then(|cut| self.ended_by(cut)) {
            return ended;
        }
        match (self.first_fault, &self.near) {
            (Some(side), _) => self.broken(side).map_or_else(
                || failed(Fault::System, "an end told nothing"),
                |broken| of_fault(side, broken),
            ),
            (None, Some(near)) if self.far.is_some() => match near.outcome.as_ref() {
                Ok(answer) => answer.early.map_or(Ended::Complete, |cause| Ended::Early { cause }),
                Err(broken) => of_fault(Side::Near, broken),
            },
            _ => failed(Fault::System, "an end did not stop"),
        }
    }

    fn ended_by(&self, cut: Cut) -> Option<Ended> {
        let failed = |fault, detail: &str| Some(Ended::Failed { fault, detail: detail.to_owned() });
        match (cut, self.broken(Side::Near)) {
            (Cut::Cancelled, _) => failed(Fault::System, "interrupted"),
            // It had come to a part of the answer when its time was over.
            (Cut::Overdue, Some(broken @ Broken::Gone { got: 1.. })) => {
                Some(of_fault(Side::Near, broken))
            }
            (Cut::Overdue, _) => failed(Fault::Stalled, "no answer until the visit's cap"),
        }
    }

    fn broken(&self, side: Side) -> Option<&Broken> {
        let done = match side {
            Side::Far => self.far.as_ref(),
            Side::Near => self.near.as_ref(),
        };
        done?.outcome.as_ref().err()
    }

    fn host(&self) -> VisitHost {
        let ends = || [&self.near, &self.far].into_iter().flatten().map(|done| &done.used);
        let sum = |value: fn(&ThreadUse) -> Option<u64>| {
            // What another host tells may be any number.
            let add = |sum: u64, value: Option<u64>| value.map(|value| sum.saturating_add(value));
            ends().map(value).try_fold(0, add).filter(|_| self.has_both())
        };
        VisitHost {
            run_delay_ns: sum(|used| used.run_delay_ns).map(Nanos::new),
            steal_ns: self.steal_ns,
            voluntary_switches: sum(|used| Some(used.voluntary_switches)),
            involuntary_switches: sum(|used| Some(used.involuntary_switches)),
            cpu_ns: sum(|used| Some(used.cpu_ns)).map(Nanos::new),
        }
    }
}

/// How a visit ended whose times these are: a clock that somebody holds (a program that fakes time, a simulator) measures
/// nothing, and neither does one that steps once in milliseconds.
pub(in crate::pingpong) fn by_a_moving_clock(ended: Ended, times: &Times) -> Ended {
    let stood = !times.is_empty() && times.p50_ns <= 0.0;
    if !stood || matches!(ended, Ended::Failed { .. }) {
        return ended;
    }
    Ended::Failed { fault: Fault::System, detail: stood_still(times.n, clock::step_ns()) }
}

/// The sentence has its remedy: a sample has no other place for one.
fn stood_still(units: u64, step_ns: Option<u64>) -> String {
    let (how, remedy) = match step_ns {
        Some(step) if step >= COARSE_NS => (
            format!("stood still, or steps too coarsely ({step} ns),"),
            "run without what holds it, or boot with a finer clock source",
        ),
        _ => ("stood still".to_owned(), "run without what holds it"),
    };
    format!(
        "read the clock CLOCK_MONOTONIC: it {how} in half of {units} timed units, or in more; {remedy}"
    )
}

fn of_fault(side: Side, broken: &Broken) -> Ended {
    let end = if side == Side::Near { "near end" } else { "far end" };
    Ended::Failed { fault: broken.fault(), detail: format!("{end}: {}", sentence(broken)) }
}

/// Time that the hypervisor took from all CPUs so far; ticks of ten milliseconds.
pub(super) fn steal_ns() -> Option<Nanos> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: u64 = text.lines().next()?.split_ascii_whitespace().nth(8)?.parse().ok()?;
    Some(Nanos::from_millis(ticks.saturating_mul(10)))
}

/// How many times of a visit stay as they are.
const KEPT: usize = 64;
/// No unit is over before a clock with smaller steps has moved.
const COARSE_NS: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_clock_that_stands_still_are_a_fault_and_hide_no_other() {
        let of = |unit_ns: &[u64]| by_a_moving_clock(Ended::Complete, &Times::fold(unit_ns, 1, 64));
        let Ended::Failed { fault: Fault::System, detail } = of(&[0, 0, 7]) else { panic!() };
        assert!(detail.contains("CLOCK_MONOTONIC: it stood still in half of 3 timed units"));
        assert_eq!(of(&[0, 7, 8]), Ended::Complete);
        // Where contents are checked, nothing is timed.
        assert_eq!(of(&[]), Ended::Complete);
        let gone = Ended::Failed { fault: Fault::PeerGone, detail: String::new() };
        assert_eq!(by_a_moving_clock(gone.clone(), &Times::fold(&[0], 1, 64)), gone);
    }

    #[test]
    fn a_clock_that_steps_coarsely_is_not_said_to_have_stood_still_alone() {
        let told = stood_still(9, Some(4_000_000));
        let wanted = "it stood still, or steps too coarsely (4000000 ns), in half of 9 timed units";
        assert!(told.contains(wanted) && told.ends_with("a finer clock source"), "{told}");
        for fine in [None, Some(25)] {
            let told = stood_still(9, fine);
            assert!(!told.contains("steps") && told.ends_with("what holds it"), "{told}");
        }
    }
}
