//! A run by pass: every figure that two runs are compared by.

use super::super::MEASURES;
use super::super::Measure;
use super::super::NAMES_OF_A_RUN;
use super::super::Part;
use super::super::Passes;
use super::Better;
use super::ByRound;
use super::Series;
use crate::run::analysis::Analysis;

impl ByRound {
    /// A run; where none of its passes is whole, all of it is one.
    pub fn of_run(analysis: &Analysis) -> Self {
        let passes = Passes::of(analysis);
        let parts = std::iter::once(Part::Whole).chain(passes.parts());
        let figures = parts.flat_map(|part| MEASURES.map(|measure| (part.clone(), measure)));
        let cells = passes.cells().into_iter().map(|cell| (Part::Cell(cell), Measure::Btu));
        let series = figures.chain(cells).filter_map(|(part, measure)| {
            let (unit, better) = measure.unit();
            Series::of(part.figure(measure), unit, better, passes.composites(&part, measure))
        });
        Self { series: series.collect(), rules: &[], legal: NAMES_OF_A_RUN }
    }
}

impl Measure {
    const fn unit(self) -> (&'static str, Better) {
        match self {
            Self::Btu | Self::Idle => ("Mb/s", Better::Higher),
            Self::Penalty => ("times", Better::Lower),
        }
    }
}
