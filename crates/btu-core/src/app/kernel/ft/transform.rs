//! The Fourier transform of several lines at once.
//!
//! A complex number is an array of its real and its imaginary part.
//!
//! Stockham's method with radix 4, and one step of radix 2 where the length is no power of 4: each step reads one array
//! and writes another, and the result is in order. Source: C. Van Loan, Computational Frameworks for the Fast Fourier
//! Transform, SIAM 1992.

use std::f64::consts::TAU;

/// How many lines are transformed at once.
pub(super) const LANES: usize = 8;

/// The numbers at one place of each line. The parts lie apart: so do machines add several with one instruction.
#[derive(Clone, Copy, Debug)]
struct Lanes {
    re: [f64; LANES],
    im: [f64; LANES],
}

/// The sign of the exponent. Neither way is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From space to the spectrum: exp(-i ...).
    Forward,
    /// Back: exp(i ...).
    Inverse,
}

/// A transform of lines of one length, which is a power of two.
#[derive(Debug)]
pub(super) struct Transform {
    direction: Direction,
    /// exp(-2 pi i k / n) forward, their conjugates back.
    roots: Vec<[f64; 2]>,
    lines: Vec<Lanes>,
    next: Vec<Lanes>,
}

impl Transform {
    /// That of lines of `length` points.
    pub(super) fn new(length: usize, direction: Direction) -> Self {
        let turn = if direction == Direction::Forward { -TAU } else { TAU };
        let root = |k| {
            let angle = turn * k as f64 / length as f64;
            [angle.cos(), angle.sin()]
        };
        let roots = (0..length).map(root).collect();
        let empty = vec![Lanes { re: [0.0; LANES], im: [0.0; LANES] }; length];
        Self { direction, roots, lines: empty.clone(), next: empty }
    }

    /// Transforms all columns of an array whose rows have that width.
    pub(super) fn columns(&mut self, points: &mut [[f64; 2]], width: usize) {
        for column in (0..width).step_by(LANES) {
            self.load_columns(&points[column..], width);
            self.run();
            self.store_columns(&mut points[column..], width);
        }
    }

    /// Reads rows that lie behind each other.
    pub(super) fn load_rows(&mut self, from: &[[f64; 2]]) {
        for (lane, row) in from.chunks_exact(self.lines.len()).enumerate() {
            self.load_row(lane, row);
        }
    }

    /// Writes them so.
    pub(super) fn store_rows(&self, into: &mut [[f64; 2]]) {
        for (lane, row) in into.chunks_exact_mut(self.lines.len()).enumerate() {
            self.store_row(lane, row);
        }
    }

    /// Reads a row.
    pub(super) fn load_row(&mut self, lane: usize, from: &[[f64; 2]]) {
        for (lanes, point) in self.lines.iter_mut().zip(from) {
            [lanes.re[lane], lanes.im[lane]] = *point;
        }
    }

    /// Writes a row.
    pub(super) fn store_row(&self, lane: usize, into: &mut [[f64; 2]]) {
        for (lanes, point) in self.lines.iter().zip(into) {
            *point = [lanes.re[lane], lanes.im[lane]];
        }
    }

    /// Transforms the lines that were read.
    pub(super) fn run(&mut self) {
        let (mut length, mut stride) = (self.lines.len(), 1);
        while length >= 4 {
            self.quarter(length / 4, stride);
            std::mem::swap(&mut self.lines, &mut self.next);
            (length, stride) = (length / 4, stride * 4);
        }
        if length == 2 {
            self.halve(stride);
            std::mem::swap(&mut self.lines, &mut self.next);
        }
    }

    fn load_columns(&mut self, from: &[[f64; 2]], width: usize) {
        for (lanes, points) in self.lines.iter_mut().zip(from.chunks(width)) {
            for (lane, point) in points[..LANES].iter().enumerate() {
                [lanes.re[lane], lanes.im[lane]] = *point;
            }
        }
    }

    fn store_columns(&self, into: &mut [[f64; 2]], width: usize) {
        for (lanes, points) in self.lines.iter().zip(into.chunks_mut(width)) {
            for (lane, point) in points[..LANES].iter_mut().enumerate() {
                *point = [lanes.re[lane], lanes.im[lane]];
            }
        }
    }

    /// Makes four transforms of a quarter of the length out of each of `stride` transforms. Back, the second and the
    /// last quarter change places: that turns their difference by -i instead of i.
    fn quarter(&mut self, quarter: usize, stride: usize) {
        let order = if self.direction == Direction::Forward { [0, 1, 2, 3] } else { [0, 3, 2, 1] };
        for (place, into) in self.next.chunks_exact_mut(4 * stride).enumerate() {
            let roots = [1, 2, 3].map(|power| self.roots[power * place * stride]);
            let part = |part| &self.lines[(part * quarter + place) * stride..][..stride];
            let [first, second, third, last] = order.map(part);
            let (low, high) = into.split_at_mut(2 * stride);
            let ((y0, y1), (y2, y3)) = (low.split_at_mut(stride), high.split_at_mut(stride));
            for at in 0..stride {
                let x = [&first[at], &second[at], &third[at], &last[at]];
                butterfly(x, &roots, &mut y0[at], &mut y1[at], &mut y2[at], &mut y3[at]);
            }
        }
    }

    /// The last step, where pairs are left.
    fn halve(&mut self, stride: usize) {
        let (first, second) = self.lines.split_at(stride);
        let (sums, differences) = self.next.split_at_mut(stride);
        let pairs = first.iter().zip(second);
        for ((x0, x1), (sum, difference)) in pairs.zip(sums.iter_mut().zip(differences)) {
            for lane in 0..LANES {
                sum.re[lane] = x0.re[lane] + x1.re[lane];
                sum.im[lane] = x0.im[lane] + x1.im[lane];
                difference.re[lane] = x0.re[lane] - x1.re[lane];
                difference.im[lane] = x0.im[lane] - x1.im[lane];
            }
        }
    }
}

/// A transform of four points, and the roots for what follows. The results are parameters of their own, since only then
/// the compiler knows that they do not overlap, and works on several lanes at once.
fn butterfly(
    [a, b, c, d]: [&Lanes; 4],
    &[[re1, im1], [re2, im2], [re3, im3]]: &[[f64; 2]; 3],
    y0: &mut Lanes,
    y1: &mut Lanes,
    y2: &mut Lanes,
    y3: &mut Lanes,
) {
    for lane in 0..LANES {
        let (even_re, even_im) = (a.re[lane] + c.re[lane], a.im[lane] + c.im[lane]);
        let (odd_re, odd_im) = (b.re[lane] + d.re[lane], b.im[lane] + d.im[lane]);
        let (across_re, across_im) = (a.re[lane] - c.re[lane], a.im[lane] - c.im[lane]);
        let (turned_re, turned_im) = (b.im[lane] - d.im[lane], d.re[lane] - b.re[lane]);
        y0.re[lane] = even_re + odd_re;
        y0.im[lane] = even_im + odd_im;
        let (re, im) = (across_re + turned_re, across_im + turned_im);
        y1.re[lane] = re * re1 - im * im1;
        y1.im[lane] = re * im1 + im * re1;
        let (re, im) = (even_re - odd_re, even_im - odd_im);
        y2.re[lane] = re * re2 - im * im2;
        y2.im[lane] = re * im2 + im * re2;
        let (re, im) = (across_re - turned_re, across_im - turned_im);
        y3.re[lane] = re * re3 - im * im3;
        y3.im[lane] = re * im3 + im * re3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::random::Random;

    #[test]
    fn a_transform_is_the_sum_that_defines_it_in_every_lane() {
        for length in [2, 4, 8, 16, 32] {
            for (direction, sign) in [(Direction::Forward, -1.0), (Direction::Inverse, 1.0)] {
                let lines = random_columns(length);
                let mut transformed = lines.clone();
                Transform::new(length, direction).columns(&mut transformed, LANES);
                for (at, point) in transformed.iter().enumerate() {
                    let sum = sum_of(&lines, length, (at / LANES, at % LANES), sign);
                    let apart = (point[0] - sum[0]).hypot(point[1] - sum[1]);
                    assert!(apart < 1e-13, "{length}, {direction:?}, {at}: {point:?}, {sum:?}");
                }
            }
        }
    }

    fn random_columns(length: usize) -> Vec<[f64; 2]> {
        let mut random = Random::new(314_159_265);
        (0..length * LANES).map(|_| [random.draw(), random.draw()]).collect()
    }

    fn sum_of(
        lines: &[[f64; 2]],
        length: usize,
        (wave, lane): (usize, usize),
        sign: f64,
    ) -> [f64; 2] {
        let turned = |place: usize| {
            let angle = sign * TAU * (wave * place % length) as f64 / length as f64;
            let [re, im] = lines[place * LANES + lane];
            [re * angle.cos() - im * angle.sin(), re * angle.sin() + im * angle.cos()]
        };
        let add = |sum: [f64; 2], term: [f64; 2]| [sum[0] + term[0], sum[1] + term[1]];
        (0..length).map(turned).fold([0.0; 2], add)
    }
}
