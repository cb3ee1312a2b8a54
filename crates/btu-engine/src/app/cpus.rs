//! On which CPUs each rank runs.

use btu_sys::cpu::CpuSet;

use crate::error::EngineError;
use crate::message::Seat;

/// The CPUs of each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Berths {
    /// By rank.
    pub(super) cpus: Vec<CpuSet>,
    /// How many CPUs all ranks can use together.
    pub(super) count: u32,
    /// True where some rank has no CPU of its own.
    pub(super) is_crowded: bool,
}

impl Berths {
    /// Of ranks in these seats.
    pub(super) fn of(seats: &[Seat]) -> Result<Self, EngineError> {
        let of_each = seats.iter().map(|seat| seat.place.cpus());
        Ok(Self::among(&of_each.collect::<Result<Vec<_>, _>>()?))
    }

    /// Ranks with the same CPUs share them out, one each in turn; where they are too few, each has them all.
    fn among(sets: &[CpuSet]) -> Self {
        let sharing = |set: &CpuSet, of: &[CpuSet]| of.iter().filter(|other| *other == set).count();
        let berth = |(rank, set): (usize, &CpuSet)| {
            if sharing(set, sets) > set.len() {
                return set.clone();
            }
            set.nth_round(sharing(set, &sets[..rank])).into_iter().collect()
        };
        let all: CpuSet = sets.iter().flat_map(CpuSet::iter).collect();
        let is_crowded =
            sets.len() > all.len() || sets.iter().any(|set| sharing(set, sets) > set.len());
        let cpus = sets.iter().enumerate().map(berth).collect();
        Self { cpus, count: u32::try_from(all.len()).unwrap_or(u32::MAX), is_crowded }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_have_a_cpu_each_where_there_are_enough() {
        let (both, other) = (CpuSet::of([2, 5]), CpuSet::of([7]));
        let berths = Berths::among(&[both.clone(), other.clone(), both]);
        assert_eq!(berths.cpus, [CpuSet::of([2]), other, CpuSet::of([5])]);
        assert_eq!((berths.count, berths.is_crowded), (3, false));
    }

    #[test]
    fn where_there_are_too_few_every_rank_has_them_all() {
        let both = CpuSet::of([0, 1]);
        let berths = Berths::among(&[both.clone(), both.clone(), both.clone()]);
        assert_eq!(berths.cpus, [both.clone(), both.clone(), both.clone()]);
        assert_eq!((berths.count, berths.is_crowded), (2, true));
        let apart = Berths::among(&[both, CpuSet::of([1]), CpuSet::of([1])]);
        assert!(apart.is_crowded);
    }
}
