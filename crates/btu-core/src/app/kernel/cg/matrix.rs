//! The matrix of CG: a sum of products v v^T of sparse random vectors, in compressed rows.
//!
//! Source: NAS-95-020, section 2.2.3, and the sequence in which the benchmark draws.

use std::ops::Range;

use super::Problem;
use super::vector::sparse_dot;
use crate::app::random::Random;

/// A block of the matrix: the entries of each row, by column, counted from the first of the block.
#[derive(Debug)]
pub(super) struct Matrix {
    /// Where each row begins, and where the last ends.
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Matrix {
    /// The block with these rows and columns of the matrix of a class.
    ///
    /// Row by row, after F. G. Gustavson, Two fast algorithms for sparse matrices, ACM TOMS 4 (1978): what falls into a
    /// row is added up in a dense one.
    pub(super) fn random(problem: &Problem, rows: Range<usize>, columns: Range<usize>) -> Self {
        let vectors = Vectors::draw(problem);
        let factors = vectors.holding(&rows);
        let mut dense = DenseRow::new(columns);
        let mut matrix = Self { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for (row, factors) in rows.zip(factors) {
            for (vector, factor) in factors {
                dense.add(vectors.of(vector), factor);
            }
            dense.add([(row, CONDITION - problem.shift)], 1.0);
            matrix.push(&mut dense);
        }
        matrix
    }

    /// Multiplies a vector.
    pub(super) fn multiply(&self, vector: &[f64], into: &mut [f64]) {
        for (sum, bounds) in into.iter_mut().zip(self.starts.windows(2)) {
            let row = bounds[0]..bounds[1];
            *sum = sparse_dot(&self.values[row.clone()], &self.columns[row], vector);
        }
    }

    /// Appends a row, which is empty afterwards.
    fn push(&mut self, dense: &mut DenseRow) {
        for (column, value) in dense.drain() {
            self.columns.push(column as u32);
            self.values.push(value);
        }
        self.starts.push(self.values.len());
    }
}

/// A row that is being added up.
#[derive(Debug)]
struct DenseRow {
    columns: Range<usize>,
    values: Vec<Option<f64>>,
    /// The columns that have a value, from the first of the block.
    filled: Vec<usize>,
}

impl DenseRow {
    fn new(columns: Range<usize>) -> Self {
        Self { values: vec![None; columns.len()], columns, filled: Vec::new() }
    }

    /// Adds those entries that are in the block.
    fn add(&mut self, entries: impl IntoIterator<Item = (usize, f64)>, factor: f64) {
        for (column, value) in entries {
            if !self.columns.contains(&column) {
                continue;
            }
            let place = column - self.columns.start;
            match &mut self.values[place] {
                Some(sum) => *sum += factor * value,
                empty => {
                    *empty = Some(factor * value);
                    self.filled.push(place);
                }
            }
        }
    }

    /// Takes the values out, by column.
    fn drain(&mut self) -> impl Iterator<Item = (usize, f64)> {
        self.filled.sort_unstable();
        let values = &mut self.values;
        self.filled.drain(..).filter_map(|place| Some((place, values[place].take()?)))
    }
}

/// The random vectors, one for each row of the matrix.
#[derive(Debug)]
struct Vectors {
    /// Where the entries of each begin, and where those of the last end.
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Vectors {
    /// Draws them all; the benchmark throws the first value away. The entry with the number of the vector is 1/2.
    fn draw(problem: &Problem) -> Self {
        let mut random = Random::new(SEED);
        random.draw();
        let mut all = Self { starts: vec![0], entries: Vec::new() };
        for number in 0..problem.order {
            let vector = &mut draw_one(problem, &mut random);
            match vector.iter_mut().find(|(place, _)| *place as usize == number) {
                Some((_, value)) => *value = 0.5,
                None => vector.push((number as u32, 0.5)),
            }
            all.entries.append(vector);
            all.starts.push(all.entries.len());
        }
        all
    }

    fn of(&self, number: usize) -> impl Iterator<Item = (usize, f64)> {
        let entries = &self.entries[self.starts[number]..self.starts[number + 1]];
        entries.iter().map(|(place, value)| (*place as usize, *value))
    }

    /// For each of these rows the vectors with an entry there, and that entry times the weight of the vector.
    ///
    /// The weights fall from 1 to [`CONDITION`], in equal ratios.
    fn holding(&self, rows: &Range<usize>) -> Vec<Vec<(usize, f64)>> {
        let order = self.starts.len() - 1;
        let ratio = CONDITION.powf(1.0 / order as f64);
        let mut holding = vec![Vec::new(); rows.len()];
        let mut weight = 1.0;
        for number in 0..order {
            for (place, value) in self.of(number).filter(|(place, _)| rows.contains(place)) {
                holding[place - rows.start].push((number, weight * value));
            }
            weight *= ratio;
        }
        holding
    }
}

/// Draws pairs of a value and a place until there are enough: places lie below a power of two, and those that are
/// outside the matrix or taken already do not count.
fn draw_one(problem: &Problem, random: &mut Random) -> Vec<(u32, f64)> {
    let bound = problem.order.next_power_of_two() as f64;
    let mut vector: Vec<(u32, f64)> = Vec::with_capacity(problem.nonzeros + 1);
    while vector.len() < problem.nonzeros {
        let (value, place) = (random.draw(), (bound * random.draw()) as u32);
        let is_new = vector.iter().all(|(taken, _)| *taken != place);
        if (place as usize) < problem.order && is_new {
            vector.push((place, value));
        }
    }
    vector
}

const SEED: u64 = 314_159_265;
/// The smallest weight: the reciprocal of the condition number, about.
const CONDITION: f64 = 0.1;
