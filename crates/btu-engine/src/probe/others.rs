//! CPU time of processes that are not ours, by the scheduler's own account of each.

use btu_core::sample::HostSample;
use btu_core::units::Nanos;
use btu_sys::process;

use super::Figure;
use super::Probe;
use super::Reading;
use crate::files::Files;

/// The probe `other-processes`.
///
/// The ticks of `/proc/stat` tell it only roughly, and without `CONFIG_IRQ_TIME_ACCOUNTING` not at all beside
/// heavy traffic: the CPU time of our threads holds the softirqs that ran in their place, which the ticks count
/// apart. Here a process that began and ended within the run is not seen. The larger of both is the least that
/// others took.
#[derive(Debug)]
pub(super) struct OtherProcesses;

impl Probe for OtherProcesses {
    fn name(&self) -> &'static str {
        "other-processes"
    }

    fn summary(&self) -> &'static str {
        "CPU time of each process that is not ours, by the scheduler's account"
    }

    fn read(&self, files: &Files) -> Reading {
        if !files.is_host() {
            return Reading::new();
        }
        let count = |took| Figure::Count(i64::try_from(took).unwrap_or(i64::MAX));
        process::cpu_of_others()
            .into_iter()
            .map(|(pid, took)| (pid.to_string(), count(took)))
            .collect()
    }

    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        if !before.is_empty() {
            sample.foreign_cpu_ns = sample.foreign_cpu_ns.max(Some(took(before, after)));
        }
    }
}

/// What all of them took. Who was not there before began meanwhile, also in the place of one that ended.
fn took(before: &Reading, after: &Reading) -> Nanos {
    let each = after.iter().map(|(pid, now)| match (before.get(pid), now) {
        (Some(Figure::Count(then)), Figure::Count(now)) if then <= now => now - then,
        (_, Figure::Count(now)) => *now,
        (_, Figure::Setting(_)) => 0,
    });
    Nanos::new(u64::try_from(each.sum::<i64>()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(took: &[(&str, i64)]) -> Reading {
        took.iter().map(|(pid, took)| ((*pid).to_owned(), Figure::Count(*took))).collect()
    }

    #[test]
    fn who_is_new_or_came_in_the_place_of_another_took_all_of_its_time() {
        let before = reading(&[("10", 500), ("11", 700), ("12", 900)]);
        let after = reading(&[("10", 540), ("11", 3), ("13", 20)]);
        assert_eq!(took(&before, &after), Nanos::new(40 + 3 + 20));
    }

    #[test]
    fn the_larger_of_both_accounts_is_kept_and_where_nobody_is_seen_nothing_is_said() {
        let fold = |known: Option<u64>, before: &Reading| {
            let foreign_cpu_ns = known.map(Nanos::new);
            let mut sample = HostSample { foreign_cpu_ns, ..HostSample::default() };
            OtherProcesses.fold(before, &reading(&[("10", 60)]), &mut sample);
            sample.foreign_cpu_ns.map(Nanos::count)
        };
        let seen = reading(&[("10", 10)]);
        assert_eq!(
            [Some(40), Some(90), None].map(|ticks| fold(ticks, &seen)),
            [Some(50), Some(90), Some(50)]
        );
        assert_eq!(fold(None, &Reading::new()), None);
    }
}
