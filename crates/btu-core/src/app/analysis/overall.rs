//! The layers beside each other, over all programs.

use super::ProgramFigures;
use super::job;
use super::job::JobFigures;
use super::job::Ratio;
use crate::stats::geometric_mean;

/// A layer over all programs.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerFigures {
    /// Which.
    pub layer: String,
    /// In how many programs it is the fastest.
    pub fastest_in: usize,
    /// Of so many that are compared.
    pub programs: usize,
    /// How much longer programs take than over the fastest layer, in the geometric mean; `None` over that one, and where
    /// no round has both.
    pub ratio: Option<Ratio>,
}

/// Each layer, the one over which programs are fastest in the geometric mean before the others.
///
/// Of programs alone that have times over every layer, since another one would be in some means and not in others, and
/// more than one rank, which passes nothing.
pub(super) fn layers(programs: &[ProgramFigures]) -> Vec<LayerFigures> {
    let timed = |job: &JobFigures| job.elapsed.is_some();
    let is_compared = |one: &&ProgramFigures| one.program.ranks > 1 && one.jobs.iter().all(timed);
    let everywhere: Vec<&ProgramFigures> = programs.iter().filter(is_compared).collect();
    let Some(first) = everywhere.first() else { return Vec::new() };
    let mut layers: Vec<(usize, f64)> = (0..first.jobs.len())
        .filter_map(|place| Some((place, mean_s(&everywhere, place)?)))
        .collect();
    layers.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let Some((base, _)) = layers.first().copied() else { return Vec::new() };
    let figures = |(place, _): (usize, f64)| {
        let layer = first.jobs[place].job.layer.clone();
        let is_it = |program: &&&ProgramFigures| {
            program.fastest().is_some_and(|job| job.job.layer == layer)
        };
        LayerFigures {
            fastest_in: everywhere.iter().filter(is_it).count(),
            programs: everywhere.len(),
            ratio: (place != base).then(|| ratio(&everywhere, place, base)).flatten(),
            layer,
        }
    };
    layers.into_iter().map(figures).collect()
}

/// The geometric mean of the medians over the layer at a place.
fn mean_s(programs: &[&ProgramFigures], place: usize) -> Option<f64> {
    let medians = programs.iter().map(|program| Some(program.jobs[place].elapsed?.median_s));
    geometric_mean(&medians.collect::<Option<Vec<f64>>>()?)
}

/// A value for each round in which every program has both times: the geometric mean over them.
fn ratio(programs: &[&ProgramFigures], place: usize, base: usize) -> Option<Ratio> {
    let first = &programs.first()?.jobs[base];
    let rounds = first.launches.iter().map(|launch| launch.round);
    let in_round = |round: u32| {
        let of = |program: &&ProgramFigures| {
            Some(program.jobs[place].in_round(round)? / program.jobs[base].in_round(round)?)
        };
        let ratios: Option<Vec<f64>> = programs.iter().map(of).collect();
        geometric_mean(&ratios?)
    };
    job::ratio_of(&first.job.layer, &rounds.filter_map(in_round).collect::<Vec<f64>>())
}
