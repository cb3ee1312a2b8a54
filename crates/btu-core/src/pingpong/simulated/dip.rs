//! A range of sizes that takes longer than it should.

use std::ops::RangeInclusive;

use super::super::configuration::Configuration;
use super::super::configuration::Writes;
use crate::units::Bytes;

/// A range of sizes that takes longer, with good sizes inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Dip {
    reach: Reach,
    factor: f64,
    added_us: f64,
    holes: Vec<RangeInclusive<u64>>,
}

/// Which sizes a dip reaches under a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// These sizes, whatever is configured.
    Always(RangeInclusive<u64>),
    /// What is larger than the send buffer, to this size: the rest of a block waits for room. The
    /// buffer is twice that of the configuration (socket(7)), else the first of both.
    Beyond(u64, u64),
    /// These sizes, unless the path cuts no segments for the sender.
    Offloaded(RangeInclusive<u64>),
    /// These sizes, unless the send buffer is aligned to this many bytes.
    Unaligned(RangeInclusive<u64>, u64),
    /// Two writes with Nagle's algorithm: from the header to less than a whole segment after it.
    /// The second write waits for the acknowledgement of the first, which the peer delays
    /// (RFC 896; RFC 1122, section 4.2.3.2). The segment is that of the configuration less 12
    /// bytes of timestamps, else this.
    Nagle(u64),
}

impl Dip {
    /// Sizes of `reach` take `factor` times as long.
    pub fn slower(reach: Reach, factor: f64) -> Self {
        Self { reach, factor, added_us: 0.0, holes: Vec::new() }
    }

    /// Sizes of `reach` take `added_us` longer.
    pub fn later(reach: Reach, added_us: f64) -> Self {
        Self { reach, factor: 1.0, added_us, holes: Vec::new() }
    }

    /// These sizes inside are good.
    #[must_use]
    pub fn with_hole(mut self, sizes: RangeInclusive<u64>) -> Self {
        self.holes.push(sizes);
        self
    }

    pub(super) fn apply(&self, time_us: f64, size: Bytes, configuration: &Configuration) -> f64 {
        let size = size.count();
        let hit = self.reach.sizes(configuration).is_some_and(|sizes| sizes.contains(&size));
        let spared = self.holes.iter().any(|hole| hole.contains(&size));
        if hit && !spared { time_us * self.factor + self.added_us } else { time_us }
    }
}

impl Reach {
    fn sizes(&self, configuration: &Configuration) -> Option<RangeInclusive<u64>> {
        match self {
            Self::Always(sizes) => Some(sizes.clone()),
            Self::Beyond(buffer, to) => {
                let given = configuration.send_buffer_bytes.map(|asked| asked.count() * 2);
                Some(given.unwrap_or(*buffer) + 1..=*to)
            }
            Self::Offloaded(sizes) => (configuration.offload != Some(false)).then(|| sizes.clone()),
            Self::Unaligned(sizes, to) => {
                let offset = configuration.send_offset_bytes.count();
                (!offset.is_multiple_of((*to).max(1))).then(|| sizes.clone())
            }
            Self::Nagle(segment) => nagle(configuration, *segment),
        }
    }
}

fn nagle(configuration: &Configuration, segment: u64) -> Option<RangeInclusive<u64>> {
    let Writes::HeaderFirst(header) = configuration.writes else { return None };
    let asked = configuration.max_segment_bytes.map(|asked| asked.saturating_sub(TIMESTAMPS));
    let segment = asked.map_or(segment, Bytes::count);
    let packet = configuration.mtu_bytes.map(|mtu| mtu.saturating_sub(HEADERS));
    let segment = packet.map_or(segment, |packet| packet.count().min(segment));
    let slow = header.count() + 1..=(header.count() + segment).saturating_sub(1);
    (configuration.nodelay != Some(true)).then_some(slow)
}

/// What IPv4, TCP and its timestamps take of each packet.
const HEADERS: Bytes = Bytes::new(52);
/// What the timestamp option takes of each segment.
const TIMESTAMPS: Bytes = Bytes::new(12);

#[cfg(test)]
mod tests {
    use super::*;

    fn two_writes() -> Configuration {
        Configuration {
            writes: Writes::HeaderFirst(Bytes::new(16)),
            nodelay: Some(false),
            ..Configuration::new("tcp")
        }
    }

    /// Measured on veth with MSS 1448: 17 to 1463 bytes are slow, with MSS 488 17 to 503.
    #[test]
    fn nagle_reaches_from_the_header_to_a_whole_segment_after_it() {
        let reach = Reach::Nagle(1448);
        assert_eq!(reach.sizes(&two_writes()), Some(17..=1463));
        let small = Configuration { max_segment_bytes: Some(Bytes::new(500)), ..two_writes() };
        assert_eq!(reach.sizes(&small), Some(17..=503));
        let nodelay = Configuration { nodelay: Some(true), ..two_writes() };
        assert_eq!(reach.sizes(&nodelay), None);
        assert_eq!(reach.sizes(&Configuration { writes: Writes::One, ..two_writes() }), None);
    }

    #[test]
    fn a_buffer_offload_and_alignment_each_reach_what_they_hold() {
        let plain = Configuration::new("tcp");
        let beyond = Reach::Beyond(1_000, 4_000);
        let larger = Configuration { send_buffer_bytes: Some(Bytes::new(1_500)), ..plain.clone() };
        assert_eq!(beyond.sizes(&plain), Some(1_001..=4_000));
        assert_eq!(beyond.sizes(&larger), Some(3_001..=4_000));
        let whole = Configuration { offload: Some(false), ..plain.clone() };
        let offloaded = Reach::Offloaded(5..=9);
        assert_eq!([offloaded.sizes(&plain), offloaded.sizes(&whole)], [Some(5..=9), None]);
        let odd = Configuration { send_offset_bytes: Bytes::new(1), ..plain.clone() };
        let unaligned = Reach::Unaligned(5..=9, 8);
        assert_eq!([unaligned.sizes(&plain), unaligned.sizes(&odd)], [None, Some(5..=9)]);
    }

    #[test]
    fn a_hole_is_spared() {
        let dip = Dip::slower(Reach::Always(10..=20), 3.0).with_hole(15..=16);
        let at = |size| dip.apply(1.0, Bytes::new(size), &two_writes());
        let times = [9, 10, 15, 16, 17, 20, 21].map(at);
        let want = [1.0, 3.0, 1.0, 1.0, 3.0, 3.0, 1.0];
        assert!(times.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
