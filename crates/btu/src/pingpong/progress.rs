//! Live progress on stderr, drawn between visits only: a bar on a terminal, a line per round elsewhere.

use std::time::Instant;

use btu_core::pingpong::chasm::Purpose;
use btu_core::pingpong::chasm::Request;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::schedule::Order;
use btu_core::pingpong::schedule::Schedule;
use btu_core::pingpong::schedule::Visit;

use crate::output;
use crate::progress::Form;
use crate::progress::span;

/// What the person at the terminal sees.
pub(super) struct Progress {
    form: Form,
    begun: Instant,
    visits: u64,
    said: String,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        let form = Form::of_stderr(quiet);
        Self { form, begun: Instant::now(), visits: 0, said: String::new() }
    }

    /// A visit of the sweep is in the journal.
    pub(super) fn visited(&mut self, visit: &Visit, configuration: &Configuration, of: &Schedule) {
        self.visits += 1;
        let left = u64::try_from(of.remaining()).unwrap_or(u64::MAX);
        match &self.form {
            Form::Bar(bar) => {
                let all = self.visits + left;
                bar.set_length(all);
                bar.set_position(self.visits);
                let (visits, left) = (self.visits, self.left(left));
                bar.set_prefix(format!("{visits}/{all} round {}, {left} left", visit.round));
                bar.set_message(format!("{} {}", configuration.transport, visit.size));
            }
            Form::Lines => {
                let name = &configuration.transport;
                let line = match of.order() {
                    Order::Random => format!("round {}", visit.round),
                    Order::Rising => {
                        format!("{} % done", 10 * (10 * self.visits / (self.visits + left)))
                    }
                };
                if line != self.said {
                    let time = self.left(left);
                    output::message(&format!(
                        "{line}: {left} visits to go, {time} left ({name} ...)"
                    ));
                    self.said = line;
                }
            }
            Form::Silent => {}
        }
    }

    /// A question of the chasm finder is about to be measured.
    pub(super) fn searches(&mut self, configuration: &Configuration, request: &Request) {
        let what = match &request.purpose {
            Purpose::Confirm => "measuring again what looks like a chasm".to_owned(),
            Purpose::Edge => "looking for an edge".to_owned(),
            Purpose::EdgeAgain => "confirming an edge".to_owned(),
            Purpose::Holes => "looking for good sizes inside".to_owned(),
            Purpose::Cause(factor) => format!("trying {factor}"),
        };
        let line = format!("{}: {what}", configuration.transport);
        match &self.form {
            Form::Bar(bar) => {
                bar.set_prefix("chasms");
                bar.set_message(line);
            }
            Form::Lines if line != self.said => {
                output::message(&line);
                self.said = line;
            }
            Form::Lines | Form::Silent => {}
        }
    }

    /// Takes the bar away before the report is printed.
    pub(super) fn finish(&self) {
        self.form.finish();
    }

    /// What is left, as fast as it went so far.
    fn left(&self, visits: u64) -> String {
        let each = self.begun.elapsed().as_nanos() / u128::from(self.visits.max(1));
        let left = u64::try_from(each * u128::from(visits)).unwrap_or(u64::MAX);
        span(btu_core::units::Nanos::new(left))
    }
}
