//! Whether launches that must agree do.

use super::super::sample::LaunchSample;
use super::super::sample::RankSample;

/// Whether launches have something in common that none may have of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sameness {
    /// Two launches differ.
    Different,
    /// All of so many launches have it.
    Same(usize),
    /// There are less than two launches to compare.
    Unknown,
}

/// That of launches in what `part` is of them.
pub(super) fn of<T: PartialEq>(
    launches: &[&LaunchSample],
    part: impl Fn(&LaunchSample) -> T,
) -> Sameness {
    let parts: Vec<T> = launches.iter().map(|launch| part(launch)).collect();
    match parts.as_slice() {
        [] | [_] => Sameness::Unknown,
        [first, others @ ..] if others.iter().all(|other| other == first) => {
            Sameness::Same(parts.len())
        }
        _ => Sameness::Different,
    }
}

/// What each rank found, bit by bit: the order of all additions depends on the number of ranks alone.
pub(super) fn bits(sample: &LaunchSample) -> Vec<Vec<(String, u64)>> {
    let of = |rank: &RankSample| {
        let checks = rank.outcome.iter().flat_map(|outcome| &outcome.checks);
        checks.map(|check| (check.name.clone(), check.found.to_bits())).collect()
    };
    sample.ranks.iter().map(of).collect()
}
