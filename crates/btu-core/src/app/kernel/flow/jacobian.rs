//! The derivatives of the operator, which implicit methods solve for.

use super::C1;
use super::C2;
use super::CONDUCTION;
use super::VISCOSITY;

/// How flux and viscous term of an axis change where the state changes by `v`: the products F' v and n' v.
///
/// Most of the 25 elements of either matrix are zero or follow from others, so the products take fewer operations than
/// the matrices. `w` is the state by [`super::per_mass`].
#[inline]
pub(crate) fn change<const AXIS: usize>(w: &[f64; 5], v: &[f64; 5]) -> ([f64; 5], [f64; 5]) {
    let [volume, x, y, z, energy] = *w;
    let velocity = w[AXIS + 1];
    // Momentum that changes beyond what density carries with it: density times the change of velocity.
    let [dx, dy, dz] = [v[1] - x * v[0], v[2] - y * v[0], v[3] - z * v[0]];
    let normal = [dx, dy, dz][AXIS];
    let kinetic = 0.5 * (x * x + y * y + z * z);
    let work = x * dx + y * dy + z * dz;
    let dq = work + kinetic * v[0];

    let mut flux = [
        v[AXIS + 1],
        v[1] * velocity + x * normal,
        v[2] * velocity + y * normal,
        v[3] * velocity + z * normal,
        (C1 * v[4] - C2 * dq) * velocity + (C1 * energy - C2 * kinetic) * normal,
    ];
    flux[AXIS + 1] += C2 * (v[4] - dq);

    let k = VISCOSITY * volume;
    let heat =
        (1.0 - CONDUCTION) * work + velocity * normal / 3.0 + CONDUCTION * (v[4] - energy * v[0]);
    let mut viscous = [0.0, k * dx, k * dy, k * dz, k * heat];
    viscous[AXIS + 1] *= 4.0 / 3.0;
    (flux, viscous)
}

#[cfg(test)]
mod tests {
    use std::array::from_fn;

    use super::super::operator::flux;
    use super::super::operator::per_mass;
    use super::super::operator::viscous;
    use super::*;

    const STATE: [f64; 5] = [2.0, 0.7, -1.1, 0.4, 5.0];
    const CHANGE: [f64; 5] = [0.3, -0.2, 0.5, 1.1, -0.9];

    /// The difference quotient of a function of the state, in the direction of [`CHANGE`].
    fn quotient(function: impl Fn(&[f64; 5]) -> [f64; 5]) -> [f64; 5] {
        const STEP: f64 = 1e-5;
        let at = |step: f64| function(&from_fn(|m| STATE[m] + step * CHANGE[m]));
        let (before, behind) = (at(-STEP), at(STEP));
        from_fn(|m| (behind[m] - before[m]) / (2.0 * STEP))
    }

    fn assert_derivative<const AXIS: usize>() {
        let (carried, spread) = change::<AXIS>(&per_mass(&STATE), &CHANGE);
        let flux = quotient(|u| flux::<AXIS>(u, &per_mass(u)));
        let viscous = quotient(|u| viscous::<AXIS>(&per_mass(u)));
        for m in 0..5 {
            assert!((carried[m] - flux[m]).abs() < 1e-8, "axis {AXIS}: {carried:?}, {flux:?}");
            assert!((spread[m] - viscous[m]).abs() < 1e-8, "axis {AXIS}: {spread:?}, {viscous:?}");
        }
    }

    #[test]
    fn the_change_is_the_derivative_of_flux_and_viscous_term() {
        assert_derivative::<0>();
        assert_derivative::<1>();
        assert_derivative::<2>();
    }
}
