//! Change points of known series, some of them as Apache Otava 0.8.0 finds them.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use rand_distr::Distribution;
use rand_distr::LogNormal;

use super::*;

const P: [f64; 10] = [100.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0, 101.0, 99.0, 100.0];
/// What Otava has unless it is told otherwise.
const OTAVA: ChangeRule =
    ChangeRule { p: 0.001, magnitude: 0.0, window: 50, values: Values::Plain };

fn moved(times: usize, by: f64) -> impl Iterator<Item = f64> {
    std::iter::repeat_n(P, times).flatten().map(move |value| value + by)
}

fn is_about(found: f64, want: f64, share: f64) -> bool {
    (found / want - 1.0).abs() < share
}

/// Otava: one point at 10, means 100 and 90, p 6.77e-14.
#[test]
fn a_step_of_a_tenth_is_found_where_otava_finds_it() {
    let values: Vec<f64> = moved(1, 0.0).chain(moved(1, -10.0)).collect();
    let [point] = change_points(&values, OTAVA)[..] else { panic!() };
    assert_eq!(point.at, 10);
    assert!(is_about(point.before, 100.0, 1e-12) && is_about(point.after, 90.0, 1e-12));
    assert!(is_about(point.p, 6.77e-14, 1e-3), "{point:?}");
}

/// Otava with windows of 30: at 30 by -3.0 %, p 3.34e-15, and at 60 by +3.0928 %, p 1.38e-12.
#[test]
fn a_step_down_and_up_again_are_found_where_otava_finds_them() {
    let values: Vec<f64> = moved(3, 0.0).chain(moved(3, -3.0)).chain(moved(2, 0.0)).collect();
    let [down, up] = change_points(&values, ChangeRule { window: 30, ..OTAVA })[..] else {
        panic!()
    };
    assert_eq!((down.at, up.at), (30, 60));
    assert!(
        is_about(down.after / down.before, 0.97, 1e-9)
            && is_about(up.after / up.before, 1.030_928, 1e-6)
    );
    assert!(is_about(down.p, 3.34e-15, 2e-3), "{down:?}");
    assert!(is_about(up.p, 1.38e-12, 3e-3), "{up:?}");
}

/// Nights of a log-normal figure with a deviation of 1.2 %, which falls by `step` at the 60th.
fn nights(step: f64, seed: u64) -> Vec<f64> {
    let mut chance = ChaCha12Rng::seed_from_u64(seed);
    let noise = LogNormal::new(100.0_f64.ln(), 0.012).unwrap();
    let night = |at: usize| noise.sample(&mut chance) * if at < 60 { 1.0 } else { 1.0 - step };
    (0..90).map(night).collect()
}

#[test]
fn a_step_among_nights_is_one_point_and_nights_without_a_step_have_none() {
    for rule in [OTAVA, ChangeRule::default()] {
        let found = change_points(&nights(0.03, 7), rule);
        let places: Vec<usize> = found.iter().map(|point| point.at).collect();
        assert_eq!(places, [60], "{rule:?}");
        assert!(change_points(&nights(0.0, 7), rule).is_empty(), "{rule:?}");
    }
}

#[test]
fn noise_alone_has_hardly_ever_a_point() {
    let found = (0..40)
        .filter(|seed| !change_points(&nights(0.0, 1000 + seed), ChangeRule::default()).is_empty());
    assert!(found.count() <= 1);
}

#[test]
fn a_change_that_is_sure_and_small_is_dropped() {
    let values: Vec<f64> = moved(3, 0.0).chain(moved(3, -3.0)).collect();
    assert_eq!(change_points(&values, OTAVA).len(), 1);
    assert!(change_points(&values, ChangeRule { magnitude: 0.05, ..OTAVA }).is_empty());
}

#[test]
fn few_values_and_equal_ones_have_no_point() {
    for values in [&[][..], &[1.0], &[1.0, 2.0], &[5.0; 60]] {
        assert!(change_points(values, ChangeRule::default()).is_empty(), "{values:?}");
    }
}
