//! What theory says of loads whose blocks are equal and come at random times.

use super::Analysis;
use super::Measured;
use crate::traffic::figures::delay;
use crate::traffic::plan::Group;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::Journal;
use crate::traffic::sample::RunSample;
use crate::traffic::trace::float;

impl Analysis {
    /// The mean delay by M/D/1 of a load of a sheet, seconds: the least delay of a block of any load, and what blocks wait
    /// for each other where the path needs the size of one by its rate for each. `None` from that rate on, and where two
    /// clocks hide the least delay.
    pub fn m_d_1(&self, journal: &Journal, load: &Measured) -> Option<f64> {
        let arrival = load.arrival?.value;
        let rho = self.rho(arrival)?;
        let service_s = block_bits(journal, load)? * rho / arrival;
        let waiting_s = delay::m_d_1(service_s, rho)? - service_s;
        let loads = self.group(Group::Load).flat_map(|load| flows(journal, load));
        let least = |flow: &FlowSample| flow.one_way(flow.figures.delay.map(|delay| delay.min_s));
        Some(loads.filter_map(least).min_by(f64::total_cmp)? + waiting_s)
    }
}

/// The size of a block of a cell, in the mean: all of a load are equal.
fn block_bits(journal: &Journal, cell: &Measured) -> Option<f64> {
    let figures = || flows(journal, cell).map(|flow| &flow.figures);
    let bits = figures().map(|figures| figures.arrived_bytes.bits()).sum();
    let blocks = figures().map(|figures| figures.blocks.due).sum();
    (blocks > 0).then(|| float(bits) / float(blocks))
}

fn flows<'a>(journal: &'a Journal, cell: &Measured) -> impl Iterator<Item = &'a FlowSample> {
    let id = cell.cell.id;
    journal.runs().filter(move |run| run.cell == id).flat_map(RunSample::flows)
}
