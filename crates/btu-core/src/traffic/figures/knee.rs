//! The knee: where a path stops carrying what it is offered, and whether what was measured has one.

use crate::stats::LEAST_PASSES;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;
use statrs::distribution::ContinuousCDF;
use statrs::distribution::FisherSnedecor;

use crate::stats;
use crate::stats::Interval;
use crate::stats::student_on_logs;

/// One measurement: offered load a and what was carried of it, both in bit/s, in a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loaded {
    /// The number of the pass; each pass has every load once.
    pub pass: u32,
    /// The load that was asked for: which measurements repeat each other.
    pub cell: u32,
    /// a, as drawn.
    pub offered: f64,
    /// d, and what was under way at the end for no other reason than the length of the path: below the
    /// knee it is a.
    pub carried: f64,
}

/// c(a) = min(a, mu), fitted: c is what was carried of a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    /// mu, the one parameter: the rate of the path and the load at the knee, bit/s.
    pub knee: f64,
    /// The 95 % interval of mu: Student's t on the logarithms of the knees of the whole passes; `None` below 3 of
    /// them, and where one has no knee of its own: what the others have in common would be a choice.
    pub interval: Option<Interval>,
    /// How many whole passes have a knee of their own.
    pub passes: usize,
    /// How many whole passes there are: those with every load.
    pub made: usize,
    /// Whether the points lie on a hinge.
    pub shape: Shape,
}

/// Whether the points lie on a hinge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// As far as repeats can tell.
    Hinge,
    /// They differ from it by more than repeats from each other: a policer, a collapse, a queue
    /// manager, or a path whose rate depends on its load.
    NotAHinge {
        /// The chance of so large a difference on a hinge.
        p: f64,
    },
    /// Without repeats nobody can tell.
    Unknown,
}

/// Fits the hinge. `None` where no load was above the knee, or none below it, in all passes together or in
/// more than half of the whole ones: a path that never saturates has a dip here and there. A run that carried
/// nothing has no logarithm and says nothing of the rate of a path; its pass is no whole one.
pub fn hinge(points: &[Loaded]) -> Option<Hinge> {
    let is_usable = |point: &&Loaded| point.offered > 0.0 && point.carried > 0.0;
    let usable: Vec<Loaded> = points.iter().filter(is_usable).copied().collect();
    let points = usable.as_slice();
    let knee = fit(points)?;
    let whole = whole_passes(points);
    let knees: Vec<f64> = whole.iter().filter_map(|pass| fit(pass)).collect();
    let (passes, made) = (knees.len(), whole.len());
    if 2 * passes < made {
        return None;
    }
    let interval = student_on_logs(&knees).filter(|_| passes >= LEAST_PASSES && passes == made);
    Some(Hinge { knee, interval, passes, made, shape: shape(points, knee) })
}

/// The points of each pass that has every load: one that was cut short is no block of the design.
fn whole_passes(points: &[Loaded]) -> Vec<Vec<Loaded>> {
    let numbers = |of: fn(&Loaded) -> u32| -> BTreeSet<u32> { points.iter().map(of).collect() };
    let loads = numbers(|point| point.cell);
    let passes = numbers(|point| point.pass).into_iter().map(|pass| {
        points.iter().filter(|point| point.pass == pass).copied().collect::<Vec<Loaded>>()
    });
    let is_whole = |pass: &Vec<Loaded>| {
        pass.iter().map(|point| point.cell).collect::<BTreeSet<u32>>().len() == loads.len()
    };
    passes.filter(is_whole).collect()
}

/// The mu with the least squares of ln c - ln min(a, mu). Between two neighbouring loads the best mu
/// is the geometric mean of what was carried above; so there are as many candidates as loads.
fn fit(points: &[Loaded]) -> Option<f64> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.offered.total_cmp(&b.offered));
    let candidate = |from: usize| {
        let above = &sorted[from..];
        let mean = above.iter().map(|p| p.carried.ln()).sum::<f64>() / stats::count(above.len());
        // A knee beyond its own range is drawn back to it.
        let least =
            from.checked_sub(1).map_or(f64::NEG_INFINITY, |below| sorted[below].offered.ln());
        mean.max(least).min(above[0].offered.ln()).exp()
    };
    let error = |knee: f64| -> f64 { sorted.iter().map(|p| residual(p, knee).powi(2)).sum() };
    let best = (0..sorted.len()).map(candidate).min_by(|a, b| error(*a).total_cmp(&error(*b)))?;
    let above = sorted.iter().filter(|p| p.offered > best * BEYOND).count();
    (above > 0 && above < sorted.len()).then_some(best)
}

fn residual(point: &Loaded, knee: f64) -> f64 {
    point.carried.ln() - point.offered.min(knee).ln()
}

/// The lack-of-fit test: what the means of repeats miss the hinge by, against what repeats miss their
/// means by (Draper and Smith, "Applied Regression Analysis", 3rd edition, 1998, section 2.1).
///
/// Loads below the knee often repeat to the digit, so a spread below a thousandth counts as one: what
/// differs by less is nobody's concern. Nor is a difference that repeats tell from chance and that is a part
/// of a percent: the last block of a run was read after its end, or a header more was sent.
fn shape(points: &[Loaded], knee: f64) -> Shape {
    let mut cells: Vec<u32> = points.iter().map(|point| point.cell).collect();
    cells.sort_unstable();
    cells.dedup();
    let (mut misfit, mut spread, mut repeats) = (0.0, 0.0, 0);
    for cell in &cells {
        let own: Vec<f64> =
            points.iter().filter(|p| p.cell == *cell).map(|p| residual(p, knee)).collect();
        let n = stats::count(own.len());
        let mean = own.iter().sum::<f64>() / n;
        misfit += n * mean * mean;
        spread += own.iter().map(|value| (value - mean).powi(2) + FLOOR * FLOOR).sum::<f64>();
        repeats += own.len() - 1;
    }
    if repeats < 2 || cells.len() < 3 {
        return Shape::Unknown;
    }
    let (freedom, within) = (stats::count(cells.len() - 1), stats::count(repeats));
    let ratio = (misfit / freedom) / (spread / within);
    if (misfit / stats::count(points.len())).sqrt() < MATTERS {
        return Shape::Hinge;
    }
    match FisherSnedecor::new(freedom, within) {
        Ok(f) => {
            let p = f.sf(ratio);
            if p < SIGNIFICANT { Shape::NotAHinge { p } } else { Shape::Hinge }
        }
        Err(_) => Shape::Unknown,
    }
}

/// What is offered beyond so much more than is carried was not carried; closer loads tell noise from nothing.
pub(crate) const BEYOND: f64 = 1.02;
/// The chance of calling a hinge something else.
const SIGNIFICANT: f64 = 0.01;
/// What the loads together (root mean square) miss a hinge by where that says anything of the path.
const MATTERS: f64 = 0.01;
/// Relative spread that no measurement goes below.
const FLOOR: f64 = 0.001;

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;
    use rand_distr::Distribution;
    use rand_distr::Exp;
    use rand_distr::Normal;

    use super::*;
    use crate::traffic::figures::flow::Figures;
    use crate::traffic::figures::flow::rounded;
    use crate::traffic::sending::burst::Block;
    use crate::traffic::sending::burst::Discipline;
    use crate::traffic::simulated::Line;
    use crate::units::Bytes;
    use crate::units::Nanos;

    const MU: f64 = 1.7e6;
    const LOADS: [f64; 10] = [0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.1, 1.4, 2.0, 4.0];

    /// Five passes over a system with noise of 2 %.
    fn measured(seed: u64, system: impl Fn(f64) -> f64) -> Vec<Loaded> {
        in_passes(5, seed, system)
    }

    fn in_passes(passes: u32, seed: u64, system: impl Fn(f64) -> f64) -> Vec<Loaded> {
        let mut chance = ChaCha12Rng::seed_from_u64(seed);
        let noise = Normal::new(0.0, 0.02).unwrap();
        let mut points = Vec::new();
        for pass in 1..=passes {
            for (cell, load) in (1..).zip(LOADS) {
                let offered = load * MU;
                let carried = system(offered) * f64::exp(noise.sample(&mut chance));
                points.push(Loaded { pass, cell, offered, carried });
            }
        }
        points
    }

    fn shapes(system: impl Fn(f64) -> f64) -> (usize, usize) {
        let mut counts = (0, 0);
        for seed in 0..200 {
            let Some(found) = hinge(&measured(seed, &system)) else { continue };
            counts.0 += usize::from((found.knee / MU - 1.0).abs() < 0.03);
            counts.1 += usize::from(matches!(found.shape, Shape::NotAHinge { .. }));
        }
        counts
    }

    #[test]
    fn t11_the_knee_of_a_hinge_is_found_and_called_one() {
        let (near, refused) = shapes(|offered| offered.min(MU));
        assert!(near >= 190 && refused <= 10, "{near} {refused}");
    }

    /// A policer and what it does to TCP (departure falls above the rate), a rate that saturates
    /// slowly, a queue manager that holds back below the rate.
    #[test]
    fn t11_what_is_no_hinge_is_said_to_be_none() {
        let systems: [fn(f64) -> f64; 3] = [
            |offered| if offered > MU { MU * (MU / offered).powf(0.3) } else { offered },
            |offered| 1.0 / (1.0 / offered + 1.0 / MU),
            |offered| offered.min(MU) * (1.0 - 0.15 * (offered / MU).min(1.0)),
        ];
        for system in systems {
            let (_, refused) = shapes(system);
            assert!(refused >= 190, "{refused}");
        }
    }

    /// Repeats that agree to the digit would tell a thousandth from nothing.
    #[test]
    fn t11_less_than_anybody_would_notice_is_still_a_hinge() {
        let missing = |share: f64| {
            let points: Vec<Loaded> = (1..=5)
                .flat_map(|pass| (1..).zip(LOADS).map(move |(cell, load)| (pass, cell, load)))
                .map(|(pass, cell, load)| {
                    let offered = load * MU;
                    let carried = offered.min(MU) * (1.0 - share * f64::from(cell % 2));
                    Loaded { pass, cell, offered, carried }
                })
                .collect();
            hinge(&points).unwrap().shape
        };
        assert_eq!(missing(0.005), Shape::Hinge);
        assert!(matches!(missing(0.05), Shape::NotAHinge { .. }));
    }

    /// The interval of the knee covers the true one in about 95 % of 200 seeds, of three passes as of five: it is
    /// wider, not wrong (decision 95).
    #[test]
    fn t11_the_interval_of_the_knee_covers_it() {
        for passes in [3, 4, 5] {
            let intervals: Vec<Interval> = (0..200)
                .filter_map(|seed| {
                    hinge(&in_passes(passes, seed, |offered| offered.min(MU)))?.interval
                })
                .collect();
            let covered = intervals.iter().filter(|interval| interval.contains(MU)).count();
            assert!(intervals.len() == 200 && covered >= 180, "{passes}: {covered}");
        }
    }

    /// A pass without its highest loads has no knee, and one that was cut short no place in the interval.
    #[test]
    fn an_interval_is_of_whole_passes_which_all_have_a_knee() {
        let all = measured(1, |offered| offered.min(MU));
        let whole = hinge(&all).unwrap();
        assert_eq!((whole.passes, whole.made), (5, 5));
        let torn: Vec<Loaded> =
            all.iter().filter(|p| p.pass < 5 || p.offered < MU).copied().collect();
        let found = hinge(&torn).unwrap();
        assert_eq!((found.passes, found.made), (4, 4));
        assert!(found.interval.is_some());
        let calm: Vec<Loaded> = all
            .iter()
            .map(|p| Loaded { carried: if p.pass < 5 { p.carried } else { p.offered }, ..*p })
            .collect();
        let found = hinge(&calm).unwrap();
        assert_eq!((found.passes, found.made, found.interval), (4, 5, None));
        assert_eq!(hinge(&all[..LOADS.len() * 2]).unwrap().interval, None);
    }

    /// A host that stood still for the time of a run: what the others say of the path stays as it is.
    #[test]
    fn a_run_that_carried_nothing_is_no_point_of_the_hinge() {
        for passes in [3, 5] {
            for at in [0, 4, LOADS.len() - 1] {
                let mut points = in_passes(passes, 1, |offered| offered.min(MU));
                points[at].carried = 0.0;
                let found = hinge(&points).unwrap();
                assert!((found.knee / MU - 1.0).abs() < 0.03, "{found:?}");
                assert_eq!(found.shape, Shape::Hinge);
                let whole = usize::try_from(passes - 1).unwrap();
                assert_eq!((found.passes, found.made), (whole, whole));
                points[at].offered = 0.0;
                assert_eq!(hinge(&points), Some(found));
            }
        }
    }

    /// What was offered is carried, with noise of half a percent, as of a clock or of a last block that was
    /// read late.
    #[test]
    fn t11_a_path_that_never_saturates_has_no_knee() {
        let calm = |seed| {
            let mut points = measured(seed, |offered| offered);
            for point in &mut points {
                point.carried = point.offered * (point.carried / point.offered).powf(0.25);
            }
            hinge(&points)
        };
        assert_eq!((0..200).filter_map(calm).count(), 0);
        // With 2 % a dip at the last load is now and then one of most passes.
        let rough = (0..200).filter_map(|seed| hinge(&measured(seed, |offered| offered)));
        assert!(rough.count() <= 10);
    }

    /// Three passes of random arrivals for 2 s over a path of some length, with what `carried` makes of each.
    fn over(line: Line, loads: &[f64], seed: u64, carried: fn(&Figures) -> f64) -> Vec<Loaded> {
        let (mut chance, time) = (ChaCha12Rng::seed_from_u64(seed), Nanos::from_secs(2));
        let mut points = Vec::new();
        for pass in 1..=3 {
            for (cell, load) in (1..).zip(loads) {
                let gap = Exp::new(load / (1448.0 * 8.0)).unwrap();
                let mut at = 0.0;
                let blocks = std::iter::repeat_with(|| {
                    at += gap.sample(&mut chance);
                    Block { due: Nanos::new(rounded(at * 1e9)), size: Bytes::new(1448) }
                });
                let train: Vec<Block> = blocks.take_while(|block| block.due < time).collect();
                let figures = Figures::of(&line.carry(&train, time, Discipline::Queue));
                let offered = figures.arrival_rate_bit_s;
                points.push(Loaded { pass, cell, offered, carried: carried(&figures) });
            }
        }
        points
    }

    /// What is under way at T was carried, too.
    #[test]
    fn t11_a_long_path_has_the_same_knee_and_none_where_it_never_saturates() {
        let long = |rate| {
            Line::new(rate).with_buffer(Bytes::new(65_536)).with_length(Nanos::from_millis(50))
        };
        let around = [0.25, 0.7, 0.9, 1.1, 1.5, 2.0].map(|share| share * 5e6);
        let (mut refused, mut by_departure) = (0, 0);
        for seed in 0..20 {
            let found = hinge(&over(long(5e6), &around, seed, Figures::carried)).unwrap();
            assert!((found.knee / 5e6 - 1.0).abs() < 0.01, "seed {seed}: {found:?}");
            refused += usize::from(found.shape != Shape::Hinge);
            let departed = over(long(5e6), &around, seed, |figures| figures.departure_rate_bit_s);
            by_departure += usize::from(hinge(&departed).is_some_and(|h| h.shape != Shape::Hinge));
        }
        assert!(refused <= 1 && by_departure >= 18, "{refused} {by_departure}");
        let below = [0.1, 0.2, 0.3, 0.4].map(|share| share * 10e6);
        assert_eq!(hinge(&over(long(10e6), &below, 7, Figures::carried)), None);
        assert!(hinge(&over(long(10e6), &below, 7, |f| f.departure_rate_bit_s)).is_some());
    }

    #[test]
    fn a_knee_of_fewer_than_half_of_the_passes_is_none() {
        let point = |pass, load: f64, mu: f64| Loaded {
            pass,
            cell: if load < 1.0 { 1 } else { 2 },
            offered: load * MU,
            carried: (load * MU).min(mu),
        };
        let passes = |saturated: u32| -> Vec<Loaded> {
            let mu = |pass| if pass <= saturated { MU } else { 9.0 * MU };
            (1..=5).flat_map(|pass| [0.5, 2.0].map(|load| point(pass, load, mu(pass)))).collect()
        };
        assert_eq!(hinge(&passes(2)), None);
        let found = hinge(&passes(3)).unwrap();
        assert_eq!((found.passes, found.made), (3, 5));
    }

    #[test]
    fn without_a_load_on_both_sides_there_is_no_knee() {
        let one = |offered: f64| Loaded { pass: 1, cell: 1, offered, carried: offered.min(MU) };
        assert_eq!(hinge(&[one(1e5), one(1e6)]), None);
        assert_eq!(hinge(&[one(3e6), one(4e6)]), None);
        assert_eq!(hinge(&[]), None);
        let found = hinge(&[one(1e5), one(1e6), one(4e6)]).unwrap();
        assert_eq!((found.shape, found.interval), (Shape::Unknown, None));
        assert!((found.knee / MU - 1.0).abs() < 1e-9);
    }
}
