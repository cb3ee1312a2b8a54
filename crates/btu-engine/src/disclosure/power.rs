//! What the processors' speed depends on: governor, limits, turbo, idle states.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;

use super::Group;
use super::Source;
use super::table;
use crate::files::Files;

/// The group `cpu_power`.
#[derive(Debug)]
pub(super) struct Power;

impl Group for Power {
    fn name(&self) -> &'static str {
        "cpu_power"
    }

    fn about(&self) -> &'static str {
        "governor, limits, turbo and idle states of the processors"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        table(files, ROWS)
    }
}

const ROWS: &[(&str, Source)] = &[
    ("energy_preference", Source::PerCpu("cpufreq/energy_performance_preference")),
    ("frequency_max_khz", Source::PerCpu("cpufreq/scaling_max_freq")),
    ("frequency_min_khz", Source::PerCpu("cpufreq/scaling_min_freq")),
    ("frequency_mhz_now", Source::Line("/proc/cpuinfo", ':', "cpu MHz")),
    ("governor", Source::PerCpu("cpufreq/scaling_governor")),
    ("idle_driver", Source::File("/sys/devices/system/cpu/cpuidle/current_driver")),
    ("idle_governor", Source::File("/sys/devices/system/cpu/cpuidle/current_governor")),
    ("throttle_count", Source::PerCpu("thermal_throttle/core_throttle_count")),
    ("turbo_boost", Source::File("/sys/devices/system/cpu/cpufreq/boost")),
    ("turbo_off", Source::File("/sys/devices/system/cpu/intel_pstate/no_turbo")),
];
