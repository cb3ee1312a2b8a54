//! Which block sizes a sweep visits: NetPIPE's schedule.
//!
//! The increment doubles every second step, so the bases are powers of two and three times powers
//! of two. Where there is room, each base is joined by a block a few bytes smaller and one a few
//! bytes larger, because implementations treat round sizes differently (snell1996, section 3;
//! manual page netpipe(1), option -p).

use serde::Deserialize;
use serde::Serialize;

use crate::units::Bytes;

/// The block sizes of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Sizes {
    start: Bytes,
    end: Bytes,
    perturbation: Bytes,
    step: Step,
}

/// How one base follows another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// NetPIPE's: the increment doubles every second step.
    #[default]
    NetPipe,
    /// Each base is twice the one before it; none is perturbed.
    Doubling,
    /// A dense zoom: the same increment throughout; no base is perturbed.
    Every(Bytes),
}

/// Sizes as they stand in a file, not yet known to make a sweep.
#[derive(Deserialize)]
struct Stored {
    start: Bytes,
    end: Bytes,
    perturbation: Bytes,
    step: Step,
}

/// Why no sweep has these sizes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizesError {
    /// An empty block carries nothing.
    #[error("block sizes from {start}: the smallest block is 1B")]
    Empty {
        /// The first size asked for.
        start: Bytes,
    },
    /// The end lies before the start.
    #[error("block sizes {start} to {end}: the end lies before the start")]
    Backwards {
        /// The first size asked for.
        start: Bytes,
        /// The last size asked for.
        end: Bytes,
    },
    /// No buffer is that large.
    #[error("block sizes to {end}: the largest block is {LARGEST}")]
    TooLarge {
        /// The last size asked for.
        end: Bytes,
    },
    /// Standing still is no zoom.
    #[error("block sizes in steps of 0B: a step is at least 1B")]
    NoStep,
    /// More points than a chart or an hour can hold.
    #[error("block sizes: {points} points, at most {MOST_POINTS}; take a larger increment")]
    TooMany {
        /// How many points were asked for.
        points: u64,
    },
}

/// The largest block of any sweep: a gibibyte.
pub const LARGEST: Bytes = Bytes::new(1 << 30);

/// The most points of a sweep: a dense zoom has up to 2,000.
pub const MOST_POINTS: u64 = 2_000;

impl Default for Sizes {
    /// 1 B to 8 MiB with 3 bytes of perturbation: 124 points.
    fn default() -> Self {
        let (start, end, perturbation) = (Bytes::new(1), Bytes::new(8 << 20), Bytes::new(3));
        Self { start, end, perturbation, step: Step::NetPipe }
    }
}

impl Sizes {
    /// The sizes from `start` to `end`; a perturbation of nothing turns it off.
    pub fn new(
        start: Bytes,
        end: Bytes,
        perturbation: Bytes,
        step: Step,
    ) -> Result<Self, SizesError> {
        if start.is_empty() {
            return Err(SizesError::Empty { start });
        }
        if end < start {
            return Err(SizesError::Backwards { start, end });
        }
        if end > LARGEST {
            return Err(SizesError::TooLarge { end });
        }
        let points = match step {
            Step::Every(Bytes::ZERO) => return Err(SizesError::NoStep),
            Step::Every(increment) => (end.count() - start.count()) / increment.count() + 1,
            Step::NetPipe | Step::Doubling => 0,
        };
        if points > MOST_POINTS {
            return Err(SizesError::TooMany { points });
        }
        Ok(Self { start, end, perturbation, step })
    }

    /// How one base follows another.
    pub const fn step(&self) -> Step {
        self.step
    }

    /// Every size, ascending, each once: bases within [start, end], perturbed ones within
    /// [start, end + perturbation].
    pub fn points(&self) -> Vec<Bytes> {
        let mut points: Vec<Bytes> =
            self.bases().into_iter().flat_map(|(base, gap)| self.around(base, gap)).collect();
        points.sort_unstable();
        points.dedup();
        points.retain(|point| *point >= self.start);
        points
    }

    /// The bases, each with the increment to the next one.
    fn bases(&self) -> Vec<(u64, u64)> {
        let (mut bases, mut base) = (Vec::new(), self.start.count());
        let mut increment = (base / 2).max(1);
        let mut place: u32 = u32::from(base > 1);
        while base <= self.end.count() {
            increment = match self.step {
                Step::NetPipe if place > 2 && place % 2 == 1 => increment * 2,
                Step::NetPipe => increment,
                Step::Doubling => base,
                Step::Every(increment) => increment.count(),
            };
            bases.push((base, increment));
            base += increment;
            place += 1;
        }
        bases
    }

    /// A base and its neighbours, if the increment leaves room for them.
    fn around(&self, base: u64, increment: u64) -> Vec<Bytes> {
        let by = self.perturbation.count();
        let perturbed = self.step == Step::NetPipe && by > 0 && increment > by.saturating_add(1);
        let sizes = if perturbed { vec![base - by.min(base), base, base + by] } else { vec![base] };
        sizes.into_iter().map(Bytes::new).collect()
    }
}

impl TryFrom<Stored> for Sizes {
    type Error = SizesError;

    fn try_from(stored: Stored) -> Result<Self, SizesError> {
        Self::new(stored.start, stored.end, stored.perturbation, stored.step)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The sizes that `NPtcp` 3.7.2 of Debian writes to np.out with its defaults, ended at 8 MiB.
    const GOLDEN: [u64; 124] = [
        1, 2, 3, 4, 6, 8, 12, 13, 16, 19, 21, 24, 27, 29, 32, 35, 45, 48, 51, 61, 64, 67, 93, 96,
        99, 125, 128, 131, 189, 192, 195, 253, 256, 259, 381, 384, 387, 509, 512, 515, 765, 768,
        771, 1021, 1024, 1027, 1533, 1536, 1539, 2045, 2048, 2051, 3069, 3072, 3075, 4093, 4096,
        4099, 6141, 6144, 6147, 8189, 8192, 8195, 12285, 12288, 12291, 16381, 16384, 16387, 24573,
        24576, 24579, 32765, 32768, 32771, 49149, 49152, 49155, 65533, 65536, 65539, 98301, 98304,
        98307, 131_069, 131_072, 131_075, 196_605, 196_608, 196_611, 262_141, 262_144, 262_147,
        393_213, 393_216, 393_219, 524_285, 524_288, 524_291, 786_429, 786_432, 786_435, 1_048_573,
        1_048_576, 1_048_579, 1_572_861, 1_572_864, 1_572_867, 2_097_149, 2_097_152, 2_097_155,
        3_145_725, 3_145_728, 3_145_731, 4_194_301, 4_194_304, 4_194_307, 6_291_453, 6_291_456,
        6_291_459, 8_388_605, 8_388_608, 8_388_611,
    ];

    fn sizes(start: u64, end: u64, by: u64, step: Step) -> Sizes {
        Sizes::new(Bytes::new(start), Bytes::new(end), Bytes::new(by), step).unwrap()
    }

    fn counts(sizes: &Sizes) -> Vec<u64> {
        sizes.points().into_iter().map(Bytes::count).collect()
    }

    #[test]
    fn p1_the_default_schedule_is_the_golden_list() {
        assert_eq!(counts(&Sizes::default()), GOLDEN);
    }

    #[test]
    fn p1_without_perturbation_46_bases_are_left() {
        let bases = counts(&sizes(1, 8 << 20, 0, Step::NetPipe));
        assert_eq!(bases.len(), 46);
        assert!(bases.iter().all(|base| base % 3 == 0 || base.is_power_of_two()));
    }

    #[test]
    fn p1_the_sizes_of_a_file_that_netpipe_wrote_come_out_again() {
        let text = include_str!("../../testdata/pingpong/netpipe-3.7.2.out");
        let column = text.lines().filter_map(|line| line.split_whitespace().next());
        let written: Vec<u64> = column.map(|size| size.parse().unwrap()).collect();
        assert_eq!(counts(&sizes(1, 100_000, 3, Step::NetPipe)), written);
    }

    #[test]
    fn a_zoom_and_powers_of_two_are_not_perturbed() {
        assert_eq!(counts(&sizes(59_000, 59_020, 3, Step::Every(Bytes::new(10)))).len(), 3);
        assert_eq!(
            counts(&sizes(1, 1024, 3, Step::Doubling)),
            [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
        );
    }

    #[test]
    fn sizes_that_make_no_sweep_are_refused_with_their_cause() {
        let new =
            |start, end, step| Sizes::new(Bytes::new(start), Bytes::new(end), Bytes::ZERO, step);
        let text = |sizes: Result<Sizes, SizesError>| sizes.unwrap_err().to_string();
        assert!(text(new(0, 1, Step::NetPipe)).contains("smallest block is 1B"));
        assert!(text(new(2, 1, Step::NetPipe)).contains("2B to 1B: the end lies before"));
        assert!(text(new(1, 1 << 31, Step::NetPipe)).contains("largest block is 1GiB"));
        assert!(text(new(1, 9, Step::Every(Bytes::ZERO))).contains("at least 1B"));
        assert!(text(new(1, 1 << 20, Step::Every(Bytes::new(1)))).contains("1048576 points"));
    }

    proptest! {
        #[test]
        fn p1_points_rise_strictly_within_their_bounds(
            start in 1..100_000u64,
            length in 0..10_000_000u64,
            by in 0..5_000u64,
        ) {
            let points = counts(&sizes(start, start + length, by, Step::NetPipe));
            prop_assert!(points.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!(points[0], start);
            prop_assert!(points.iter().all(|point| *point <= start + length + by));
        }
    }
}
