//! The right side of the equation: ten charges each of +1 and -1, where the largest and the smallest of the random
//! numbers fall.

use super::grid::Grid;
use super::layout::Place;
use crate::app::endpoint::LayerError;
use crate::app::random::Random;
use crate::app::ranks::Ranks;

/// Puts the charges on a cube that is this long, of which the grid is this rank's part without its border.
///
/// The ranks agree on one charge after the other: on the largest number, then on who has it and where.
pub(super) fn place(
    ranks: &mut Ranks<'_>,
    length: usize,
    part: &Place,
    grid: &mut Grid,
) -> Result<(), LayerError> {
    let mut extremes = Extremes::among(length, part);
    grid.clear();
    for _ in 0..CHARGES {
        for (own, charge) in [(&mut extremes.largest, 1.0), (&mut extremes.smallest, -1.0)] {
            let point = own.elect(ranks)?;
            if let Some([x, y, z]) = inside(part, point) {
                grid.inner_row_mut([y + 1, z + 1])[x] = charge;
            }
        }
    }
    Ok(())
}

/// The most extreme numbers on this rank's points.
#[derive(Debug)]
struct Extremes {
    largest: Candidates,
    smallest: Candidates,
}

impl Extremes {
    /// Draws the number of each point of this rank: all points have theirs, x the fastest.
    fn among(length: usize, part: &Place) -> Self {
        let [x, y, z] = part.axes;
        let mut all = Self { largest: Candidates::new(), smallest: Candidates::new() };
        for z in z.first..z.first + z.points {
            for y in y.first..y.first + y.points {
                let before = (z * length + y) * length + x.first;
                let mut random = Random::new(SEED).after(before as u64);
                for x in x.first..x.first + x.points {
                    let value = random.draw();
                    all.largest.offer(value, [x, y, z]);
                    all.smallest.offer(-value, [x, y, z]);
                }
            }
        }
        all
    }
}

/// The points with the largest values, the largest first.
#[derive(Debug)]
struct Candidates {
    best: [(f64, [usize; 3]); CHARGES],
    /// How many were elected.
    elected: usize,
}

impl Candidates {
    fn new() -> Self {
        Self { best: [(f64::NEG_INFINITY, [0; 3]); CHARGES], elected: 0 }
    }

    fn offer(&mut self, value: f64, point: [usize; 3]) {
        let last = &mut self.best[CHARGES - 1];
        if value > last.0 {
            *last = (value, point);
            self.best.sort_unstable_by(|(left, _), (right, _)| right.total_cmp(left));
        }
    }

    /// The point with the largest value of those that the ranks still have. No two values are the same: who has the
    /// largest tells, the others add nothing.
    fn elect(&mut self, ranks: &mut Ranks<'_>) -> Result<[i32; 3], LayerError> {
        let (own, point) = self.best[self.elected];
        let mut largest = [own];
        ranks.all_reduce_max(&mut largest)?;
        let mut told = [0; 4];
        if largest[0].total_cmp(&own).is_eq() {
            self.elected += 1;
            let [x, y, z] = point.map(|at| at as i32);
            told = [ranks.rank() as i32, x, y, z];
        }
        ranks.all_reduce(&mut told)?;
        let [_owner, x, y, z] = told;
        Ok([x, y, z])
    }
}

/// A point of the cube, counted from the first of a part; `None` where it is in another.
fn inside(part: &Place, point: [i32; 3]) -> Option<[usize; 3]> {
    let mut inside = [0; 3];
    for ((inside, at), side) in inside.iter_mut().zip(point).zip(part.axes) {
        *inside = usize::try_from(at).ok()?.checked_sub(side.first)?;
        (*inside < side.points).then_some(())?;
    }
    Some(inside)
}

const CHARGES: usize = 10;
const SEED: u64 = 314_159_265;
