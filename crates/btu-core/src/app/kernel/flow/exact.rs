//! The solution that the forcing keeps in balance, and where the iterations begin.

use std::array::from_fn;

/// The exact solution at a place.
pub(crate) fn exact(place: [f64; 3]) -> [f64; 5] {
    from_fn(|m| {
        let [constant, powers @ ..] = &COEFFICIENTS[m];
        let along = |axis: usize| {
            let at = place[axis];
            let [first, second, third, fourth] = from_fn(|power| powers[3 * power + axis]);
            at * (first + at * (second + at * (third + at * fourth)))
        };
        constant + along(0) + along(1) + along(2)
    })
}

/// The state at a place inside the cube before the first iteration: for each axis the line between the exact values at
/// both of its ends, and these three blended.
pub(crate) fn start(place: [f64; 3]) -> [f64; 5] {
    let end = |axis: usize, at: f64| {
        let mut end = place;
        end[axis] = at;
        exact(end)
    };
    let line = |axis: usize| -> [f64; 5] {
        let (low, high, at) = (end(axis, 0.0), end(axis, 1.0), place[axis]);
        from_fn(|m| (1.0 - at) * low[m] + at * high[m])
    };
    let lines = [line(0), line(1), line(2)];
    from_fn(|m| {
        let [x, y, z] = [lines[0][m], lines[1][m], lines[2][m]];
        x + y + z - x * y - y * z - z * x + x * y * z
    })
}

/// Per quantity: the constant, then the factors of x, y, z, of their squares, cubes and fourth powers.
const COEFFICIENTS: [[f64; 13]; 5] = [
    [2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3],
    [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5],
    [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4],
    [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3],
    [5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2],
];
