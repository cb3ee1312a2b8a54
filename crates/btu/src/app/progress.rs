//! Live progress on stderr, drawn between launches only: a bar on a terminal, a line per round elsewhere.

use std::time::Instant;

use btu_core::app::plan::Slot;
use btu_core::units::Nanos;
use btu_core::words::several;

use crate::output;
use crate::progress::Form;
use crate::progress::span;

/// What the person at the terminal sees.
pub(super) struct Progress {
    form: Form,
    begun: Instant,
    /// The place in the plan that it began with.
    first: Option<usize>,
    round: u32,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        Self { form: Form::of_stderr(quiet), begun: Instant::now(), first: None, round: 0 }
    }

    /// The launch at this place of so many begins.
    pub(super) fn launches(&mut self, slot: &Slot, place: usize, all: usize) {
        let (done, left) = (place - *self.first.get_or_insert(place), all - place);
        let time = self.left(done, left);
        let is_new = self.round != slot.round;
        self.round = slot.round;
        match &self.form {
            Form::Bar(bar) => {
                bar.set_length(u64::try_from(all).unwrap_or(u64::MAX));
                bar.set_position(u64::try_from(place).unwrap_or(u64::MAX));
                bar.set_prefix(format!("{place}/{all} round {}{time}", slot.round));
                let job = &slot.job;
                bar.set_message(format!("{} {} {}", job.kernel, job.ranks, job.layer));
            }
            Form::Lines if is_new => {
                let left = several(left, "launch");
                output::message(&format!("round {}: {left} to go{time}", slot.round));
            }
            Form::Lines | Form::Silent => {}
        }
    }

    /// Takes the bar away before the report is printed.
    pub(super) fn finish(&self) {
        self.form.finish();
    }

    /// What is left, as fast as it went so far; nothing before the first launch ended.
    fn left(&self, done: usize, left: usize) -> String {
        let (Ok(done), Ok(left)) = (u128::try_from(done), u128::try_from(left)) else {
            return String::new();
        };
        let Some(each) = self.begun.elapsed().as_nanos().checked_div(done) else {
            return String::new();
        };
        let left = u64::try_from(each * left).unwrap_or(u64::MAX);
        format!(", {} left", span(Nanos::new(left)))
    }
}
