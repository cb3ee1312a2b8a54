//! The search for the largest packet that a path carries whole, by datagrams that are answered or not (RFC 8899).
//!
//! What routers say of their own sizes is not heard: a path that keeps it back is measured like any other.

use crate::units::Bytes;
use crate::units::Nanos;

/// RFC 8899, 5.1.2: a size that was probed so often without an answer is taken to be too large.
pub const MOST_PROBES: u32 = 3;
/// RFC 8899, 5.1.1: an answer is waited for so long at the least.
pub const LEAST_TIMER: Nanos = Nanos::from_secs(1);

/// The length of a packet has 16 bits (RFC 791, 3.1): no larger one leaves by any device.
pub const LARGEST: Bytes = Bytes::new(65_535);

/// Which size is probed next. Sizes are those of packets, from the IP header on.
#[derive(Clone, Debug)]
pub struct PathMtuSearch {
    least: u64,
    device: u64,
    /// The largest that was answered.
    whole: Option<u64>,
    /// The smallest that is taken to be too large.
    lost: u64,
    /// The one that is probed now; none at the end.
    probed: Option<u64>,
    /// Probes of it that nobody answered.
    unanswered: u32,
}

impl PathMtuSearch {
    /// Up to the largest packet of the device by which packets leave.
    pub fn new(device: Bytes, over_ipv6: bool) -> Self {
        let device = device.min(LARGEST).count().max(LEAST_OF_IPV4);
        let (least, base) = if over_ipv6 { (LEAST_OF_IPV6, LEAST_OF_IPV6) } else { OF_IPV4 };
        let (least, base) = (least.min(device), base.min(device));
        let lost = device + 1;
        Self { least, device, whole: None, lost, probed: Some(base), unanswered: 0 }
    }

    /// The size that is probed now; `None` once the search has ended.
    pub fn probe(&self) -> Option<Bytes> {
        self.probed.map(Bytes::new)
    }

    /// The largest size that was answered.
    pub fn found(&self) -> Option<Bytes> {
        self.whole.map(Bytes::new)
    }

    /// A packet of this size came whole. One that was given up before was only late or unlucky.
    pub fn answered(&mut self, size: Bytes) {
        let size = size.count();
        if size > self.device || self.whole.is_some_and(|whole| size <= whole) {
            return;
        }
        self.whole = Some(size);
        if size >= self.lost {
            self.lost = self.device + 1;
        }
        self.choose();
    }

    /// Nobody answered the probe in its time.
    pub fn unanswered(&mut self) {
        let Some(size) = self.probed else { return };
        self.unanswered += 1;
        if self.unanswered >= MOST_PROBES {
            self.lost = size;
            self.choose();
        }
    }

    fn choose(&mut self) {
        self.unanswered = 0;
        self.probed = match self.whole {
            Some(whole) if whole + 1 >= self.lost => None,
            // Most paths carry what their first device does.
            Some(_) if self.lost > self.device => Some(self.device),
            // A usual size that came is the answer, unless the next one comes, too.
            Some(whole) if USUAL.contains(&whole) => Some(whole + 1),
            Some(whole) => Some(between(whole, self.lost)),
            // Not even the base: what every path must carry shows whether anybody answers.
            None => Some(self.least).filter(|least| *least < self.lost),
        };
    }
}

/// The middle of what is open, or a usual size near it.
fn between(whole: u64, lost: u64) -> u64 {
    let (middle, quarter) = (u64::midpoint(whole, lost), (lost - whole) / 4);
    let near = USUAL.iter().copied().filter(|size| {
        *size > whole && *size < lost && (whole + quarter..=lost - quarter).contains(size)
    });
    near.min_by_key(|size| size.abs_diff(middle)).unwrap_or(middle)
}

/// How long an answer is waited for: four times the slowest one, and `least` beside that.
pub fn patience(least: Nanos, slowest: Option<Nanos>) -> Nanos {
    match slowest {
        Some(slowest) => least.saturating_add(slowest.saturating_mul(4)),
        // Nobody knows the path yet.
        None => least.max(LEAST_TIMER),
    }
}

/// What paths carry where something else is wrapped around their packets: 576 (RFC 1122), 1280 (IPv6), 1400 (by hand, of
/// many tunnels), 1420 (`WireGuard`), 1450 (VXLAN), 1476 (GRE), 1480 (IPv6 in IPv4), 1492 (`PPPoE`), 1500 (Ethernet), 9000 (large frames).
const USUAL: [u64; 10] = [576, 1280, 1400, 1420, 1450, 1476, 1480, 1492, 1500, 9000];
/// RFC 8899, 5.1.2: `MIN_PLPMTU` and `BASE_PLPMTU`.
const OF_IPV4: (u64, u64) = (LEAST_OF_IPV4, 1200);
const LEAST_OF_IPV4: u64 = 68;
const LEAST_OF_IPV6: u64 = 1280;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a search finds, and its probes: `comes` says what becomes of the probe of a number and a size.
    fn search(
        device: u64,
        over_ipv6: bool,
        comes: impl Fn(usize, u64) -> bool,
    ) -> (Option<u64>, Vec<u64>) {
        let mut search = PathMtuSearch::new(Bytes::new(device), over_ipv6);
        let mut probes = Vec::new();
        while let Some(size) = search.probe() {
            probes.push(size.count());
            assert!(probes.len() < 200, "{probes:?}");
            if comes(probes.len(), size.count()) {
                search.answered(size);
            } else {
                search.unanswered();
            }
        }
        (search.found().map(Bytes::count), probes)
    }

    #[test]
    fn a_clean_path_carries_what_its_device_does_after_two_probes() {
        for (device, over_ipv6, base) in [(1500, false, 1200), (9000, true, 1280)] {
            let clean = search(device, over_ipv6, |_, _| true);
            assert_eq!(clean, (Some(device), vec![base, device]));
        }
        assert_eq!(search(576, false, |_, _| true), (Some(576), vec![576]));
        assert_eq!(search(65_536, false, |_, _| true).0, Some(65_535));
    }

    /// Each size that is too large has three probes, and no more.
    #[test]
    fn a_smaller_path_is_found_to_the_byte() {
        for mtu in (68..1500).chain([1500]) {
            let (found, probes) = search(1500, false, |_, size| size <= mtu);
            assert_eq!(found, Some(mtu));
            let lost: Vec<u64> = probes.iter().copied().filter(|size| *size > mtu).collect();
            for size in &lost {
                assert_eq!(lost.iter().filter(|one| *one == size).count(), 3, "{mtu}: {probes:?}");
            }
        }
        let tunnel = search(1500, false, |_, size| size <= 1420).1;
        let lost = |size: u64| [size; 3];
        let mut want = [&[1200][..], &lost(1500), &[1400, 1401], &lost(1450), &[1420]].concat();
        want.extend(lost(1421));
        assert_eq!(tunnel, want);
        assert_eq!(search(9000, false, |_, size| size <= 1500).0, Some(1500));
    }

    /// Every second one to every tenth one is lost, whichever is the first.
    #[test]
    fn lost_probes_make_a_path_no_smaller() {
        for mtu in [576, 1400, 1450, 1499, 1500] {
            for period in 2..=10 {
                for first in 0..period {
                    let comes = |number: usize, size| {
                        size <= mtu && !(number + first).is_multiple_of(period)
                    };
                    assert_eq!(search(1500, false, comes).0, Some(mtu), "1 of {period}, {first}");
                }
            }
        }
    }

    #[test]
    fn a_path_that_answers_nothing_has_no_mtu() {
        let (found, probes) = search(1500, false, |_, _| false);
        assert_eq!((found, probes), (None, vec![1200, 1200, 1200, 68, 68, 68]));
        let (found, probes) = search(1500, true, |_, _| false);
        assert_eq!((found, probes), (None, vec![1280, 1280, 1280]));
    }

    /// Three probes of 1500 were given up, and then one of them was answered after all.
    #[test]
    fn an_answer_that_comes_late_counts() {
        let mut search = PathMtuSearch::new(Bytes::new(1500), false);
        search.answered(Bytes::new(1200));
        assert_eq!(search.probe(), Some(Bytes::new(1500)));
        (0..MOST_PROBES).for_each(|_| search.unanswered());
        assert!(search.probe().unwrap() < Bytes::new(1500));
        // Nobody sent that.
        search.answered(Bytes::new(1501));
        assert_eq!(search.found(), Some(Bytes::new(1200)));
        search.answered(Bytes::new(1500));
        assert_eq!((search.probe(), search.found()), (None, Some(Bytes::new(1500))));
        // What was given up says nothing of larger sizes any more.
        let mut search = PathMtuSearch::new(Bytes::new(1500), false);
        search.answered(Bytes::new(1200));
        (0..2 * MOST_PROBES).for_each(|_| search.unanswered());
        search.answered(Bytes::new(1400));
        while let Some(size) = search.probe() {
            if size.count() <= 1450 { search.answered(size) } else { search.unanswered() }
        }
        assert_eq!(search.found(), Some(Bytes::new(1450)));
    }

    #[test]
    fn an_answer_is_waited_for_longer_the_longer_the_way() {
        let (short, way) = (Nanos::from_millis(100), Nanos::from_millis(600));
        assert_eq!(patience(short, None), LEAST_TIMER);
        assert_eq!(patience(short, Some(way)), Nanos::from_millis(2500));
    }

    proptest! {
        #[test]
        fn whatever_is_lost_the_search_ends_and_what_it_finds_came(
            device in 68_u64..=65_535, mtu in 60_u64..=65_535, seed: u64, over_ipv6: bool,
        ) {
            let comes = |number: usize, size: u64| {
                size <= mtu && (seed >> (number % 64)) & 1 == 0
            };
            let (found, probes) = search(device, over_ipv6, comes);
            prop_assert!(found.is_none_or(|found| found <= mtu.min(device)));
            prop_assert!(found.is_none_or(|found| probes.contains(&found)));
        }
    }
}
