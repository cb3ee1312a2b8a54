//! One rank's keys, and the sort that ranks them.

use std::ops::Range;

use super::reference::Size;
use super::reference::TESTS;
use crate::app::endpoint::LayerError;
use crate::app::random::Random;
use crate::app::ranks::Ranks;

/// What one rank has of the keys.
///
/// The range of keys is cut into buckets of equal width; each rank gets a run of buckets with about as many keys as
/// the others have. A key's rank is the number of smaller keys: those of lower buckets, and those in its own run.
#[derive(Debug)]
pub(super) struct Sorter {
    size: Size,
    /// The right shift that makes a key the number of its bucket.
    shift: u32,
    keys: Vec<i32>,
    /// Keys of this rank in each bucket, then the tested keys that it has.
    counts: Vec<i32>,
    /// The same of all ranks.
    totals: Vec<i32>,
    /// Where the next key of each bucket goes.
    places: Vec<usize>,
    sent: Parts,
    /// With room for half as much again: some runs of buckets have more keys than the share of a rank.
    came: Parts,
    /// The buckets of this rank.
    run: Range<usize>,
    /// How many keys of all ranks are in lower buckets.
    below: i64,
    /// For each key of the run, from its first: how many of those that came are smaller.
    smaller: Vec<i32>,
}

/// Keys by the rank that they go to, or come from.
#[derive(Debug)]
struct Parts {
    keys: Vec<i32>,
    counts: Vec<i32>,
    lengths: Vec<usize>,
}

impl Sorter {
    /// Draws the keys of this rank.
    pub(super) fn new(size: Size, ranks: &Ranks<'_>) -> Self {
        let share = size.keys / ranks.size();
        let first = Random::new(SEED).after((DRAWS * share * ranks.rank()) as u64);
        Self {
            shift: (size.key_limit / size.buckets).ilog2(),
            keys: draw_keys(first, share, size.key_limit),
            counts: vec![0; size.buckets + TESTS],
            totals: vec![0; size.buckets + TESTS],
            places: vec![0; size.buckets],
            sent: Parts::new(share, ranks.size()),
            came: Parts::new(share + share / 2, ranks.size()),
            run: 0..0,
            below: 0,
            smaller: Vec::with_capacity(size.key_limit),
            size,
        }
    }

    /// Ranks all keys; of the tested keys of this rank, the number of those that have the rank that they must have.
    pub(super) fn rank_keys(
        &mut self,
        iteration: usize,
        ranks: &mut Ranks<'_>,
    ) -> Result<i32, LayerError> {
        self.change_two_keys(iteration, ranks.rank());
        self.count_buckets(ranks.rank());
        self.sort_into_buckets();
        self.totals.copy_from_slice(&self.counts);
        ranks.all_reduce(&mut self.totals)?;
        self.share_out_buckets(ranks.rank());
        self.swap_keys(ranks)?;
        self.count_smaller();
        Ok(self.test(iteration))
    }

    /// Puts the keys that came where their ranks say; true where they are in order, and none is smaller than one of the
    /// rank to the left.
    pub(super) fn is_in_order(&mut self, ranks: &mut Ranks<'_>) -> Result<bool, LayerError> {
        let sorted = self.sort();
        let keys = sorted.as_deref().unwrap_or_default();
        let of_left = pass_last_key(keys.last().copied(), ranks)?;
        let follows = keys.first().is_none_or(|first| *first >= of_left);
        Ok(sorted.is_some() && keys.is_sorted() && follows)
    }

    /// The first keys of all change with the iteration: no ranking is the one before.
    fn change_two_keys(&mut self, iteration: usize, rank: usize) {
        if rank == 0 {
            self.keys[iteration] = iteration as i32;
            self.keys[iteration + CHANGED] = (self.size.key_limit - iteration) as i32;
        }
    }

    fn count_buckets(&mut self, rank: usize) {
        self.counts.fill(0);
        for key in &self.keys {
            self.counts[(key >> self.shift) as usize] += 1;
        }
        let before = rank * self.keys.len();
        let tests = &mut self.counts[self.size.buckets..];
        for (test, place) in tests.iter_mut().zip(self.size.test_places) {
            *test = self.keys.get(place.wrapping_sub(before)).copied().unwrap_or_default();
        }
    }

    fn sort_into_buckets(&mut self) {
        let mut sum = 0;
        for (place, count) in self.places.iter_mut().zip(&self.counts) {
            *place = sum;
            sum += *count as usize;
        }
        for key in &self.keys {
            let place = &mut self.places[(key >> self.shift) as usize];
            self.sent.keys[*place] = *key;
            *place += 1;
        }
    }

    /// Gives each rank the next buckets, until the ranks so far have their share of all keys.
    fn share_out_buckets(&mut self, me: usize) {
        let (all, share) = (self.sent.counts.len(), self.keys.len() as i64);
        let (mut rank, mut sum) = (0, 0);
        self.sent.counts.fill(0);
        self.start_run(0, 0);
        for bucket in 0..self.size.buckets {
            self.sent.counts[rank] += self.counts[bucket];
            sum += i64::from(self.totals[bucket]);
            if rank == me {
                self.run.end = bucket + 1;
            }
            if sum >= share * (rank as i64 + 1) && rank + 1 < all {
                rank += 1;
                if rank == me {
                    self.start_run(bucket + 1, sum);
                }
            }
        }
    }

    fn start_run(&mut self, bucket: usize, below: i64) {
        self.run = bucket..bucket;
        self.below = below;
    }

    /// Tells each rank how many keys it will get from here, and sends them.
    fn swap_keys(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        let Self { sent, came, keys, .. } = self;
        ranks.all_to_all(&sent.counts, &mut came.counts)?;
        sent.measure(keys.len());
        came.measure(keys.len());
        came.keys.resize(came.lengths.iter().sum(), 0);
        ranks.all_to_all_v(&sent.keys, &sent.lengths, &mut came.keys, &came.lengths)
    }

    /// A key outside of the run, which a layer must have changed, is not counted.
    fn count_smaller(&mut self) {
        let first = self.first_key();
        self.smaller.clear();
        self.smaller.resize(self.run.len() << self.shift, 0);
        for key in &self.came.keys {
            if let Some(count) = self.smaller.get_mut(key.wrapping_sub(first) as usize) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for count in &mut self.smaller {
            sum += std::mem::replace(count, sum);
        }
    }

    fn test(&self, iteration: usize) -> i32 {
        let first = self.first_key();
        let has_its_rank = |(test, key): &(usize, &i32)| {
            let smaller = self.smaller.get(key.wrapping_sub(first) as usize);
            let rank = smaller.map(|smaller| self.below + i64::from(*smaller));
            rank == Some(self.size.rank_in(iteration, *test))
        };
        let tested = &self.totals[self.size.buckets..];
        tested.iter().enumerate().filter(has_its_rank).count() as i32
    }

    /// The keys in the places that their ranks give them; `None` where one is outside of the run.
    fn sort(&mut self) -> Option<Vec<i32>> {
        let first = self.first_key();
        let mut sorted = vec![0; self.came.keys.len()];
        for key in &self.came.keys {
            let place = self.smaller.get_mut(key.wrapping_sub(first) as usize)?;
            sorted[*place as usize] = *key;
            *place += 1;
        }
        Some(sorted)
    }

    /// The smallest key that belongs into the run.
    fn first_key(&self) -> i32 {
        (self.run.start << self.shift) as i32
    }
}

impl Parts {
    fn new(keys: usize, ranks: usize) -> Self {
        Self { keys: vec![0; keys], counts: vec![0; ranks], lengths: vec![0; ranks] }
    }

    /// Makes lengths of the counts; no rank has more than `most` keys to send.
    fn measure(&mut self, most: usize) {
        for (length, count) in self.lengths.iter_mut().zip(&self.counts) {
            *length = usize::try_from(*count).unwrap_or(0).min(most);
        }
    }
}

/// Keys as the sum of four values: most of them are in the middle of the range.
fn draw_keys(mut random: Random, count: usize, limit: usize) -> Vec<i32> {
    let quarter = (limit / DRAWS) as f64;
    let mut sum = || random.draw() + random.draw() + random.draw() + random.draw();
    (0..count).map(|_| (quarter * sum()) as i32).collect()
}

/// Sends the last key of this rank to the right; the one that comes from the left.
fn pass_last_key(last: Option<i32>, ranks: &mut Ranks<'_>) -> Result<i32, LayerError> {
    let mut of_left = [i32::MIN];
    let me = ranks.rank();
    if me + 1 < ranks.size() {
        ranks.send(me + 1, LAST_KEY, &[last.unwrap_or(i32::MIN)])?;
    }
    if me > 0 {
        ranks.receive(me - 1, LAST_KEY, &mut of_left)?;
    }
    Ok(of_left[0])
}

const SEED: u64 = 314_159_265;
/// Values of the generator per key.
const DRAWS: usize = 4;
/// The second key that an iteration changes stands so far behind the first.
const CHANGED: usize = 10;
const LAST_KEY: u32 = 1;
