//! Live progress on stderr, drawn between rounds only.

use btu_core::mesh::course;
use btu_core::mesh::course::Batch;
use btu_core::mesh::plan::Plan;
use btu_core::mesh::sample::Part;

use crate::output;
use crate::progress::Form;

/// What the person at the terminal sees.
pub(super) struct Progress {
    form: Form,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        Self { form: Form::of_stderr(quiet) }
    }

    /// These pairs are next.
    pub(super) fn begins(&self, plan: &Plan, batch: &Batch) {
        let pair =
            |(one, other): &(usize, usize)| format!("{}-{}", plan.hosts[*one], plan.hosts[*other]);
        let pairs: Vec<String> = batch.pairs.iter().take(SHOWN).map(pair).collect();
        let more = if batch.pairs.len() > SHOWN { " ..." } else { "" };
        let told = match batch.part {
            Part::Mesh => format!("round {} of {}", batch.round + 1, course::rounds(plan)),
            Part::Again => "what failed once more".to_owned(),
            Part::Retest(number) => {
                format!("retest of suspicion {}, round {}", number + 1, batch.round + 1)
            }
        };
        match &self.form {
            Form::Bar(bar) => {
                let rounds = course::rounds(plan);
                bar.set_length(rounds as u64);
                let done = if batch.part == Part::Mesh { batch.round } else { rounds };
                bar.set_position(done as u64);
                bar.set_prefix(told);
                bar.set_message(format!("{}{more}", pairs.join(" ")));
            }
            Form::Lines => output::message(&format!("{told}: {}{more}", pairs.join(" "))),
            Form::Silent => {}
        }
    }

    /// Takes the bar away before the report is printed.
    pub(super) fn finish(&self) {
        self.form.finish();
    }
}

/// More have no room in a line.
const SHOWN: usize = 6;
