//! Live progress on stderr, drawn between trials only: a bar on a terminal, a line per round elsewhere.

use std::time::Instant;

use btu_core::file::plan::Plan;
use btu_core::file::plan::Slot;
use btu_core::units::Nanos;

use crate::output;
use crate::progress::Form;
use crate::progress::span;

/// What the person at the terminal sees.
pub(super) struct Progress {
    form: Form,
    begun: Instant,
    round: u32,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        Self { form: Form::of_stderr(quiet), begun: Instant::now(), round: 0 }
    }

    /// The trial of this number, of so many, is next.
    pub(super) fn begins(&mut self, plan: &Plan, slot: &Slot, number: u64, all: usize) {
        let all = u64::try_from(all).unwrap_or(u64::MAX);
        let kind = if slot.warm_up { "warm-up round" } else { "round" };
        let told = format!("{kind} {}{}", slot.round, self.left(number - 1, all));
        match &self.form {
            Form::Bar(bar) => {
                bar.set_length(all);
                bar.set_position(number - 1);
                bar.set_prefix(format!("{number}/{all} {told}"));
                bar.set_message(plan.label(&slot.trial));
            }
            Form::Lines if slot.round != self.round => {
                self.round = slot.round;
                output::message(&format!("{told} (trial {number} of {all})"));
            }
            Form::Lines | Form::Silent => {}
        }
    }

    /// The slot of this number is next, so much later.
    pub(super) fn waits(&self, slot: u32, left: Nanos) {
        let told = format!("slot {slot} is due in {}", span(left));
        match &self.form {
            Form::Bar(bar) => bar.set_message(told),
            Form::Lines => output::message(&told),
            Form::Silent => {}
        }
    }

    /// Takes the bar away before the report is printed.
    pub(super) fn finish(&self) {
        self.form.finish();
    }

    /// What is left, as fast as it went so far.
    fn left(&self, done: u64, all: u64) -> String {
        if done == 0 {
            return String::new();
        }
        let each = self.begun.elapsed().as_nanos() / u128::from(done);
        let left = u64::try_from(each * u128::from(all - done)).unwrap_or(u64::MAX);
        format!(", {} left", span(Nanos::new(left)))
    }
}
