//! What a point gives to its neighbours along an axis, and the derivatives of that.
//!
//! Axis 0, 1, 2 is x, y, z; component `AXIS + 1` of a state is the momentum along it.

use super::Block;
use super::C1;
use super::C2;
use super::CONDUCTION;
use super::DIFFUSION;
use super::DISSIPATION;
use super::HALO;
use super::Mesh;
use super::VISCOSITY;
use super::operator::flux;
use super::operator::per_mass;
use super::operator::viscous;

/// The factors of a grid: of first, second and fourth differences, all times the time step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scheme {
    /// dt / (2 h).
    pub(crate) first: f64,
    /// dt / h^2.
    pub(crate) second: f64,
    /// dt times the artificial dissipation.
    pub(crate) fourth: f64,
}

/// What a point contributes to its two neighbours on an axis, and takes from itself.
///
/// With these, central differences along an axis are a sum: previous(i+1) + next(i-1) - previous(i) - next(i).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Given<T> {
    /// To the point with the higher coordinate.
    pub(crate) next: T,
    /// To the one with the lower.
    pub(crate) previous: T,
}

impl Scheme {
    /// The factors of a mesh for a time step.
    pub(crate) fn new(mesh: Mesh, time_step: f64) -> Self {
        let per_spacing = mesh.per_spacing();
        Self {
            first: time_step * per_spacing / 2.0,
            second: time_step * per_spacing * per_spacing,
            fourth: time_step * DISSIPATION,
        }
    }

    /// The weights of the fourth difference at a coordinate of a block; those of points outside the grid are 0.
    pub(crate) fn damping(&self, block: &Block, axis: usize, at: usize) -> [f64; 5] {
        let index = block.first(axis) + at - HALO;
        block.mesh.damping(index).map(|weight| weight * self.fourth)
    }

    /// What a point gives along an axis, but for the fourth difference.
    #[inline]
    pub(crate) fn given<const AXIS: usize>(&self, u: &[f64; 5]) -> Given<[f64; 5]> {
        let w = per_mass(u);
        let (flux, viscous) = (flux::<AXIS>(u, &w), viscous::<AXIS>(&w));
        let (mut next, mut previous) = ([0.0; 5], [0.0; 5]);
        for m in 0..5 {
            let spread = self.second * (viscous[m] + DIFFUSION[AXIS] * u[m]);
            let carried = self.first * flux[m];
            next[m] = spread + carried;
            previous[m] = spread - carried;
        }
        Given { next, previous }
    }

    /// The derivatives of [`Scheme::given`] by the state: rows are components, columns what they are derived by.
    #[inline]
    pub(crate) fn given_jacobian<const AXIS: usize>(&self, u: &[f64; 5]) -> Given<[[f64; 5]; 5]> {
        let w = per_mass(u);
        let (flux, viscous) = (flux_jacobian::<AXIS>(&w), viscous_jacobian::<AXIS>(&w));
        let (mut next, mut previous) = ([[0.0; 5]; 5], [[0.0; 5]; 5]);
        for m in 0..5 {
            for by in 0..5 {
                let diffusion = if m == by { DIFFUSION[AXIS] } else { 0.0 };
                let spread = self.second * (viscous[m][by] + diffusion);
                let carried = self.first * flux[m][by];
                next[m][by] = spread + carried;
                previous[m][by] = spread - carried;
            }
        }
        Given { next, previous }
    }
}

/// The derivatives of the flux; `w` is the state by [`per_mass`].
#[inline]
fn flux_jacobian<const AXIS: usize>(w: &[f64; 5]) -> [[f64; 5]; 5] {
    let (velocity, energy) = (w[AXIS + 1], C1 * w[4]);
    let kinetic = C2 * 0.5 * (w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
    let mut by = [[0.0; 5]; 5];
    by[0][AXIS + 1] = 1.0;
    by[4][0] = velocity * (2.0 * kinetic - energy);
    by[4][4] = C1 * velocity;
    for m in 1..4 {
        by[m][0] = -w[m] * velocity;
        by[m][m] += velocity;
        by[m][AXIS + 1] += w[m];
        by[AXIS + 1][m] -= C2 * w[m];
        by[4][m] = -C2 * w[m] * velocity;
    }
    by[AXIS + 1][0] += kinetic;
    by[AXIS + 1][4] = C2;
    by[4][AXIS + 1] += energy - kinetic;
    by
}

/// The derivatives of the viscous term.
#[inline]
fn viscous_jacobian<const AXIS: usize>(w: &[f64; 5]) -> [[f64; 5]; 5] {
    let scale = VISCOSITY * w[0];
    let squares = w[1] * w[1] + w[2] * w[2] + w[3] * w[3];
    let normal = w[AXIS + 1];
    let heat = (1.0 - CONDUCTION) * squares + normal * normal / 3.0 + CONDUCTION * w[4];
    let mut by = [[0.0; 5]; 5];
    by[4][0] = -scale * heat;
    by[4][4] = scale * CONDUCTION;
    for m in 1..4 {
        let share = if m == AXIS + 1 { 4.0 / 3.0 } else { 1.0 };
        by[m][0] = -scale * share * w[m];
        by[m][m] = scale * share;
        by[4][m] = scale * (share - CONDUCTION) * w[m];
    }
    by
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jacobians_are_the_limits_of_difference_quotients() {
        is_derivative::<0>();
        is_derivative::<1>();
        is_derivative::<2>();
    }

    fn is_derivative<const AXIS: usize>() {
        let scheme = Scheme::new(Mesh::new(12), 0.01);
        let u = [1.5, 0.3, -0.7, 1.1, 6.0];
        let jacobian = scheme.given_jacobian::<AXIS>(&u);
        for by in 0..5 {
            let given = |change: f64| {
                let mut u = u;
                u[by] += change;
                scheme.given::<AXIS>(&u)
            };
            let (more, less) = (given(1e-5), given(-1e-5));
            for m in 0..5 {
                let next = (more.next[m] - less.next[m]) / 2e-5;
                let previous = (more.previous[m] - less.previous[m]) / 2e-5;
                assert!((next - jacobian.next[m][by]).abs() < 1e-8, "{AXIS}: {m} by {by}");
                assert!((previous - jacobian.previous[m][by]).abs() < 1e-8, "{AXIS}: {m} by {by}");
            }
        }
    }
}
