//! What the processors' speed depends on: governor, limits, turbo, idle states.

use std::collections::BTreeMap;
use std::io;

use btu_core::disclosure::Fact;

use super::Group;
use super::Source;
use super::each_cpu;
use super::table;
use crate::files::Files;

/// The group `cpu_power`.
#[derive(Debug)]
pub(super) struct CpuPower;

impl Group for CpuPower {
    fn name(&self) -> &'static str {
        "cpu_power"
    }

    fn about(&self) -> &'static str {
        "governor, limits, turbo and idle states of the processors"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        let mut facts = table(files, ROWS);
        facts.insert("idle_states".to_owned(), each_cpu(files, |cpu| idle_states(files, cpu)));
        facts
    }
}

/// `POLL, C1, C6 (disabled)`: what a CPU may fall into, lightest first.
fn idle_states(files: &Files, cpu: &str) -> io::Result<String> {
    let at = format!("/sys/devices/system/cpu/{cpu}/cpuidle");
    let mut states = Vec::new();
    for number in 0..files.names(&at).iter().filter(|name| name.starts_with("state")).count() {
        let name = files.text(&format!("{at}/state{number}/name"))?;
        let is_disabled = files.text(&format!("{at}/state{number}/disable"))? != "0";
        states.push(if is_disabled { format!("{name} (disabled)") } else { name });
    }
    let none = "the CPU lists no idle states";
    if states.is_empty() {
        Err(io::Error::new(io::ErrorKind::NotFound, none))
    } else {
        Ok(states.join(", "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_states_are_told_from_the_lightest_on_and_a_disabled_one_is_marked() {
        let dir = tempfile::tempdir().unwrap();
        for (number, name, disabled) in [(0, "POLL", "0"), (1, "C1", "0"), (2, "C6", "1")] {
            let at = dir.path().join(format!("sys/devices/system/cpu/cpu0/cpuidle/state{number}"));
            std::fs::create_dir_all(&at).unwrap();
            std::fs::write(at.join("name"), name).unwrap();
            std::fs::write(at.join("disable"), disabled).unwrap();
        }
        let facts = CpuPower.facts(&Files::below(dir.path()));
        assert_eq!(facts["idle_states"], Fact::known("POLL, C1, C6 (disabled)"));
        let none = tempfile::tempdir().unwrap();
        let facts = CpuPower.facts(&Files::below(none.path()));
        assert!(facts["idle_states"].reason.is_some());
    }
}
