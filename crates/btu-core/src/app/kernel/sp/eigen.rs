//! Changes of the unknowns at a point, to those in which the equations of an axis fall apart.
//!
//! Source: NASA report RNR-94-007, after Pulliam and Chaussee, 1981: the eigenvectors of the fluxes. `r` is a
//! right-hand side.

use std::f64::consts::FRAC_1_SQRT_2 as B;

use crate::app::kernel::flow::C1;
use crate::app::kernel::flow::C2;
use crate::app::kernel::flow::per_mass;
use crate::app::kernel::flow::pressure;

/// A state, as coefficients and eigenvectors ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Medium {
    /// 1/density.
    pub(super) volume: f64,
    pub(super) velocity: [f64; 3],
    /// Kinetic energy per mass.
    kinetic: f64,
    /// The speed of sound.
    pub(super) sound: f64,
}

impl Medium {
    /// The medium of a state.
    #[inline]
    pub(super) fn of(u: &[f64; 5]) -> Self {
        let [volume, x, y, z, _] = per_mass(u);
        let sound = (C1 * pressure(u) * volume).sqrt();
        Self { volume, velocity: [x, y, z], kinetic: 0.5 * (x * x + y * y + z * z), sound }
    }

    /// From changes of the state to the unknowns of x.
    #[inline]
    pub(super) fn state_to_x(&self, r: &[f64; 5]) -> [f64; 5] {
        let ([x, y, z], volume) = (self.velocity, self.volume);
        let work = self.kinetic * r[0] - x * r[1] - y * r[2] - z * r[3] + r[4];
        let t1 = C2 / (self.sound * self.sound) * work;
        let t2 = B * volume * (x * r[0] - r[1]);
        let t3 = B * volume * self.sound * t1;
        [r[0] - t1, volume * (r[3] - z * r[0]), volume * (y * r[0] - r[2]), t3 - t2, t2 + t3]
    }

    /// From the unknowns of z to changes of the state.
    #[inline]
    pub(super) fn z_to_state(&self, r: &[f64; 5]) -> [f64; 5] {
        let ([x, y, z], density) = (self.velocity, 1.0 / self.volume);
        let t1 = B * density / self.sound * (r[3] + r[4]);
        let t2 = r[2] + t1;
        let t3 = B * density * (r[3] - r[4]);
        let energy = density * (y * r[0] - x * r[1])
            + self.kinetic * t2
            + self.sound * self.sound / C2 * t1
            + z * t3;
        [t2, x * t2 - density * r[1], y * t2 + density * r[0], z * t2 + t3, energy]
    }
}

/// From the unknowns of x to those of y.
#[inline]
pub(super) fn x_to_y(r: &[f64; 5]) -> [f64; 5] {
    let (t1, t2) = (B * r[2], 0.5 * (r[3] + r[4]));
    [-r[1], r[0], B * (r[3] - r[4]), t2 - t1, t1 + t2]
}

/// From the unknowns of y to those of z.
#[inline]
pub(super) fn y_to_z(r: &[f64; 5]) -> [f64; 5] {
    let (t1, t2) = (B * r[0], 0.5 * (r[3] + r[4]));
    [B * (r[3] - r[4]), -r[2], r[1], t2 - t1, t1 + t2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_changes_one_after_the_other_change_nothing() {
        let medium = Medium::of(&[1.5, 0.3, -0.7, 1.1, 6.0]);
        let change = [0.1, -0.4, 0.5, 0.2, -0.3];
        let again = medium.z_to_state(&y_to_z(&x_to_y(&medium.state_to_x(&change))));
        for (found, right) in again.iter().zip(change) {
            assert!((found - right).abs() < 1e-14, "{again:?}");
        }
    }
}
