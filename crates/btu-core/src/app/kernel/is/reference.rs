//! The sizes of IS, and the ranks that some of its keys must have.

use crate::app::class::ProblemClass;

/// Keys whose rank is tested in each iteration.
pub(super) const TESTS: usize = 5;

/// A problem of one class.
#[derive(Debug)]
pub(super) struct Size {
    /// How many keys all ranks have together.
    pub(super) keys: usize,
    /// No key is so large.
    pub(super) key_limit: usize,
    /// How many buckets the range of keys is cut into.
    pub(super) buckets: usize,
    /// Where the keys stand that are tested, among those of all ranks.
    pub(super) test_places: [usize; TESTS],
    /// The ranks of these keys, before iterations move them.
    test_ranks: [i64; TESTS],
    /// So many of them go up with each iteration, the others down.
    rising: usize,
    /// The iterations in which those that go up, and those that go down, have the ranks above.
    still: [i64; 2],
}

impl Size {
    /// The problem of a class.
    pub(super) fn of(class: ProblemClass) -> Self {
        class.of([class_s, class_w, class_a])()
    }

    /// The rank that a tested key must have in an iteration: the keys that change in each are below or above it.
    pub(super) fn rank_in(&self, iteration: usize, test: usize) -> i64 {
        let (base, iteration) = (self.test_ranks[test], iteration as i64);
        let [up, down] = self.still.map(|still| iteration - still);
        if test < self.rising { base + up } else { base - down }
    }
}

fn class_s() -> Size {
    Size {
        keys: 1 << 16,
        key_limit: 1 << 11,
        buckets: 1 << 9,
        test_places: [48_427, 17_148, 23_627, 62_548, 4_431],
        test_ranks: [0, 18, 346, 64_917, 65_463],
        rising: 3,
        still: [0, 0],
    }
}

fn class_w() -> Size {
    Size {
        keys: 1 << 20,
        key_limit: 1 << 16,
        buckets: 1 << 10,
        test_places: [357_773, 934_767, 875_723, 898_999, 404_505],
        test_ranks: [1_249, 11_698, 1_039_987, 1_043_896, 1_048_018],
        rising: 2,
        still: [2, 0],
    }
}

fn class_a() -> Size {
    Size {
        keys: 1 << 23,
        key_limit: 1 << 19,
        buckets: 1 << 10,
        test_places: [2_112_377, 662_041, 5_336_171, 3_642_833, 4_250_760],
        test_ranks: [104, 17_523, 123_928, 8_288_932, 8_388_264],
        rising: 3,
        still: [1, 1],
    }
}
