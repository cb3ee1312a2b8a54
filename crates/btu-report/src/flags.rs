//! Flags over the matrix: how many cells carry each, and which say something about a cell.

use std::collections::BTreeMap;

use btu_core::run::analysis::CellSummary;
use btu_core::sample::Flag;

/// Each flag, and the cells that carry it.
pub(crate) struct Flags<'a> {
    pub(crate) cells: BTreeMap<&'a str, Vec<&'a CellSummary>>,
}

impl<'a> Flags<'a> {
    pub(crate) fn of(cells: &'a [CellSummary]) -> Self {
        let mut flags = Self { cells: BTreeMap::new() };
        for cell in cells {
            for name in by_name(&cell.flags).into_keys() {
                flags.cells.entry(name).or_default().push(cell);
            }
        }
        flags
    }

    /// A flag that many cells carry says something about the run; one that few carry says
    /// something about those cells.
    pub(crate) fn is_of_few(&self, name: &str) -> bool {
        const FEW: usize = 12;
        self.cells.get(name).is_some_and(|cells| cells.len() <= FEW)
    }

    /// True for a cell that differs from most others by a flag.
    pub(crate) fn mark(&self, cell: &CellSummary) -> bool {
        cell.flags.iter().any(|flag| self.is_of_few(&flag.name))
    }
}

/// The sentences of each flag, each once.
pub(crate) fn by_name(flags: &[Flag]) -> BTreeMap<&str, Vec<&str>> {
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for flag in flags {
        let details = names.entry(&flag.name).or_default();
        if !details.contains(&flag.detail.as_str()) {
            details.push(&flag.detail);
        }
    }
    names
}
