//! Time in which the CPU quota of a control group stopped the programs of the host.

use btu_core::sample::HostSample;
use btu_core::units::Nanos;

use super::Figure;
use super::Probe;
use super::Reading;
use super::moved;
use crate::control_group::ControlGroups;
use crate::files::Files;

/// The probe `cpu-quota`.
#[derive(Debug)]
pub(super) struct CpuQuota;

impl Probe for CpuQuota {
    fn name(&self) -> &'static str {
        "cpu-quota"
    }

    fn summary(&self) -> &'static str {
        "time in which the CPU quota of a control group stopped us (cpu.stat)"
    }

    fn read(&self, files: &Files) -> Reading {
        let read = |path: &str| files.text(path);
        let Ok(groups) = ControlGroups::with("cpu", &read) else { return Reading::new() };
        let times = groups.throttled_ns(&read);
        let count = |ns| Figure::Count(i64::try_from(ns).unwrap_or(i64::MAX));
        times.map(|(group, ns)| (group.to_owned(), count(ns))).collect()
    }

    /// A group that is stopped stops those in it, whose own quotas may stop them as well: the longest counts.
    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        let times = after.keys().filter_map(|group| moved(group, before, after));
        sample.throttled_ns = times.max().map(|ns| Nanos::new(u64::try_from(ns).unwrap_or(0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_was_stopped_longest_counts_and_none_is_not_available() {
        let reading = |own, around| {
            let count = |name: &str, ns| (name.to_owned(), Figure::Count(ns));
            Reading::from([count("/sys/fs/cgroup/a/b", own), count("/sys/fs/cgroup/a", around)])
        };
        let folded = |before: &Reading, after: &Reading| {
            let mut sample = HostSample::default();
            CpuQuota.fold(before, after, &mut sample);
            sample.throttled_ns
        };
        assert_eq!(folded(&reading(10, 500), &reading(30, 570)), Some(Nanos::new(70)));
        assert_eq!(folded(&reading(10, 500), &reading(10, 500)), Some(Nanos::ZERO));
        assert_eq!(folded(&Reading::new(), &Reading::new()), None);
    }
}
