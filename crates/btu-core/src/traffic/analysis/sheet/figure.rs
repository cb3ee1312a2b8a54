//! A figure of every run of a cell as a line: its mean over the passes, or why there is none.

use super::SheetLine;
use super::line;
use super::mean;
use super::without;
use crate::traffic::analysis::Estimate;
use crate::traffic::analysis::Measured;
use crate::traffic::analysis::Totals;
use crate::traffic::figures::emodel::Rating;

/// A figure of every run of a cell.
pub(super) struct Figure {
    pub(super) name: &'static str,
    of: fn(&Totals) -> Option<f64>,
    kind: Kind,
    /// Why it is not there, where no clock is to blame.
    absent: &'static str,
}

/// What its mean is, and whether two clocks may hide it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Of two delays over the same way: what clocks differ by is in both, but not what they come apart by.
    Difference,
    /// A delay that is read on two clocks.
    OneWay,
    /// Of a whole.
    Share,
}

impl Figure {
    pub(super) fn line(&self, cell: &Measured) -> SheetLine {
        let found: Vec<(&Totals, f64)> =
            cell.runs.iter().filter_map(|run| Some((run, (self.of)(run)?))).collect();
        let values: Vec<f64> = found.iter().map(|(_, value)| *value).collect();
        let all = match self.kind {
            Kind::Share => Estimate::of_shares(&values),
            Kind::Difference | Kind::OneWay => mean(&values),
        };
        let made =
            all.map_or_else(|| without(self.name, self.absence(cell)), |all| line(self.name, all));
        let made = SheetLine { bound_s: self.bound_s(cell), ..made };
        let is_hidden = |(run, value): &(&Totals, f64)| run.known(Some(*value)).is_none();
        match made.bound_s {
            Some(bound) if found.iter().any(is_hidden) => made.hidden(bound),
            _ => made,
        }
    }

    /// How far two clocks may put it off, seconds.
    fn bound_s(&self, cell: &Measured) -> Option<f64> {
        cell.delay_bound_s().filter(|_| self.kind == Kind::OneWay)
    }

    fn absence(&self, cell: &Measured) -> String {
        let clocks = cell.runs.iter().find_map(|run| run.clocks_apart.as_deref());
        match clocks.filter(|_| self.kind != Kind::Share) {
            Some(reason) => apart(reason),
            None => self.absent.to_owned(),
        }
    }
}

impl SheetLine {
    /// The same of delays of which one is smaller than two clocks are known to agree.
    pub(super) fn hidden(self, bound_s: f64) -> Self {
        let missing = Some(format!(
            "smaller in a pass than the clocks of both hosts are known to agree: {:.3} ms",
            bound_s * 1e3
        ));
        Self { value: None, interval: None, at_least: false, missing, ..self }
    }
}

/// Why nothing that is read on two clocks is known.
pub(super) fn apart(reason: &str) -> String {
    format!("the clocks of both hosts cannot be compared: {reason}")
}

impl Measured {
    /// A delay of one way over the passes; `None` where no run has it, or two clocks hide it in one.
    pub fn delay(&self, of: fn(&Totals) -> Option<f64>) -> Option<Estimate> {
        let line = Figure { name: "", of, kind: Kind::OneWay, absent: "" }.line(self);
        Some(Estimate { value: line.value?, interval: line.interval, passes: line.passes })
    }

    /// True where two clocks hide the delay of a byte in a pass.
    pub fn hides_window_delay(&self) -> bool {
        let is_hidden =
            |run: &Totals| run.window_delay.is_some() && run.known(run.window_delay).is_none();
        self.runs.iter().any(is_hidden)
    }

    /// The worst call of all passes; `None`, too, where two clocks hide that of one: it may be worse than those that are
    /// known.
    pub fn worst_call(&self) -> Option<Rating> {
        let rated = self.runs.iter().filter_map(|run| run.worst_call);
        rated.min_by(|a, b| a.r.total_cmp(&b.r)).filter(|_| !self.hides_call())
    }

    /// True where two clocks hide what a call would be worth in a pass.
    pub(super) fn hides_call(&self) -> bool {
        self.runs.iter().any(|run| run.hides_call)
    }

    /// A figure over the passes that no clock hides.
    pub fn over_passes(&self, of: fn(&Totals) -> Option<f64>) -> Option<Estimate> {
        mean(&self.runs.iter().filter_map(of).collect::<Vec<_>>())
    }

    /// How far its delays may be off, seconds.
    pub fn delay_bound_s(&self) -> Option<f64> {
        self.runs.iter().filter_map(|run| run.delay_bound).max_by(f64::total_cmp)
    }
}

const fn one_way(name: &'static str, of: fn(&Totals) -> Option<f64>) -> Figure {
    Figure { name, of, kind: Kind::OneWay, absent: NO_BLOCK }
}

const fn share(name: &'static str, of: fn(&Totals) -> Option<f64>) -> Figure {
    Figure { name, of, kind: Kind::Share, absent: "no datagram came" }
}

pub(super) static WINDOW: Figure = Figure {
    name: "window_delay_s",
    of: |run| run.window_delay,
    kind: Kind::OneWay,
    absent: "nothing came of what had a schedule",
};
pub(super) static DELAYS: [Figure; 6] = [
    one_way("delay_p50_s", |run| run.delay_p50),
    one_way("delay_p95_s", |run| run.delay_p95),
    one_way("delay_p99_s", |run| run.delay_p99),
    Figure {
        absent: "no block was due at a known time, or the journal is older than this figure",
        ..one_way("delay_p99_at_least_s", |run| run.delay_p99_at_least)
    },
    one_way("delay_p999_s", |run| run.delay_p999),
    Figure { kind: Kind::Difference, ..one_way("pdv_p99_s", |run| run.pdv_p99) },
];
pub(super) static SHARES: [Figure; 2] =
    [share("lost_share", |run| run.worst_loss), share("reordered_share", |run| run.reordered)];
const NO_BLOCK: &str = "no whole block arrived that was due at a known time";
