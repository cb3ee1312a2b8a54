//! Collectives, upon messages between two ranks.

use bytemuck::Pod;

use super::Collective;
use super::Ranks;
use crate::app::endpoint::LayerError;
use crate::units::Bytes;

impl Ranks<'_> {
    /// Waits until every rank is here: dissemination, in log2(p) rounds.
    ///
    /// # Errors
    /// As those of messages, here and below.
    pub fn barrier(&mut self) -> Result<(), LayerError> {
        self.tally.called(Collective::Barrier, Bytes::ZERO);
        let (me, all) = (self.rank(), self.size());
        let mut distance = 1;
        while distance < all {
            self.pass((me + distance) % all, BARRIER, &[0])?;
            self.take((me + all - distance) % all, BARRIER, &mut [0])?;
            distance *= 2;
        }
        Ok(())
    }

    /// Gives every rank the array of `root`: a binomial tree.
    pub fn broadcast<T: Pod>(&mut self, root: usize, values: &mut [T]) -> Result<(), LayerError> {
        self.tally.called(Collective::Broadcast, size_of_values(values));
        self.spread(root, bytemuck::cast_slice_mut(values))
    }

    /// Adds up the arrays of all ranks, element by element, on `root`; elsewhere `values` is left as it was.
    ///
    /// Up a binomial tree: the order of the additions depends on the number of ranks alone.
    pub fn reduce<T: Sum>(&mut self, root: usize, values: &mut [T]) -> Result<(), LayerError> {
        self.tally.called(Collective::Reduce, size_of_values(values));
        self.add_up(root, values)
    }

    /// Gives every rank the sum of the arrays of all, the same bits to each: [`Ranks::reduce`], then a broadcast.
    pub fn all_reduce<T: Sum>(&mut self, values: &mut [T]) -> Result<(), LayerError> {
        self.tally.called(Collective::AllReduce, size_of_values(values));
        self.add_up(0, values)?;
        self.spread(0, bytemuck::cast_slice_mut(values))
    }

    /// Gives every rank the largest of each element.
    pub fn all_reduce_max(&mut self, values: &mut [f64]) -> Result<(), LayerError> {
        self.tally.called(Collective::AllReduce, size_of_values(values));
        self.fold_up(0, values, f64::max)?;
        self.spread(0, bytemuck::cast_slice_mut(values))
    }

    /// Sends the r-th of equal parts of `out` to rank r, and receives as many: in step k with the ranks k away.
    pub fn all_to_all<T: Pod>(&mut self, out: &[T], into: &mut [T]) -> Result<(), LayerError> {
        self.tally.called(Collective::AllToAll, size_of_values(out));
        let part = out.len() / self.size();
        let lengths = vec![part; self.size()];
        self.swap_parts(out, &lengths, into, &lengths)
    }

    /// The same with parts of these lengths, in elements, one behind the other.
    pub fn all_to_all_v<T: Pod>(
        &mut self,
        out: &[T],
        out_lengths: &[usize],
        into: &mut [T],
        into_lengths: &[usize],
    ) -> Result<(), LayerError> {
        self.tally.called(Collective::AllToAllV, size_of_values(out));
        self.swap_parts(out, out_lengths, into, into_lengths)
    }

    fn swap_parts<T: Pod>(
        &mut self,
        out: &[T],
        out_lengths: &[usize],
        into: &mut [T],
        into_lengths: &[usize],
    ) -> Result<(), LayerError> {
        let (me, all) = (self.rank(), self.size());
        let (outs, intos) = (starts(out_lengths), starts(into_lengths));
        let of_mine = &out[outs[me]..outs[me + 1]];
        into[intos[me]..intos[me + 1]].copy_from_slice(of_mine);
        for step in 1..all {
            let (to, from) = ((me + step) % all, (me + all - step) % all);
            self.pass(to, PARTS, bytemuck::cast_slice(&out[outs[to]..outs[to + 1]]))?;
            let space = &mut into[intos[from]..intos[from + 1]];
            self.take(from, PARTS, bytemuck::cast_slice_mut(space))?;
        }
        Ok(())
    }

    /// Down a binomial tree: a rank has it from the one without its lowest bit, and gives it to those with a lower one.
    fn spread(&mut self, root: usize, bytes: &mut [u8]) -> Result<(), LayerError> {
        let all = self.size();
        let place = (self.rank() + all - root) % all;
        let mut bit = 1;
        while bit < all && place & bit == 0 {
            bit *= 2;
        }
        if place != 0 {
            self.take((place - bit + root) % all, SPREAD, bytes)?;
        }
        while bit > 1 {
            bit /= 2;
            if place + bit < all {
                self.pass((place + bit + root) % all, SPREAD, bytes)?;
            }
        }
        Ok(())
    }

    fn add_up<T: Sum>(&mut self, root: usize, values: &mut [T]) -> Result<(), LayerError> {
        self.fold_up(root, values, |mine, theirs| mine + theirs)
    }

    /// Up the same tree: who has a lower neighbour takes its array in, who has none left sends.
    fn fold_up<T: Sum>(
        &mut self,
        root: usize,
        values: &mut [T],
        join: impl Fn(T, T) -> T,
    ) -> Result<(), LayerError> {
        let all = self.size();
        let place = (self.rank() + all - root) % all;
        let (mut sum, mut theirs) = (values.to_vec(), vec![T::zeroed(); values.len()]);
        let mut bit = 1;
        while bit < all && place & bit == 0 {
            if place + bit < all {
                self.take((place + bit + root) % all, SUMS, bytemuck::cast_slice_mut(&mut theirs))?;
                sum.iter_mut().zip(&theirs).for_each(|(mine, other)| *mine = join(*mine, *other));
            }
            bit *= 2;
        }
        if place == 0 {
            values.copy_from_slice(&sum);
            return Ok(());
        }
        self.pass((place - bit + root) % all, SUMS, bytemuck::cast_slice(&sum))
    }
}

/// A number that can be added up.
pub trait Sum: Pod + std::ops::Add<Output = Self> {}

impl Sum for f64 {}
impl Sum for i32 {}
impl Sum for i64 {}

/// Where each of parts of these lengths begins, and where the last ends.
fn starts(lengths: &[usize]) -> Vec<usize> {
    let ends = lengths.iter().scan(0, |sum, length| {
        *sum += length;
        Some(*sum)
    });
    std::iter::once(0).chain(ends).collect()
}

fn size_of_values<T>(values: &[T]) -> Bytes {
    Bytes::new(size_of_val(values) as u64)
}

/// Tags that no application uses: theirs are below.
const BARRIER: u32 = 0xffff_0000;
const SPREAD: u32 = 0xffff_0001;
const SUMS: u32 = 0xffff_0002;
const PARTS: u32 = 0xffff_0003;
