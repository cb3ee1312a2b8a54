//! Which CPUs the roles and the emulator get: the test host apart from all others where possible.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;
use btu_core::role::Role;
use btu_sys::cpu::CpuSet;

/// CPUs of the test host, of both black boxes together, and of the emulator.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placement {
    test: CpuSet,
    black_boxes: CpuSet,
    emulator: CpuSet,
}

impl Placement {
    /// One CPU: all share it. Up to three: the emulator shares with the black boxes. From four on:
    /// half for the test host, a quarter for the emulator, but no more than it has `threads`, the rest for the
    /// black boxes.
    pub(super) fn of(allowed: &CpuSet, threads: usize) -> Self {
        let cpus: Vec<u32> = allowed.iter().collect();
        let set = |part: &[u32]| CpuSet::of(part.iter().copied());
        let (test, others) = cpus.split_at(cpus.len() / 2);
        match cpus.len() {
            count @ 4.. => {
                let own = (count / 4).min(threads).max(1);
                let (boxes, emulator) = others.split_at(others.len() - own);
                Self { test: set(test), black_boxes: set(boxes), emulator: set(emulator) }
            }
            2.. => Self { test: set(test), black_boxes: set(others), emulator: set(others) },
            _ => Self { test: set(&cpus), black_boxes: set(&cpus), emulator: set(&cpus) },
        }
    }

    /// The black boxes on the CPUs of the test host, so that both ends of a connection can share one.
    pub(super) fn together(self) -> Self {
        Self { black_boxes: self.test.clone(), ..self }
    }

    pub(super) fn cpus(&self, role: Role) -> &CpuSet {
        match role {
            Role::Test => &self.test,
            Role::Active | Role::Passive => &self.black_boxes,
        }
    }

    pub(super) fn emulator(&self) -> &CpuSet {
        &self.emulator
    }

    /// True where the emulator must not spin: somebody else runs on its CPUs.
    pub(super) fn emulator_shares(&self) -> bool {
        !self.emulator.is_disjoint(&self.black_boxes)
    }

    /// The layout for the disclosure.
    pub(super) fn facts(&self) -> BTreeMap<String, Fact> {
        let list = |set: &CpuSet| Fact::known(set.iter().collect::<Vec<u32>>());
        let separate = match (self.test.is_disjoint(&self.black_boxes), self.emulator_shares()) {
            (false, true) => "no: one CPU for all roles and the emulator",
            (false, false) => SHARED,
            (true, true) => "partly: the emulator shares the black boxes' CPUs",
            (true, false) => "yes",
        };
        let facts = [
            ("cpus_black_boxes", list(&self.black_boxes)),
            ("cpus_emulator", list(&self.emulator)),
            ("cpus_separate", Fact::known(separate)),
            ("cpus_test", list(&self.test)),
        ];
        facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
    }
}

const SHARED: &str = "no: the black boxes are on the test host's CPUs";

#[cfg(test)]
mod tests {
    use super::*;

    fn placement(cpus: u32, threads: usize) -> [Vec<u32>; 3] {
        let placement = Placement::of(&CpuSet::of(0..cpus), threads);
        [&placement.test, &placement.black_boxes, &placement.emulator]
            .map(|set| set.iter().collect())
    }

    #[test]
    fn the_test_host_is_apart_wherever_there_are_two_cpus() {
        assert_eq!(placement(1, 2), [vec![0], vec![0], vec![0]]);
        assert_eq!(placement(2, 2), [vec![0], vec![1], vec![1]]);
        assert_eq!(placement(3, 2), [vec![0], vec![1, 2], vec![1, 2]]);
        assert_eq!(placement(4, 2), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(placement(7, 2), [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    }

    #[test]
    fn the_emulator_has_a_cpu_for_each_thread_where_a_quarter_of_them_are_so_many() {
        assert_eq!(placement(8, 2), [vec![0, 1, 2, 3], vec![4, 5], vec![6, 7]]);
        assert_eq!(placement(8, 1), [vec![0, 1, 2, 3], vec![4, 5, 6], vec![7]]);
        assert_eq!(placement(8, 3)[2], [6, 7]);
        assert_eq!(placement(12, 3)[1..], [vec![6, 7, 8], vec![9, 10, 11]]);
        assert_eq!(placement(16, 2)[1..], [vec![8, 9, 10, 11, 12, 13], vec![14, 15]]);
    }

    #[test]
    fn together_both_ends_have_the_test_hosts_cpus_and_the_emulator_its_own() {
        for cpus in 2..=16 {
            let apart = Placement::of(&CpuSet::of(0..cpus), 2);
            let together = apart.clone().together();
            assert_eq!(
                (together.cpus(Role::Test), &together.emulator),
                (&apart.test, &apart.emulator)
            );
            assert_eq!(together.cpus(Role::Passive), &apart.test);
            assert!(!together.emulator_shares());
            assert_eq!(together.facts()["cpus_separate"], Fact::known(SHARED));
        }
    }

    #[test]
    fn nobody_is_without_a_cpu_and_none_is_given_twice_from_four_on() {
        for (cpus, threads) in (1..=16).flat_map(|cpus| (1..=3).map(move |threads| (cpus, threads)))
        {
            let sets = placement(cpus, threads);
            assert!(sets.iter().all(|set| !set.is_empty()), "{cpus}: {sets:?}");
            let all: CpuSet = sets.iter().flatten().copied().collect();
            assert_eq!(all, CpuSet::of(0..cpus));
            let given = sets.iter().map(Vec::len).sum::<usize>();
            assert!(cpus < 4 || given == all.len(), "{cpus}: {sets:?}");
        }
    }
}
