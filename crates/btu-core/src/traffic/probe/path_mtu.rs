//! The search for a path MTU (RFC 8899), probe by probe.

use serde::Deserialize;
use serde::Serialize;

use crate::traffic::figures::path_mtu::MOST_PROBES;
use crate::units::Bytes;
use crate::units::Nanos;

/// A search for a path MTU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathMtuSample {
    /// The largest packet of the device by which probes left.
    pub device_mtu_bytes: Bytes,
    /// True where its packets were those of IPv6.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_ipv6: bool,
    /// How long an answer was waited for beside four times the slowest one.
    pub timer_ns: Nanos,
    /// Why nobody could search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// Every probe, in order.
    pub probes: Vec<PathMtuProbe>,
}

/// One packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathMtuProbe {
    /// From the IP header on.
    pub size_bytes: Bytes,
    /// When it left, from the beginning of the search on.
    pub sent_ns: Nanos,
    /// How long its answer took; `None` where none came.
    pub answered_ns: Option<Nanos>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMtuFigures {
    /// The largest packet that came whole; `None` where nobody answered or nobody could search.
    pub path_mtu: Option<Bytes>,
    /// True where one byte more is known to be too much, for the path or for the device.
    pub is_exact: bool,
    /// The largest packet of the device.
    pub device: Bytes,
    /// True where its packets were those of IPv6.
    pub over_ipv6: bool,
    /// How long an answer was waited for beside four times the slowest one.
    pub timer: Nanos,
    /// Probes.
    pub probes: usize,
    /// Those that were answered.
    pub answered: usize,
    /// Why nobody could search.
    pub unavailable: Option<String>,
}

impl PathMtuSample {
    /// The slowest answer so far.
    pub fn slowest(&self) -> Option<Nanos> {
        self.probes.iter().filter_map(|probe| probe.answered_ns).max()
    }

    /// What it found.
    pub fn figures(&self) -> PathMtuFigures {
        let answered = || self.probes.iter().filter(|probe| probe.answered_ns.is_some());
        let path_mtu = answered().map(|probe| probe.size_bytes).max();
        PathMtuFigures {
            path_mtu,
            is_exact: path_mtu.is_some_and(|mtu| self.is_the_largest(mtu)),
            device: self.device_mtu_bytes,
            over_ipv6: self.over_ipv6,
            timer: self.timer_ns,
            probes: self.probes.len(),
            answered: answered().count(),
            unavailable: self.unavailable.clone(),
        }
    }

    fn is_the_largest(&self, mtu: Bytes) -> bool {
        let above = |probe: &&PathMtuProbe| probe.size_bytes.count() == mtu.count() + 1;
        let above = self.probes.iter().filter(above).count();
        mtu >= self.device_mtu_bytes || u32::try_from(above).is_ok_and(|n| n >= MOST_PROBES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_whole_is_the_path_mtu_once_a_byte_more_did_not() {
        let probe = |size, comes: bool| PathMtuProbe {
            size_bytes: Bytes::new(size),
            answered_ns: comes.then(|| Nanos::from_millis(size)),
            ..PathMtuProbe::default()
        };
        let of = |probes: &[PathMtuProbe]| {
            let device_mtu_bytes = Bytes::new(1500);
            let sample = PathMtuSample {
                device_mtu_bytes,
                probes: probes.to_vec(),
                ..PathMtuSample::default()
            };
            let figures = sample.figures();
            (figures.path_mtu.map(Bytes::count), figures.is_exact, figures.answered)
        };
        let base = probe(1200, true);
        assert_eq!(of(&[]), (None, false, 0));
        assert_eq!(of(&[base, probe(1500, true)]), (Some(1500), true, 2));
        // Cut off, or given up too soon.
        assert_eq!(of(&[base, probe(1500, false)]), (Some(1200), false, 1));
        let (whole, lost) = (probe(1400, true), probe(1401, false));
        assert_eq!(of(&[base, whole, lost, lost]), (Some(1400), false, 2));
        assert_eq!(of(&[base, whole, lost, lost, lost]), (Some(1400), true, 2));
    }
}
