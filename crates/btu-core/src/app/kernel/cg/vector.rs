//! Sums of products.
//!
//! Four partial sums each: one alone would wait for its own last addition.

/// The inner product of two vectors.
pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let ((left, left_rest), (right, right_rest)) =
        (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for ([a, b, c, d], [e, f, g, h]) in left.iter().zip(right) {
        sums = [sums[0] + a * e, sums[1] + b * f, sums[2] + c * g, sums[3] + d * h];
    }
    let rest = left_rest.iter().zip(right_rest).map(|(left, right)| left * right);
    total(sums) + rest.sum::<f64>()
}

/// The same with a sparse vector: its entries, and the place of each.
pub(super) fn sparse_dot(entries: &[f64], places: &[u32], dense: &[f64]) -> f64 {
    let ((entries, entries_rest), (places, places_rest)) =
        (entries.as_chunks::<LANES>(), places.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    let at = |place: &u32| dense[*place as usize];
    for ([a, b, c, d], [i, j, k, l]) in entries.iter().zip(places) {
        sums = [sums[0] + a * at(i), sums[1] + b * at(j), sums[2] + c * at(k), sums[3] + d * at(l)];
    }
    let rest = entries_rest.iter().zip(places_rest);
    total(sums) + rest.map(|(entry, place)| entry * dense[*place as usize]).sum::<f64>()
}

fn total([first, second, third, fourth]: [f64; LANES]) -> f64 {
    (first + second) + (third + fourth)
}

const LANES: usize = 4;
