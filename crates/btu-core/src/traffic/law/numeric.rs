//! Integrals and inverses of distribution functions that have no closed form.

/// The integral of a monotone function over [from, to], by adaptive Simpson on pieces that grow
/// with their distance from zero.
pub(super) fn integral(f: &dyn Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    if to <= from {
        return 0.0;
    }
    let edges = edges(from, to);
    let tolerance = 1e-10 * (to - from).abs() / f64::from(PIECES);
    edges.windows(2).map(|piece| simpson(f, piece[0], piece[1], tolerance)).sum()
}

/// Where a rising function first reaches `level`, to the precision of floats.
pub(super) fn invert(cdf: &dyn Fn(f64) -> f64, level: f64, start: f64) -> f64 {
    let (mut low, mut high) = (0.0, start.max(1e-9));
    while cdf(high) < level && high < 1e300 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if cdf(middle) < level { low = middle } else { high = middle }
    }
    high
}

/// As [`invert`], for a function that steps at whole numbers only.
pub(super) fn invert_whole(cdf: &dyn Fn(f64) -> f64, level: f64, start: f64) -> f64 {
    let guess = invert(cdf, level, start).round();
    if guess >= 1.0 && cdf(guess - 1.0) >= level { guess - 1.0 } else { guess }
}

fn edges(from: f64, to: f64) -> Vec<f64> {
    let geometric = from > 0.0 && to / from > 16.0;
    let edge = |i: u32| {
        let share = f64::from(i) / f64::from(PIECES);
        if geometric { from * (to / from).powf(share) } else { from + (to - from) * share }
    };
    (0..=PIECES).map(edge).collect()
}

fn simpson(f: &dyn Fn(f64) -> f64, from: f64, to: f64, tolerance: f64) -> f64 {
    let ends = [f(from), f(f64::midpoint(from, to)), f(to)];
    refine(f, (from, to), ends, tolerance, 40)
}

fn refine(
    f: &dyn Fn(f64) -> f64,
    (from, to): (f64, f64),
    [first, middle, last]: [f64; 3],
    tolerance: f64,
    depth: u32,
) -> f64 {
    let centre = f64::midpoint(from, to);
    let left = f(f64::midpoint(from, centre));
    let right = f(f64::midpoint(centre, to));
    let whole = (to - from) / 6.0 * (first + 4.0 * middle + last);
    let halves = (to - from) / 12.0 * (first + 4.0 * left + 2.0 * middle + 4.0 * right + last);
    if depth == 0 || (halves - whole).abs() <= 15.0 * tolerance {
        return halves + (halves - whole) / 15.0;
    }
    refine(f, (from, centre), [first, left, middle], tolerance / 2.0, depth - 1)
        + refine(f, (centre, to), [middle, right, last], tolerance / 2.0, depth - 1)
}

const PIECES: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponential_integrates_to_its_closed_form() {
        let area = integral(&|x: f64| (-x / 1000.0).exp(), 0.0, 1e6);
        assert!((area / 1000.0 - 1.0).abs() < 1e-8, "{area}");
        let tail = integral(&|x: f64| (8.0 / x).min(1.0), 1.0, 8e6);
        assert!((tail / (7.0 + 8.0 * 1e6_f64.ln()) - 1.0).abs() < 1e-6, "{tail}");
    }

    #[test]
    fn an_inverse_is_the_least_value_that_reaches_the_level() {
        let found = invert(&|x: f64| 1.0 - (-x).exp(), 0.5, 1.0);
        assert!((found - 2_f64.ln()).abs() < 1e-12);
        let steps = |x: f64| (x.floor() / 10.0).clamp(0.0, 1.0);
        assert_eq!(invert_whole(&steps, 0.3, 1.0).to_bits(), 3_f64.to_bits());
    }
}
