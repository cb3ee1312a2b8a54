//! Which cells are run again with capture, and for how long.

use std::collections::VecDeque;

use btu_core::run::analysis::AbnormalCell;
use btu_core::run::analysis::abnormal_cells;
use btu_core::run::cell::Cell;
use btu_core::run::plan::CaptureLimits;
use btu_core::run::plan::Captured;
use btu_core::run::plan::Plan;
use btu_core::units::Nanos;

use super::ledger::Ledger;

/// The second runs that are left.
#[derive(Debug)]
pub(super) struct Captures {
    due: VecDeque<AbnormalCell>,
    started: Nanos,
    budget: Nanos,
    made: u32,
}

impl Captures {
    /// What the plan wants, less what the journal holds already.
    pub(super) fn due(plan: &Plan, ledger: &Ledger, now: Nanos) -> Self {
        let CaptureLimits { cells, budget } = plan.capture_limits();
        let abnormal = || abnormal_cells(plan, ledger.records());
        let wanted = match plan.captured {
            Captured::None => Vec::new(),
            Captured::Abnormal => abnormal(),
            Captured::All => every_cell(plan, &abnormal()),
        };
        let due = wanted.into_iter().take(cells).filter(|one| !ledger.is_captured(&one.cell));
        Self { due: due.collect(), started: now, budget, made: 0 }
    }

    /// The next one and its number, unless the time is over.
    pub(super) fn next(&mut self, now: Nanos) -> Option<(u32, AbnormalCell)> {
        if now.since(self.started) > self.budget {
            return None;
        }
        let due = self.due.pop_front()?;
        self.made += 1;
        Some((self.made, due))
    }

    /// The most time that they still take.
    pub(super) fn time_left(&self, now: Nanos) -> Nanos {
        if self.due.is_empty() && self.made == 0 {
            return Nanos::ZERO;
        }
        self.budget.since(now.since(self.started))
    }

    /// Those that are due and were not started.
    pub(super) fn left(&self) -> impl Iterator<Item = &Cell> {
        self.due.iter().map(|one| &one.cell)
    }
}

/// Every cell of the plan; those that are abnormal say so.
fn every_cell(plan: &Plan, abnormal: &[AbnormalCell]) -> Vec<AbnormalCell> {
    let of = |cell| {
        let found = abnormal.iter().find(|one| one.cell == cell);
        found.cloned().unwrap_or(AbnormalCell { cell, why: Vec::new() })
    };
    plan.cells().into_iter().map(of).collect()
}
