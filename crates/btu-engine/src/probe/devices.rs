//! What network devices got wrong or threw away: frames that are no matter of TCP's.

use btu_core::sample::CounterDelta;
use btu_core::sample::HostSample;

use super::Figure;
use super::Probe;
use super::Reading;
use super::moved;
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
        let deltas = after.keys().filter_map(|name| {
            let delta = moved(name, before, after).filter(|delta| *delta != 0)?;
            Some(CounterDelta { name: name.clone(), delta })
        });
        sample.devices = deltas.collect();
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
        let mut sample = HostSample::default();
        Devices.fold(&before, &after, &mut sample);
        let told = sample.devices.iter().map(|one| (one.name.as_str(), one.delta));
        let told: Vec<_> = told.collect();
        assert_eq!(told, [("eth0:1.rx_errors", 7), ("eth0:1.rx_packets", 15)]);
    }
}
