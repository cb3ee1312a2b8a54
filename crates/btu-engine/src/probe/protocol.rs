//! Protocol counters of the network namespace: which ones a run moved, and how far.

use btu_core::sample::HostSample;

use super::Figure;
use super::Probe;
use super::Reading;
use super::deltas;
use crate::files::Files;

/// The probe `protocol`.
#[derive(Debug)]
pub(super) struct Protocol;

impl Probe for Protocol {
    fn name(&self) -> &'static str {
        "protocol"
    }

    fn summary(&self) -> &'static str {
        "IP, TCP and UDP counters that moved (/proc/net/snmp, /proc/net/netstat)"
    }

    fn read(&self, files: &Files) -> Reading {
        let texts = SOURCES.iter().filter_map(|path| files.text(path).ok());
        texts.flat_map(|text| counters(&text)).collect()
    }

    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        sample.counters.extend(deltas(before, after));
    }
}

/// Pairs of lines: `TcpExt: SyncookiesSent ...` and `TcpExt: 0 ...`.
fn counters(text: &str) -> Vec<(String, Figure)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut counters = Vec::new();
    for pair in lines.chunks_exact(2) {
        let (Some((group, names)), Some((_, values))) =
            (pair[0].split_once(": "), pair[1].split_once(": "))
        else {
            continue;
        };
        let columns = names.split(' ').zip(values.split(' '));
        counters.extend(columns.filter_map(|(name, value)| {
            Some((format!("{group}.{name}"), Figure::Count(value.parse().ok()?)))
        }));
    }
    counters
}

const SOURCES: [&str; 2] = ["/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat"];

#[cfg(test)]
mod tests {
    use btu_core::sample::CounterDelta;

    use super::*;

    #[test]
    fn names_and_values_are_paired() {
        let text = "Tcp: RtoMin ActiveOpens\nTcp: 200 7\nUdp: InErrors\nUdp: 0";
        let expected = [("Tcp.RtoMin", 200), ("Tcp.ActiveOpens", 7), ("Udp.InErrors", 0)];
        let expected = expected.map(|(name, value)| (name.to_owned(), Figure::Count(value)));
        assert_eq!(counters(text), expected);
    }

    #[test]
    fn only_counters_that_moved_are_kept() {
        let reading = |opens| {
            Reading::from([
                ("Tcp.ActiveOpens".to_owned(), Figure::Count(opens)),
                ("Tcp.RtoMin".to_owned(), Figure::Count(200)),
            ])
        };
        let mut sample = HostSample::default();
        Protocol.fold(&reading(1), &reading(3), &mut sample);
        assert_eq!(sample.counters, [CounterDelta { name: "Tcp.ActiveOpens".into(), delta: 2 }]);
    }
}
