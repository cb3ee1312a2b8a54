//! When the processor held its clock back because it was too hot.

use btu_core::sample::HostSample;
use btu_core::units::Nanos;

use super::Figure;
use super::Probe;
use super::Reading;
use super::moved;
use crate::files::Files;

/// The probe `heat`.
#[derive(Debug)]
pub(super) struct Heat;

impl Probe for Heat {
    fn name(&self) -> &'static str {
        "heat"
    }

    fn summary(&self) -> &'static str {
        "spells in which CPUs were too hot for their clock (/sys/devices/system/cpu/cpu*/thermal_throttle)"
    }

    fn read(&self, files: &Files) -> Reading {
        let cpus = files.names(CPUS).into_iter().filter(|name| is_cpu(name));
        // A processor that counts none has none of these files: a look at its first CPU is enough. One that is offline has
        // none either, and older kernels have no times.
        if !files.exists(&format!("{CPUS}/cpu0/{}", SPELLS[0])) {
            return Reading::new();
        }
        let paths = cpus.flat_map(|cpu| {
            [SPELLS, TIMES].as_flattened().iter().map(move |file| format!("{CPUS}/{cpu}/{file}"))
        });
        let count = |path: &String| Some(Figure::Count(files.text(path).ok()?.parse().ok()?));
        paths
            .filter_map(|path| Some((count(&path)?, path)))
            .map(|(count, path)| (path, count))
            .collect()
    }

    /// Cores and the package they are in are slowed apart or together: the most counts.
    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        let most = |files: [&str; 2]| {
            let paths = after.keys().filter(|path| files.iter().any(|file| path.ends_with(file)));
            let most = paths.filter_map(|path| moved(path, before, after)).max();
            most.map(|most| u64::try_from(most).unwrap_or(0))
        };
        sample.hot_spells = most(SPELLS);
        sample.hot_ns = most(TIMES).map(Nanos::from_millis);
    }
}

fn is_cpu(name: &str) -> bool {
    name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok())
}

const CPUS: &str = "/sys/devices/system/cpu";
/// Since boot (`Documentation/admin-guide/thermal/intel_thermal_throttle.rst`). A spell is counted as it begins.
const SPELLS: [&str; 2] =
    ["thermal_throttle/core_throttle_count", "thermal_throttle/package_throttle_count"];
/// Milliseconds since boot. The time of a spell is added as it ends.
const TIMES: [&str; 2] = [
    "thermal_throttle/core_throttle_total_time_ms",
    "thermal_throttle/package_throttle_total_time_ms",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(before: &Reading, after: &Reading) -> (Option<u64>, Option<Nanos>) {
        let mut sample = HostSample::default();
        Heat.fold(before, after, &mut sample);
        (sample.hot_spells, sample.hot_ns)
    }

    #[test]
    fn the_core_or_package_that_was_slowed_most_counts() {
        let root = tempfile::tempdir().unwrap();
        let files = Files::below(root.path());
        let write = |cpu: &str, counts: [u64; 4]| {
            let directory = root.path().join("sys/devices/system/cpu").join(cpu);
            std::fs::create_dir_all(directory.join("thermal_throttle")).unwrap();
            for (file, count) in [SPELLS, TIMES].as_flattened().iter().zip(counts) {
                std::fs::write(directory.join(file), format!("{count}\n")).unwrap();
            }
        };
        write("cpu0", [1, 7, 10, 500]);
        write("cpu1", [2, 7, 20, 500]);
        for other in ["cpufreq", "cpu00"] {
            std::fs::create_dir(root.path().join("sys/devices/system/cpu").join(other)).unwrap();
        }
        let before = Heat.read(&files);
        assert_eq!(before.len(), 8, "a CPU that is offline tells nothing");
        write("cpu1", [3, 9, 320, 700]);
        assert_eq!(folded(&before, &Heat.read(&files)), (Some(2), Some(Nanos::from_millis(300))));
    }

    #[test]
    fn spells_are_told_where_a_kernel_counts_no_times() {
        let reading =
            |count| Reading::from([(format!("{CPUS}/cpu0/{}", SPELLS[1]), Figure::Count(count))]);
        assert_eq!(folded(&reading(4), &reading(5)), (Some(1), None));
    }

    #[test]
    fn a_processor_that_tells_nothing_is_not_called_cool() {
        let none = Heat.read(&Files::below("/nowhere"));
        assert_eq!((none.len(), folded(&none, &none)), (0, (None, None)));
    }
}
