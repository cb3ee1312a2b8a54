//! What network devices got wrong or threw away: frames that are no matter of TCP's.

use btu_core::sample::CounterDelta;
use btu_core::sample::HostSample;

use super::Figure;
use super::Probe;
use super::Reading;
use super::deltas;
use crate::files::Files;

/// The probe `devices`.
#[derive(Debug)]
pub(super) struct Devices;

impl Probe for Devices {
    fn name(&self) -> &'static str {
        "devices"
    }

    fn summary(&self) -> &'static str {
        "errors and drops of network devices (/proc/net/dev)"
    }

    fn read(&self, files: &Files) -> Reading {
        let text = files.text("/proc/thread-self/net/dev").unwrap_or_default();
        text.lines().filter_map(of_device).flatten().collect()
    }

    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        let deltas = deltas(before, after);
        let all = frames(&deltas, |_| true);
        let counts = |one: &&CounterDelta| {
            let own = |other: &CounterDelta| device_of(other) == device_of(one);
            let is_faulty = deltas.iter().any(|other| own(other) && !is_frames(other));
            is_faulty && frames(&deltas, own) * PART >= all
        };
        sample.devices = deltas.iter().filter(counts).cloned().collect();
    }
}

/// `eth0: 8123 45 0 0 0 0 0 0 9121 50 0 0 0 0 0 0`; a heading has no numbers.
fn of_device(line: &str) -> Option<Vec<(String, Figure)>> {
    let (device, numbers) = line.rsplit_once(':')?;
    let numbers: Vec<i64> =
        numbers.split_ascii_whitespace().map_while(|n| n.parse().ok()).collect();
    let figure = |(at, name): &(usize, &str)| {
        Some((format!("{}.{name}", device.trim()), Figure::Count(*numbers.get(*at)?)))
    };
    COLUMNS.iter().map(figure).collect()
}

fn device_of(one: &CounterDelta) -> &str {
    one.name.rsplit_once('.').map_or("", |(device, _)| device)
}

fn is_frames(one: &CounterDelta) -> bool {
    one.name.ends_with("_packets")
}

fn frames(counters: &[CounterDelta], wanted: impl Fn(&CounterDelta) -> bool) -> i64 {
    counters.iter().filter(|one| is_frames(one) && wanted(one)).map(|one| one.delta).sum()
}

/// A device that carried less than one of so many frames carried other traffic than what was measured.
const PART: i64 = 100;

/// Columns of `/proc/net/dev` behind the name, by the names of `Documentation/networking/statistics.rst`. Drops include what
/// the device missed for want of a free buffer (`dev_seq_printf_stats` in `net/core/net-procfs.c`).
const COLUMNS: [(usize, &str); 6] = [
    (1, "rx_packets"),
    (2, "rx_errors"),
    (3, "rx_dropped"),
    (9, "tx_packets"),
    (10, "tx_errors"),
    (11, "tx_dropped"),
];

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Inter-|   Receive                                                |  Transmit\n \
        face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
        lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n  \
        eth0:1: 900      10    2    3    0     2          0         0     5000       7    4    1    0     0       4          0\n";

    #[test]
    fn what_moved_is_told_by_device_and_name() {
        let reading =
            |text: &str| -> Reading { text.lines().filter_map(of_device).flatten().collect() };
        let (before, after) =
            (reading(TEXT), reading(&TEXT.replace("10    2    3", "25    9    3")));
        assert_eq!((before.len(), &before["eth0:1.tx_dropped"]), (12, &Figure::Count(1)));
        let told = folded(&before, &after);
        assert_eq!(
            told,
            [("eth0:1.rx_errors".to_owned(), 7), ("eth0:1.rx_packets".to_owned(), 15)]
        );
    }

    fn folded(before: &Reading, after: &Reading) -> Vec<(String, i64)> {
        let mut sample = HostSample::default();
        Devices.fold(before, after, &mut sample);
        sample.devices.into_iter().map(|one| (one.name, one.delta)).collect()
    }

    #[test]
    fn a_device_that_carried_next_to_nothing_and_one_without_fault_are_left_out() {
        let reading = |counts: [(&str, i64); 4]| {
            counts.map(|(name, count)| (name.to_owned(), Figure::Count(count))).into()
        };
        let names = ["eth0.rx_packets", "eth1.rx_packets", "eth1.rx_dropped", "lo.rx_packets"];
        let [eth0, eth1, dropped, lo] = names;
        let before = reading([(eth0, 0), (eth1, 0), (dropped, 0), (lo, 0)]);
        assert_eq!(
            folded(&before, &reading([(eth0, 9000), (eth1, 80), (dropped, 20), (lo, 5)])),
            []
        );
        let told = folded(&before, &reading([(eth0, 0), (eth1, 80), (dropped, 20), (lo, 5)]));
        assert_eq!(told, [(dropped.to_owned(), 20), (eth1.to_owned(), 80)]);
    }
}
