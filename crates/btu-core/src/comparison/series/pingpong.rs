//! A ping-pong by round: the time of each block size over each configuration.

use super::Better;
use super::ByRound;
use super::Series;
use super::part;
use crate::pingpong::analysis::Analysis;
use crate::pingpong::analysis::Measured;

impl ByRound {
    /// A ping-pong; whatever its curves are drawn of, a round is its median.
    pub fn of_pingpong(analysis: &Analysis) -> Self {
        let curves = analysis.curves.iter().chain(&analysis.reference);
        Self {
            series: curves.flat_map(times).collect(),
            rules: &["path"],
            legal: "size.CONFIGURATION/BYTES.time",
        }
    }
}

fn times(curve: &Measured) -> impl Iterator<Item = Series> {
    let label = part(&curve.label);
    curve.points.iter().filter_map(move |point| {
        let figure = format!("size.{label}/{}.time", point.size.count());
        Series::of(figure, "us", Better::Lower, point.rounds_us.clone())
    })
}
