//! A set of CPUs and its text form, the kernel's list format: `0-3,8`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// CPUs by number, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet(BTreeSet<u32>);

impl CpuSet {
    /// The CPUs with these numbers.
    pub fn of(cpus: impl IntoIterator<Item = u32>) -> Self {
        Self(cpus.into_iter().collect())
    }

    /// How many CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True for no CPU at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True where `cpu` is one of them.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// The `index`th CPU, going round: so that more threads than CPUs share them evenly.
    pub fn nth_round(&self, index: usize) -> Option<u32> {
        self.0.iter().nth(index.checked_rem(self.len())?).copied()
    }

    /// True where the two sets share no CPU.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.0.is_disjoint(&other.0)
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        Self::of(cpus)
    }
}

/// The text is no list of CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no list of CPUs; write numbers and ranges such as 0-3,8")]
pub struct CpuListError(String);

impl FromStr for CpuSet {
    type Err = CpuListError;

    /// Parses the kernel's list format; the empty text is the empty set.
    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let fault = || CpuListError(text.to_owned());
        let parts = text.trim().split(',').filter(|part| !part.is_empty());
        let ranges: Option<Vec<_>> = parts.map(parse_range).collect();
        Ok(ranges.ok_or_else(fault)?.into_iter().flatten().collect())
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in runs(&self.0).into_iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}{first}")?;
            if last > first {
                write!(out, "-{last}")?;
            }
        }
        Ok(())
    }
}

/// `3` or `0-3`; `None` for anything else, and for more CPUs than any machine has.
fn parse_range(part: &str) -> Option<std::ops::RangeInclusive<u32>> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < MAX_CPUS).then_some(first..=last)
}

/// Neighbouring numbers as (first, last).
fn runs(cpus: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => runs.push((cpu, cpu)),
        }
    }
    runs
}

/// Above `CONFIG_NR_CPUS` of every kernel: bounds what a hostile list can make us allocate.
const MAX_CPUS: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lists_round_trip() {
        for text in ["", "0", "0-1", "0-3,8", "1,3,5-6,1022"] {
            assert_eq!(text.parse::<CpuSet>().map(|set| set.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("0,1,2\n".parse::<CpuSet>().map(|set| set.to_string()), Ok("0-2".to_owned()));
    }

    #[test]
    fn nonsense_is_refused_and_quoted() {
        for text in ["x", "3-1", "1-", "-", "0-99999999", "1;2"] {
            let fault = text.parse::<CpuSet>().unwrap_err().to_string();
            assert!(fault.contains(text), "{fault}");
        }
    }

    #[test]
    fn more_threads_than_cpus_go_round() {
        let set = CpuSet::of([2, 5]);
        let given: Vec<_> = (0..5).map(|index| set.nth_round(index)).collect();
        assert_eq!(given, [Some(2), Some(5), Some(2), Some(5), Some(2)]);
        assert_eq!(CpuSet::default().nth_round(3), None);
    }
}
