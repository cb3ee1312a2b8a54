//! Live progress: a bar on a terminal, a line per run elsewhere, or told to another host.

use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::sample::RunSample;
use btu_core::traffic::study::Totals;
use btu_core::units::Bytes;

use crate::output;
use crate::progress::Form;
use crate::run::ordered::Told;

/// What the person at the terminal sees.
pub(super) struct Progress {
    form: Form,
    runs: u64,
    done: u64,
    /// Who ordered the measurement, where that is another host.
    told: Option<Told>,
}

impl Progress {
    pub(super) fn new(quiet: bool, plan: &Plan) -> Self {
        let runs = u64::try_from(plan.runs().len()).unwrap_or(u64::MAX);
        Self { form: Form::of_stderr(quiet), runs, done: 0, told: None }
    }

    /// The same for another host that ordered the measurement.
    pub(super) fn told_to(told: Option<Told>, quiet: bool, plan: &Plan) -> Self {
        let quiet = quiet || told.is_some();
        Self { told, ..Self::new(quiet, plan) }
    }

    /// A run is about to begin.
    pub(super) fn begins(&self, pass: u32, cell: &Cell) {
        if let Form::Bar(bar) = &self.form {
            // Where runs are decided on the way, this one is the last that is known.
            bar.set_length(self.runs.max(self.done + 1));
            bar.set_position(self.done);
            bar.set_prefix(format!("pass {pass}"));
            bar.set_message(cell.label.clone());
        }
    }

    /// So many runs are in the journal already.
    pub(super) fn found(&mut self, runs: usize) {
        self.done = u64::try_from(runs).unwrap_or(u64::MAX);
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
        let all = if self.runs > 0 { format!(" of {}", self.runs) } else { String::new() };
        format!("run {done}{all}: {label}{}", figures(run))
    }

    /// Takes the bar away before the report is printed.
    pub(super) fn finish(&self) {
        self.form.finish();
    }
}

fn figures(run: &RunSample) -> String {
    match &run.probe {
        Some(ProbeSample::Capacity(sample)) => sample.figures().map_or_else(String::new, |found| {
            format!(": {:.3} Mb/s at the IP layer", found.capacity_bit_s / 1e6)
        }),
        Some(ProbeSample::Responsiveness(sample)) => sample
            .figures()
            .map_or_else(String::new, |found| format!(": {:.0} round trips a minute", found.rpm)),
        None => {
            let totals = Totals::of(run);
            format!(": a {:.3}, d {:.3} Mb/s", totals.arrival / 1e6, totals.departure / 1e6)
        }
    }
}
