//! The drift guard: settings of the host that must not change while it is measured.

use btu_core::sample::HostSample;

use super::Figure;
use super::Probe;
use super::Reading;
use crate::files::Files;

/// The probe `drift`.
#[derive(Debug)]
pub(super) struct Drift;

impl Probe for Drift {
    fn name(&self) -> &'static str {
        "drift"
    }

    fn summary(&self) -> &'static str {
        "settings that must not change: CPUs, governor, turbo, clock source, congestion control"
    }

    fn read(&self, files: &Files) -> Reading {
        let setting = |path: &&str| {
            let text = files.text(path).ok()?;
            Some(((*path).to_owned(), Figure::Setting(text)))
        };
        let mut reading: Reading = SETTINGS.iter().filter_map(setting).collect();
        reading.insert(SUSPENDED.to_owned(), Figure::Count(suspended_ms()));
        reading
    }

    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        for (name, was) in before {
            let is = after.get(name);
            if let (Figure::Setting(was), Some(Figure::Setting(is))) = (was, is)
                && was != is
            {
                sample.drift.push(format!("{name} changed from \"{was}\" to \"{is}\""));
            }
        }
        if super::moved(SUSPENDED, before, after).is_some_and(|slept| slept > 50) {
            sample.drift.push("the machine was suspended".to_owned());
        }
    }
}

/// How long the machine was ever suspended: the boot clock goes on, the monotonic one does not.
fn suspended_ms() -> i64 {
    let asleep = btu_sys::clock::boottime_ns().saturating_sub(btu_sys::clock::monotonic_ns());
    i64::try_from(asleep / 1_000_000).unwrap_or(i64::MAX)
}

const SUSPENDED: &str = "suspended";

const SETTINGS: [&str; 10] = [
    "/proc/sys/net/core/rmem_max",
    "/proc/sys/net/core/wmem_max",
    "/proc/sys/net/ipv4/tcp_congestion_control",
    "/proc/sys/net/ipv4/tcp_rmem",
    "/proc/sys/net/ipv4/tcp_wmem",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/devices/system/cpu/online",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(text: &str) -> Reading {
        Reading::from([("/proc/sys/x".to_owned(), Figure::Setting(text.to_owned()))])
    }

    #[test]
    fn a_changed_setting_is_named_with_both_values() {
        let mut sample = HostSample::default();
        Drift.fold(&setting("a"), &setting("b"), &mut sample);
        assert_eq!(sample.drift, ["/proc/sys/x changed from \"a\" to \"b\""]);
    }

    #[test]
    fn this_machine_holds_still_for_a_moment() {
        let files = Files::host();
        let mut sample = HostSample::default();
        Drift.fold(&Drift.read(&files), &Drift.read(&files), &mut sample);
        assert_eq!(sample.drift, Vec::<String>::new());
    }
}
