//! CPU time of the whole host: idle, softirq, stolen, and what processes that are not ours took.

use btu_core::sample::HostSample;
use btu_core::units::Nanos;

use super::Figure;
use super::Probe;
use super::Reading;
use super::moved;
use crate::files::Files;

/// The probe `cpu-time`.
#[derive(Debug)]
pub(super) struct CpuTime;

impl Probe for CpuTime {
    fn name(&self) -> &'static str {
        "cpu-time"
    }

    fn summary(&self) -> &'static str {
        "idle, softirq, steal and foreign CPU time of the host (/proc/stat)"
    }

    fn read(&self, files: &Files) -> Reading {
        let mut reading = Reading::new();
        let Ok(text) = files.text("/proc/stat") else { return reading };
        for (name, time) in total(&text) {
            reading.insert(name.to_owned(), Figure::Count(time));
        }
        let own = i64::try_from(btu_sys::cpu::process_cpu_ns()).unwrap_or(i64::MAX);
        reading.insert(OWN.to_owned(), Figure::Count(own));
        let cpus = text.lines().filter(|l| l.starts_with("cpu") && !l.starts_with("cpu ")).count();
        reading.insert(CPUS.to_owned(), Figure::Count(i64::try_from(cpus).unwrap_or(1)));
        reading
    }

    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        let time = |name: &str| moved(name, before, after).map(span);
        sample.idle_ns = time("idle");
        sample.softirq_ns = time("softirq");
        sample.steal_ns = time(STEAL);
        sample.foreign_cpu_ns = foreign(before, after);
    }
}

/// CPU time of processes that are not ours, less what the kernel's tick accounting cannot tell:
/// three ticks on each CPU. A short run must not be called disturbed for want of resolution.
fn foreign(before: &Reading, after: &Reading) -> Option<Nanos> {
    let processes = ["user", "nice", "system"].map(|name| moved(name, before, after));
    let busy = processes.into_iter().try_fold(0, |sum, part| Some(sum + part?))?;
    let Some(Figure::Count(cpus)) = after.get(CPUS) else { return None };
    let blur = 3 * NANOS_PER_TICK * cpus;
    Some(span(busy - moved(OWN, before, after)? - blur))
}

/// The time of all CPUs together since boot, in nanoseconds, by its name in [`FIELDS`]; those that `/proc/stat` has.
pub(crate) fn total(text: &str) -> impl Iterator<Item = (&'static str, i64)> + '_ {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let times = line.split_whitespace().map_while(|ticks| ticks.parse::<i64>().ok());
    FIELDS.into_iter().zip(times.map(|ticks| ticks.saturating_mul(NANOS_PER_TICK)))
}

fn span(nanos: i64) -> Nanos {
    Nanos::new(u64::try_from(nanos).unwrap_or(0))
}

/// Columns of `/proc/stat` (proc(5)).
const FIELDS: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", STEAL];
/// What the hypervisor gave to others.
pub(crate) const STEAL: &str = "steal";
const OWN: &str = "own";
const CPUS: &str = "cpus";

/// `USER_HZ` is 100 on every Linux of today.
const NANOS_PER_TICK: i64 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(user: i64, own: i64) -> Reading {
        let count = |name: &str, value| (name.to_owned(), Figure::Count(value));
        Reading::from([
            count("user", user),
            count("nice", 0),
            count("system", 0),
            count(OWN, own),
            count(CPUS, 2),
        ])
    }

    #[test]
    fn foreign_time_is_what_is_left_beyond_the_resolution() {
        let before = reading(0, 0);
        assert_eq!(
            foreign(&before, &reading(500_000_000, 400_000_000)),
            Some(Nanos::from_millis(40))
        );
        assert_eq!(foreign(&before, &reading(450_000_000, 400_000_000)), Some(Nanos::ZERO));
        assert_eq!(foreign(&before, &reading(300_000_000, 400_000_000)), Some(Nanos::ZERO));
    }

    #[test]
    fn the_first_line_of_proc_stat_is_the_sum() {
        let text = "cpu  57879 0 15831 327232 2194 0 216 21 0 0\ncpu0 1 2 3\n";
        let ticks = [57879, 0, 15831, 327_232, 2194, 0, 216, 21];
        let expected = FIELDS.into_iter().zip(ticks.map(|ticks| ticks * 10_000_000));
        assert_eq!(total(text).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        assert_eq!(total("cpu  1 x").collect::<Vec<_>>(), [("user", 10_000_000)]);
    }
}
