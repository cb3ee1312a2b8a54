//! On which CPU of its place each data thread of COMM runs.

use btu_core::placement::Placement;
use btu_core::role::Role;
use btu_core::sample::Hold;
use btu_sys::cpu::CpuSet;

/// On which CPUs the data threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// One CPU each, in turn, beginning with the `first`th of the place (from 0, going round).
    OneEach {
        /// Whose turn is first.
        first: u16,
    },
    /// All CPUs of the place, as the scheduler likes.
    WholePlace,
}

impl Pinning {
    /// One CPU each, from the first of the place on.
    pub const IN_TURN: Self = Self::OneEach { first: 0 };

    /// How the data threads of a placement run on their host. That both ends share a CPU is the work of their places.
    pub const fn of(placement: Placement, first: u16) -> Self {
        match placement {
            Placement::Free => Self::WholePlace,
            Placement::Same | Placement::Split => Self::OneEach { first },
        }
    }

    /// The placement as the other host is told it, and whose turn is first there.
    pub const fn told(self) -> (Placement, u16) {
        match self {
            Self::OneEach { first } => (Placement::Split, first),
            Self::WholePlace => (Placement::Free, 0),
        }
    }

    /// Whether the data threads are held on a CPU.
    pub const fn hold(self) -> Hold {
        match self {
            Self::OneEach { .. } => Hold::Pinned,
            Self::WholePlace => Hold::Free,
        }
    }

    /// The CPUs of the data thread `end` of this role's side; empty for none in particular.
    ///
    /// Both black boxes of a local testbed have the same CPUs, and each numbers its ends from 0: in a case of two
    /// peers, which have one connection each, both threads would share a CPU if both began with the same one.
    pub(super) fn cpus_of(self, role: Role, end: usize, cpus: &CpuSet) -> CpuSet {
        match self {
            Self::OneEach { first } => {
                let begins = usize::from(first) + usize::from(role == Role::Passive);
                cpus.nth_round(begins + end).into_iter().collect()
            }
            Self::WholePlace => CpuSet::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use btu_core::run::cell::Case;

    use super::*;

    /// The CPUs of the far data threads of a case, both black boxes on the CPUs 0 to `count` - 1.
    fn far_cpus(pinning: Pinning, case: Case, count: u32) -> Vec<CpuSet> {
        let cpus = CpuSet::of(0..count);
        let of_role = |role| {
            let own = case.flows().iter().filter(|flow| flow.peer == role).count();
            (0..own).map(|end| pinning.cpus_of(role, end, &cpus)).collect::<Vec<_>>()
        };
        [of_role(Role::Active), of_role(Role::Passive)].concat()
    }

    #[test]
    fn data_threads_of_black_boxes_share_a_cpu_only_where_there_is_one() {
        for count in 1..=16 {
            for (case, first) in Case::ALL.into_iter().flat_map(|case| [(case, 0), (case, 7)]) {
                let given = far_cpus(Pinning::OneEach { first }, case, count);
                assert!(given.iter().all(|cpus| cpus.len() == 1));
                let taken: CpuSet = given.iter().flat_map(CpuSet::iter).collect();
                let cpus = usize::try_from(count).unwrap();
                assert_eq!(taken.len(), given.len().min(cpus), "{case:?} on {count} CPUs");
            }
        }
    }

    #[test]
    fn the_first_cpu_is_the_one_that_was_named() {
        let cpus = CpuSet::of([2, 3, 5]);
        let cpu = |first, end| Pinning::OneEach { first }.cpus_of(Role::Test, end, &cpus);
        assert_eq!([cpu(0, 0), cpu(2, 0)], [CpuSet::of([2]), CpuSet::of([5])]);
        assert_eq!([cpu(2, 1), cpu(u16::MAX, 0)], [CpuSet::of([2]), CpuSet::of([2])]);
    }

    #[test]
    fn what_the_other_host_is_told_is_what_it_does() {
        for (placement, first) in Placement::ALL.into_iter().zip([0, 3, 5]) {
            let pinning = Pinning::of(placement, first);
            let (told, turn) = pinning.told();
            assert_eq!(
                (Pinning::of(told, turn), pinning.hold()),
                (pinning, Pinning::of(told, 9).hold())
            );
        }
        assert_eq!(Pinning::of(Placement::Same, 5), Pinning::OneEach { first: 5 });
        assert_eq!(Pinning::of(Placement::Free, 5).hold(), Hold::Free);
    }

    #[test]
    fn who_is_not_pinned_has_no_cpu_of_its_own() {
        assert!(Pinning::WholePlace.cpus_of(Role::Active, 0, &CpuSet::of(0..4)).is_empty());
    }
}
