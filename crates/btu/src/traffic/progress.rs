//! Live progress on stderr: a bar on a terminal, a line per run elsewhere.

use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::sample::RunSample;
use btu_core::traffic::study::Totals;

use crate::output;
use crate::progress::Form;

/// What the person at the terminal sees.
pub(super) struct Progress {
    form: Form,
    runs: u64,
    done: u64,
}

impl Progress {
    pub(super) fn new(quiet: bool, plan: &Plan) -> Self {
        let runs = u64::try_from(plan.runs().len()).unwrap_or(u64::MAX);
        Self { form: Form::of_stderr(quiet), runs, done: 0 }
    }

    /// A run is about to begin.
    pub(super) fn begins(&self, pass: u32, cell: &Cell) {
        if let Form::Bar(bar) = &self.form {
            bar.set_length(self.runs);
            bar.set_position(self.done);
            bar.set_prefix(format!("pass {pass}"));
            bar.set_message(cell.label.clone());
        }
    }

    /// A run is in the journal, or was before.
    pub(super) fn done(&mut self, cell: &Cell, run: Option<&RunSample>) {
        self.done += 1;
        if let (Form::Lines, Some(run)) = (&self.form, run) {
            let totals = Totals::of(run);
            let (a, d) = (totals.arrival / 1e6, totals.departure / 1e6);
            let (done, runs, label) = (self.done, self.runs, &cell.label);
            output::message(&format!("run {done} of {runs}: {label}: a {a:.3}, d {d:.3} Mb/s"));
        }
    }

    /// Takes the bar away before the report is printed.
    pub(super) fn finish(&self) {
        self.form.finish();
    }
}
