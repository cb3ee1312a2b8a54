//! Live progress: a bar on a terminal with what moves now, a line per run elsewhere, or told to another host.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::traffic::analysis::Totals;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::sample::RunSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use indicatif::ProgressBar;

use super::gauge::Gauge;
use super::scenario;
use crate::measurement::Told;
use crate::output;
use crate::progress::Form;
use crate::progress::span;

/// What the person at the terminal sees.
pub(super) struct Progress {
    form: Form,
    /// How long each run takes, as far as they are known.
    lengths: Vec<Nanos>,
    done: usize,
    /// What the run moves that is made now.
    pub(super) gauge: Gauge,
    /// Who ordered the measurement, where that is another host.
    told: Option<Told>,
}

impl Progress {
    pub(super) fn new(quiet: bool, plan: &Plan) -> Self {
        let runs = plan.runs().into_iter();
        let lengths =
            runs.map(|(_, cell)| cell.estimate(plan.seed, &scenario::STORED).unwrap_or_default());
        let (form, lengths) = (Form::of_stderr(quiet), lengths.collect());
        Self { form, lengths, done: 0, gauge: Gauge::default(), told: None }
    }

    /// The same for another host that ordered the measurement.
    pub(super) fn told_to(told: Option<Told>, quiet: bool, plan: &Plan) -> Self {
        let quiet = quiet || told.is_some();
        Self { told, ..Self::new(quiet, plan) }
    }

    /// A run begins: what is given shows what it moves, until it is dropped.
    pub(super) fn begins(&self, pass: u32, cell: &Cell) -> Option<Ticking> {
        self.gauge.clear();
        let Form::Bar(bar) = &self.form else { return None };
        // Where runs are decided on the way, this one is the last that is known.
        let known = self.lengths.len().max(self.done + 1);
        bar.set_length(count(known));
        bar.set_position(count(self.done));
        bar.set_prefix(format!("{}/{known} pass {pass}", self.done));
        bar.set_message(cell.label.clone());
        let label = cell.label.clone();
        Ticking::begin(Moving {
            bar: bar.clone(),
            label,
            gauge: self.gauge.clone(),
            left: self.left(),
        })
    }

    /// How long the runs that are not made yet take; `None` where they are decided on the way.
    fn left(&self) -> Option<Nanos> {
        let to_come = self.lengths.get(self.done..).filter(|lengths| !lengths.is_empty())?;
        Some(to_come.iter().copied().fold(Nanos::ZERO, Nanos::saturating_add))
    }

    /// So many runs are in the journal already.
    pub(super) fn found(&mut self, runs: usize) {
        self.done = runs;
    }

    /// A run is in the journal, which moved so much that nobody was told of.
    pub(super) fn done(&mut self, cell: &Cell, run: &RunSample, moved: Bytes) {
        self.done += 1;
        match (&self.told, &self.form) {
            (Some(told), _) => told.tell_moved(&self.line(cell, run), moved),
            (None, Form::Lines) => output::message(&self.line(cell, run)),
            (None, _) => {}
        }
    }

    fn line(&self, cell: &Cell, run: &RunSample) -> String {
        let (done, label) = (self.done, &cell.label);
        let runs = self.lengths.len();
        let all = if runs > 0 { format!(" of {runs}") } else { String::new() };
        let left = self.left().map_or_else(String::new, |left| format!("; {} left", span(left)));
        format!("run {done}{all}: {label}{}{left}", figures(run))
    }

    /// Takes the bar away before the report is printed.
    pub(super) fn finish(&self) {
        self.form.finish();
    }
}

/// What a person sees of a run while it is made.
struct Moving {
    bar: ProgressBar,
    label: String,
    gauge: Gauge,
    /// How long this run and those after it take.
    left: Option<Nanos>,
}

/// A thread that shows what moves. Dropped, it ends.
pub(super) struct Ticking {
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Ticking {
    fn begin(moving: Moving) -> Option<Self> {
        let over = Arc::<AtomicBool>::default();
        let is_over = Arc::clone(&over);
        let work = move || moving.show(&is_over);
        // Without it there is less to see, and nothing to measure less.
        let thread = thread::Builder::new().name("traffic-progress".to_owned()).spawn(work).ok();
        Some(Self { over, thread: Some(thread?) })
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It has nothing to say.
            let _ = thread.join();
        }
    }
}

impl Moving {
    fn show(&self, over: &AtomicBool) {
        let begun = Instant::now();
        let (mut then, mut before) = (begun, self.gauge.moved());
        while !over.load(Relaxed) {
            thread::park_timeout(TICK);
            let (now, all) = (Instant::now(), self.gauge.moved());
            let moved = all.saturating_sub(before);
            self.bar.set_message(self.text(moved, now - then, now - begun));
            (then, before) = (now, all);
        }
    }

    /// `80 ms, 1.250 Mb/s now, 41 s left`
    fn text(&self, moved: Bytes, within: Duration, elapsed: Duration) -> String {
        let rate = moved.per(Nanos::from(within)).map_or(0.0, btu_core::units::BitRate::mbps);
        let left = self.left.map_or_else(String::new, |left| {
            format!(", {} left", span(left.since(Nanos::from(elapsed))))
        });
        format!("{}, {} Mb/s now{left}", self.label, four_digits(rate))
    }
}

fn count(runs: usize) -> u64 {
    u64::try_from(runs).unwrap_or(u64::MAX)
}

/// How often it is shown.
const TICK: Duration = Duration::from_millis(500);

fn figures(run: &RunSample) -> String {
    match &run.probe {
        Some(ProbeSample::Capacity(sample)) => sample.figures().map_or_else(String::new, |found| {
            let at_least = if found.is_lower_bound { "at least " } else { "" };
            format!(": {at_least}{} Mb/s at the IP layer", four_digits(found.capacity_bit_s / 1e6))
        }),
        Some(ProbeSample::PathMtu(sample)) => {
            let found = sample.figures().path_mtu;
            found.map_or_else(String::new, |mtu| format!(": {} B", mtu.count()))
        }
        Some(ProbeSample::Responsiveness(sample)) => sample
            .figures()
            .map_or_else(String::new, |found| format!(": {:.0} round trips a minute", found.rpm)),
        None => {
            let totals = Totals::of(run);
            let [a, d] = [totals.arrival, totals.departure].map(|rate| four_digits(rate / 1e6));
            format!(": a {a}, d {d} Mb/s")
        }
    }
}

/// More would change with every look; below one, thousandths.
fn four_digits(value: f64) -> String {
    // A sum of nothing is a negative zero.
    let value = value + 0.0;
    let decimals = [1000.0, 100.0, 10.0].iter().filter(|from| value < **from).count();
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_shows_its_rate_and_the_time_that_is_left() {
        let gauge = Gauge::default();
        let moving = |left| Moving {
            bar: ProgressBar::hidden(),
            label: "80 ms".to_owned(),
            gauge: gauge.clone(),
            left,
        };
        let (moved, second) = (Bytes::new(156_250), Duration::from_secs(1));
        let text = moving(Some(Nanos::from_secs(45))).text(moved, second, 4 * second);
        assert_eq!(text, "80 ms, 1.250 Mb/s now, 41 s left");
        assert_eq!(moving(None).text(moved, second, second), "80 ms, 1.250 Mb/s now");
        let shown = [0.0634, 9.4, 95.25, 1554.87].map(four_digits);
        assert_eq!(shown, ["0.063", "9.400", "95.25", "1555"]);
        gauge.add(|| Bytes::new(7));
        gauge.add(|| Bytes::new(5));
        assert_eq!(gauge.moved(), Bytes::new(12));
        drop(Ticking::begin(moving(None)).unwrap());
        gauge.clear();
        assert_eq!(gauge.moved(), Bytes::ZERO);
    }
}
