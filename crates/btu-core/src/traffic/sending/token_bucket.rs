//! What may be sent by now at a rate that no kernel keeps.
//!
//! The virtual scheduling form of a token bucket (ITU-T I.371, 5.4.1.2): instead of tokens that are
//! filled up, the moment is kept at which all that was sent will have passed at the rate. All numbers are
//! whole, so nothing drifts.

use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

/// A rate, and how far a sender may be ahead of it: of any span of time, what was sent in it is at most
/// what the rate gives in that time and one burst. Who wakes up late makes up for it, within the burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    rate: BitRate,
    burst: Bytes,
    /// When all that was sent will have passed, in nanoseconds times bits per second.
    passed: u128,
}

impl TokenBucket {
    /// For packets of at most `largest`, headers included: the burst is one of them, and what the rate
    /// gives while a sender may be late.
    pub fn new(rate: BitRate, largest: Bytes) -> Self {
        let burst = largest.saturating_add(rate.amount_in(LATE));
        Self { rate, burst, passed: 0 }
    }

    /// What may be sent at once after a pause.
    pub const fn burst(&self) -> Bytes {
        self.burst
    }

    /// When `amount` may be sent; `None` for now. More than a burst never may be, and waits like one.
    pub fn wait_for(&self, now: Nanos, amount: Bytes) -> Option<Nanos> {
        let (clock, ahead) = (self.clock(now), scaled(self.burst));
        let after = self.passed.max(clock).saturating_add(scaled(amount.min(self.burst)));
        let earliest = after.saturating_sub(ahead);
        if earliest <= clock {
            return None;
        }
        let rate = u128::from(self.rate.bit_per_second());
        let at = earliest.checked_div(rate).map(|at| at + u128::from(earliest % rate != 0));
        Some(at.and_then(|at| u64::try_from(at).ok()).map_or(Nanos::MAX, Nanos::new))
    }

    /// So much was sent.
    pub fn sent(&mut self, now: Nanos, amount: Bytes) {
        self.passed = self.passed.max(self.clock(now)).saturating_add(scaled(amount));
    }

    /// From now on another rate holds; what was sent ahead is still to pass, and the burst stays.
    pub fn change(&mut self, now: Nanos, rate: BitRate) {
        let ahead = self.passed.saturating_sub(self.clock(now));
        self.rate = rate;
        self.passed = self.clock(now).saturating_add(ahead);
    }

    fn clock(&self, now: Nanos) -> u128 {
        u128::from(now.count()) * u128::from(self.rate.bit_per_second())
    }
}

/// What a datagram takes of a rate: each packet of it has a header of the network, the first one that of
/// UDP (RFC 768). `mtu` is what a packet holds at the most.
pub fn datagram_on_the_wire(payload: Bytes, is_v6: bool, mtu: Bytes) -> Bytes {
    let whole = payload.count().saturating_add(UDP);
    let (of_one, of_fragment) = if is_v6 { (IPV6, IPV6 + IPV6_FRAGMENT) } else { (IPV4, IPV4) };
    let in_one = whole.saturating_add(of_one);
    if in_one <= mtu.count() {
        return Bytes::new(in_one);
    }
    // Fragments but the last hold a multiple of 8 bytes (RFC 791, RFC 8200).
    let room = (mtu.count().saturating_sub(of_fragment) / 8 * 8).max(8);
    Bytes::new(whole.saturating_add(whole.div_ceil(room).saturating_mul(of_fragment)))
}

/// In nanoseconds times bits per second: bits, and a second for each.
fn scaled(amount: Bytes) -> u128 {
    u128::from(amount.bits()) * 1_000_000_000
}

/// How late a sender may wake up and lose nothing.
const LATE: Nanos = Nanos::from_millis(10);
const UDP: u64 = 8;
const IPV4: u64 = 20;
const IPV6: u64 = 40;
const IPV6_FRAGMENT: u64 = 8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What was sent, and when, by somebody who always has more, and wakes up so much after each moment
    /// that he waits for.
    fn greedy(rate: BitRate, sizes: &[u64], late_us: &[u64]) -> (TokenBucket, Vec<(Nanos, Bytes)>) {
        let mut bucket = TokenBucket::new(rate, Bytes::new(70_000));
        let (mut now, mut sent) = (Nanos::from_secs(7), Vec::new());
        for (size, late) in sizes.iter().zip(late_us.iter().cycle()) {
            let amount = Bytes::new(*size);
            if let Some(at) = bucket.wait_for(now, amount) {
                now = at.saturating_add(Nanos::from_micros(*late));
                assert_eq!(bucket.wait_for(now, amount), None, "the moment that was named");
            }
            bucket.sent(now, amount);
            sent.push((now, amount));
        }
        (bucket, sent)
    }

    proptest! {
        #[test]
        fn no_span_of_time_has_more_than_its_part_of_the_rate_and_one_burst(
            rate in 128_000_u64..10_000_000_000,
            sizes in prop::collection::vec(29_u64..70_000, 1..60),
            late_us in prop::collection::vec(0_u64..200_000, 1..20),
        ) {
            let rate = BitRate::new(rate);
            let (bucket, sent) = greedy(rate, &sizes, &late_us);
            for first in 0..sent.len() {
                let mut sum = 0_u128;
                for (at, amount) in &sent[first..] {
                    sum += u128::from(amount.bits());
                    let span = u128::from(at.since(sent[first].0).count());
                    let part = span * u128::from(rate.bit_per_second());
                    let most = part + scaled(bucket.burst());
                    prop_assert!(sum * 1_000_000_000 <= most, "{sum} bits in {span} ns");
                }
            }
        }

        #[test]
        fn in_the_long_run_it_is_the_rate_to_the_bit_for_whoever_is_not_too_late(
            rate in 128_000_u64..1_000_000_000,
            sizes in prop::collection::vec(29_u64..70_000, 20..60),
            late_us in prop::collection::vec(0_u64..9_000, 1..20),
        ) {
            let rate = BitRate::new(rate);
            let (bucket, sent) = greedy(rate, &sizes, &late_us);
            let all: u128 = sent.iter().map(|(_, amount)| u128::from(amount.bits())).sum();
            let (last, held) = (sent.last().unwrap().0, sent.iter().any(|(at, _)| *at > sent[0].0));
            // Once it is held back the sender stays ahead of the rate: nothing is lost to lateness.
            let part = u128::from(last.since(sent[0].0).count()) * u128::from(rate.bit_per_second());
            prop_assert!(!held || all * 1_000_000_000 >= part, "{all} bits until {last}");
            prop_assert!(all * 1_000_000_000 <= part + scaled(bucket.burst()));
        }
    }

    #[test]
    fn an_hour_of_datagrams_is_an_hour_of_the_rate() {
        // 1,250 bytes each 10 ms: 1 Mbit/s, of which 28 bytes are headers.
        let (rate, payload) = (BitRate::new(1_000_000), Bytes::new(1222));
        let amount = datagram_on_the_wire(payload, false, Bytes::new(1500));
        assert_eq!(amount, Bytes::new(1250));
        let mut bucket = TokenBucket::new(rate, amount);
        let (mut now, mut count) = (Nanos::ZERO, 0_u64);
        while now < Nanos::from_secs(3600) {
            if let Some(at) = bucket.wait_for(now, amount) {
                now = at;
            } else {
                bucket.sent(now, amount);
                count += 1;
            }
        }
        // Two at once: the burst is one datagram and 10 ms.
        assert_eq!(count, 360_000 + 1);
    }

    #[test]
    fn another_rate_holds_from_the_moment_on_at_which_it_is_set() {
        let second = Nanos::from_secs(1);
        let mut bucket = TokenBucket::new(BitRate::new(8_000_000), Bytes::new(10_000));
        while bucket.wait_for(second, Bytes::new(10_000)).is_none() {
            bucket.sent(second, Bytes::new(10_000));
        }
        let at = bucket.wait_for(second, Bytes::new(20_000)).unwrap();
        bucket.change(second, BitRate::new(800_000));
        let later = bucket.wait_for(second, Bytes::new(20_000)).unwrap();
        assert_eq!(later.since(second), at.since(second) * 10);
        bucket.change(second, BitRate::new(0));
        assert_eq!(bucket.wait_for(second, Bytes::new(20_000)), Some(Nanos::MAX));
    }

    #[test]
    fn a_datagram_takes_the_headers_of_all_its_packets() {
        let wire = |payload, is_v6, mtu| {
            datagram_on_the_wire(Bytes::new(payload), is_v6, Bytes::new(mtu)).count()
        };
        assert_eq!([wire(1472, false, 1500), wire(1473, false, 1500)], [1500, 1521]);
        // 65,515 bytes in fragments of 1,480; in those of IPv6 fit 1,448.
        assert_eq!(wire(65_507, false, 1500), 65_515 + 45 * 20);
        assert_eq!(wire(65_507, true, 1500), 65_515 + 46 * 48);
        assert_eq!(wire(100, true, 1500), 148);
    }
}
