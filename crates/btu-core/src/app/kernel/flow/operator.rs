//! What flows and spreads along an axis at one point.

use super::C1;
use super::C2;
use super::CONDUCTION;
use super::VISCOSITY;

/// What every term asks for, divided by density: 1/density, velocity in x, y and z, energy per mass.
#[inline]
pub(crate) fn per_mass(u: &[f64; 5]) -> [f64; 5] {
    let volume = 1.0 / u[0];
    [volume, u[1] * volume, u[2] * volume, u[3] * volume, u[4] * volume]
}

/// The pressure: c2 (u5 - q).
#[inline]
pub(crate) fn pressure(u: &[f64; 5]) -> f64 {
    C2 * (u[4] - 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0])
}

/// What the flow carries along an axis.
#[inline]
pub(crate) fn flux<const AXIS: usize>(u: &[f64; 5], w: &[f64; 5]) -> [f64; 5] {
    let velocity = w[AXIS + 1];
    let q = 0.5 * (u[1] * w[1] + u[2] * w[2] + u[3] * w[3]);
    let mut flux = [
        u[AXIS + 1],
        u[1] * velocity,
        u[2] * velocity,
        u[3] * velocity,
        (C1 * u[4] - C2 * q) * velocity,
    ];
    flux[AXIS + 1] += C2 * (u[4] - q);
    flux
}

/// What viscosity and conduction spread along an axis.
#[inline]
pub(crate) fn viscous<const AXIS: usize>(w: &[f64; 5]) -> [f64; 5] {
    let square = w[1] * w[1] + w[2] * w[2] + w[3] * w[3];
    let normal = w[AXIS + 1];
    let heat = 0.5 * (1.0 - CONDUCTION) * square + normal * normal / 6.0 + CONDUCTION * w[4];
    let k = VISCOSITY;
    let mut spread = [0.0, k * w[1], k * w[2], k * w[3], k * heat];
    spread[AXIS + 1] *= 4.0 / 3.0;
    spread
}
