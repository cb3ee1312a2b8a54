//! The change of a state with time, line by line: each point's flux is computed once per axis.

use super::Block;
use super::Given;
use super::HALO;
use super::Scheme;

/// dt L(u), with the line it works on.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    scheme: Scheme,
    /// The states of a line, halo included.
    states: Vec<[f64; 5]>,
    /// What each but the outermost two gives.
    given: Vec<Given<[f64; 5]>>,
    /// The weights of the fourth difference at each own point of the line.
    damping: Vec<[f64; 5]>,
}

impl Lines {
    /// The operator with the factors of a mesh.
    pub(crate) const fn new(scheme: Scheme) -> Self {
        Self { scheme, states: Vec::new(), given: Vec::new(), damping: Vec::new() }
    }

    /// Adds dt L(u) to `sum` at each inner point of a block.
    pub(crate) fn add_change(&mut self, block: &Block, u: &[[f64; 5]], sum: &mut [[f64; 5]]) {
        self.add_along::<0>(block, u, sum);
        self.add_along::<1>(block, u, sum);
        self.add_along::<2>(block, u, sum);
    }

    fn add_along<const AXIS: usize>(
        &mut self,
        block: &Block,
        u: &[[f64; 5]],
        sum: &mut [[f64; 5]],
    ) {
        let (stride, inner) = (block.stride(AXIS), block.inner(AXIS));
        self.reserve(block, AXIS);
        for start in block.lines(AXIS) {
            self.read::<AXIS>(u, start, stride);
            for at in inner.clone() {
                self.add_point(at, &mut sum[start + at * stride]);
            }
        }
    }

    /// Makes room for the lines of an axis.
    fn reserve(&mut self, block: &Block, axis: usize) {
        self.states.resize(block.size(axis) + 2 * HALO, [0.0; 5]);
        self.given.resize(block.size(axis) + 2, Given::default());
        self.damping.clear();
        self.damping.extend(block.own(axis).map(|at| self.scheme.damping(block, axis, at)));
    }

    #[inline]
    fn read<const AXIS: usize>(&mut self, u: &[[f64; 5]], start: usize, stride: usize) {
        let mut at = start;
        for state in &mut self.states {
            *state = u[at];
            at += stride;
        }
        for (given, state) in self.given.iter_mut().zip(&self.states[HALO - 1..]) {
            *given = self.scheme.given::<AXIS>(state);
        }
    }

    /// Adds to the point of the line with this coordinate.
    #[inline]
    fn add_point(&self, at: usize, sum: &mut [f64; 5]) {
        let own = at - HALO;
        let (states, [a, b, c, d, e]) = (&self.states[own..own + 5], &self.damping[own]);
        let (before, here, after) = (&self.given[own], &self.given[own + 1], &self.given[own + 2]);
        for m in 0..5 {
            let before = before.next[m] - here.next[m];
            let after = after.previous[m] - here.previous[m];
            let ends = a * states[0][m] + e * states[4][m];
            let middle = b * states[1][m] + c * states[2][m] + d * states[3][m];
            sum[m] += before + after - (ends + middle);
        }
    }
}
