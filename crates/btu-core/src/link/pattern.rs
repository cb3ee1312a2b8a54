//! The recurring counter pattern of the black boxes: `k@n[,k@n]*/P` (maly1996, sections 3 and 4).

use std::fmt;
use std::str::FromStr;

/// Which wire packets of an endless sequence are hit.
///
/// Packet i (from 1) is hit when some m >= 0 and some `k@n` give n + mP <= i < n + mP + k. Runs may
/// pass the end of the period; before the first n nothing is hit, so that a run that wraps does not
/// take the first packets of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
//= maly1996#4.1
pub struct Pattern {
    runs: Box<[Run]>,
    period: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Run {
    start: u64,
    length: u64,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The period is missing.
    #[error("\"{0}\" has no period; end it with /P")]
    NoPeriod(String),
    /// A part is not `k@n`.
    #[error("\"{0}\" is not k@n (k packets from the n-th on)")]
    NotARun(String),
    /// A number is not a whole number from 1 to 10^15.
    #[error("\"{0}\" is no whole number from 1 to 10^15")]
    Number(String),
    /// A run starts after the period's end.
    #[error("{length}@{start} starts after the period of {period} packets")]
    BeyondPeriod {
        /// k
        length: u64,
        /// n
        start: u64,
        /// P
        period: u64,
    },
    /// Two runs, or a run and itself one period later, hit the same packet.
    #[error("{length}@{start} overlaps the run at {next}")]
    Overlap {
        /// k
        length: u64,
        /// n
        start: u64,
        /// Where the next run starts.
        next: u64,
    },
}

impl Pattern {
    /// True where packet `i` (from 1) is hit.
    pub fn hits(&self, i: u64) -> bool {
        self.runs.iter().any(|run| i >= run.start && (i - run.start) % self.period < run.length)
    }

    /// How many of the first `packets` are hit.
    pub fn count(&self, packets: u64) -> u64 {
        self.runs.iter().map(|run| self.count_of(*run, packets)).sum()
    }

    /// The first packet after the `i`-th that is hit.
    pub fn next_hit(&self, i: u64) -> u64 {
        let next = self.runs.iter().map(|run| self.next_of(*run, i + 1)).min();
        next.unwrap_or(u64::MAX)
    }

    /// How many packets of each period are hit, once the first run began.
    pub fn hits_per_period(&self) -> u64 {
        self.runs.iter().map(|run| run.length).sum()
    }

    /// P, in packets.
    pub const fn period(&self) -> u64 {
        self.period
    }

    fn count_of(&self, run: Run, packets: u64) -> u64 {
        if packets < run.start {
            return 0;
        }
        let after = packets - run.start;
        after / self.period * run.length + (after % self.period + 1).min(run.length)
    }

    fn next_of(&self, run: Run, from: u64) -> u64 {
        if from <= run.start {
            return run.start;
        }
        let after = (from - run.start) % self.period;
        if after < run.length { from } else { from + (self.period - after) }
    }

    /// Runs are in order of start; each must end before the next one begins, the last one before
    /// the first one of the next period.
    fn check_overlap(&self) -> Result<(), PatternError> {
        let wrapped = self.runs.first().map(|first| first.start + self.period);
        let nexts = self.runs.iter().skip(1).map(|run| run.start).chain(wrapped);
        match self.runs.iter().zip(nexts).find(|(run, next)| run.start + run.length > *next) {
            Some((run, next)) => {
                Err(PatternError::Overlap { length: run.length, start: run.start, next })
            }
            None => Ok(()),
        }
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let (runs, period) =
            text.split_once('/').ok_or_else(|| PatternError::NoPeriod(text.to_owned()))?;
        let period = number(period)?;
        let mut runs =
            runs.split(',').map(|run| parse_run(run, period)).collect::<Result<Box<[_]>, _>>()?;
        runs.sort_unstable();
        let pattern = Self { runs, period };
        pattern.check_overlap()?;
        Ok(pattern)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, run) in self.runs.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}{}@{}", run.length, run.start)?;
        }
        write!(out, "/{}", self.period)
    }
}

fn parse_run(text: &str, period: u64) -> Result<Run, PatternError> {
    let (length, start) =
        text.split_once('@').ok_or_else(|| PatternError::NotARun(text.to_owned()))?;
    let (length, start) = (number(length)?, number(start)?);
    if start > period {
        return Err(PatternError::BeyondPeriod { length, start, period });
    }
    Ok(Run { start, length })
}

fn number(text: &str) -> Result<u64, PatternError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| digits && (1..=LARGEST).contains(number));
    number.ok_or_else(|| PatternError::Number(text.to_owned()))
}

/// Far beyond any run, and small enough that sums of two never overflow.
const LARGEST: u64 = 1_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().expect("a legal pattern")
    }

    /// The published counts of DR 0.01.
    const GOLDEN: &[(u64, u64)] = &[
        (199, 0),
        (200, 1),
        (399, 1),
        (400, 2),
        (402, 4),
        (599, 4),
        (600, 5),
        (802, 8),
        (11_270, 112),
        (22_316, 221),
        (22_965, 228),
        (23_170, 229),
        (23_526, 233),
        (23_538, 233),
        (100_000, 998),
    ];

    //= maly1996#4.1
    /// Check E1.
    #[test]
    fn the_golden_vector_of_drop_rate_one_percent() {
        let pattern = pattern("1@200,3@400/400");
        for (packets, drops) in GOLDEN {
            assert_eq!(pattern.count(*packets), *drops, "{packets} packets");
        }
    }

    #[test]
    fn before_the_first_run_nothing_is_hit_even_by_a_run_that_wraps() {
        let pattern = pattern("3@400/400");
        let hit: Vec<u64> = (1..=810).filter(|i| pattern.hits(*i)).collect();
        assert_eq!(hit, [400, 401, 402, 800, 801, 802]);
    }

    #[test]
    fn overlap_is_an_error_and_so_is_a_run_longer_than_the_period() {
        for text in ["2@1,1@2/10", "3@10,1@2/10", "5@1/4", "11@5/10", "1@3,1@3/10"] {
            assert!(matches!(text.parse::<Pattern>(), Err(PatternError::Overlap { .. })), "{text}");
        }
        assert_eq!(pattern("3@9,1@2/10").count(20), 7);
        assert_eq!(pattern("4@1/4").count(9), 9);
    }

    #[test]
    fn errors_name_the_part() {
        let message = |text: &str| text.parse::<Pattern>().expect_err("illegal").to_string();
        assert_eq!(message("1@2"), "\"1@2\" has no period; end it with /P");
        assert_eq!(message("12/20"), "\"12\" is not k@n (k packets from the n-th on)");
        assert_eq!(message("1@0/20"), "\"0\" is no whole number from 1 to 10^15");
        assert_eq!(message("+1@1/20"), "\"+1\" is no whole number from 1 to 10^15");
        assert_eq!(message("1@21/20"), "1@21 starts after the period of 20 packets");
    }

    #[test]
    fn the_canonical_form_is_in_order_of_start() {
        assert_eq!(pattern("3@400,01@200/400").to_string(), "1@200,3@400/400");
    }

    /// Any runs that fit one after the other, the last one perhaps past the period's end.
    fn patterns() -> impl Strategy<Value = Pattern> {
        let gaps = prop::collection::vec((0_u64..9, 1_u64..6), 1..5);
        (gaps, 0_u64..20, any::<bool>()).prop_map(|(gaps, tail, wraps)| {
            let mut next = 1;
            let mut runs = Vec::new();
            for (gap, length) in gaps {
                runs.push(Run { start: next + gap, length });
                next += gap + length;
            }
            let wrapped = (runs[0].start - 1).min(runs[runs.len() - 1].length - 1);
            let period = if wraps { next - 1 - wrapped } else { next - 1 + tail };
            let pattern = Pattern { runs: runs.into(), period };
            pattern.check_overlap().expect("legal by construction");
            pattern
        })
    }

    proptest! {
        #[test]
        fn the_formula_counts_the_hits_one_by_one(pattern in patterns(), packets in 0_u64..400) {
            let one_by_one = (1..=packets).filter(|i| pattern.hits(*i)).count() as u64;
            prop_assert_eq!(pattern.count(packets), one_by_one);
        }

        #[test]
        fn the_next_hit_is_the_next_hit(pattern in patterns(), i in 0_u64..200) {
            let next = (i + 1..1_000).find(|i| pattern.hits(*i));
            prop_assert_eq!(Some(pattern.next_hit(i)), next);
        }

        #[test]
        fn the_text_reads_back(pattern in patterns()) {
            prop_assert_eq!(pattern.to_string().parse::<Pattern>(), Ok(pattern));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9@,/ -]{0,30}|.{0,20}") {
            if let Ok(pattern) = text.parse::<Pattern>() {
                prop_assert!(pattern.hits_per_period() <= pattern.period());
            }
        }
    }
}
