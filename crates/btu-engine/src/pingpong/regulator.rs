//! What an end may send, where a policy shares a rate among connections: set from outside, also while
//! the end exchanges blocks.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use btu_core::units::BitRate;
use btu_core::units::Nanos;
use btu_sys::socket;

use crate::error::EngineError;
use crate::time::now;
use crate::traffic::ration::Ration;

/// Sets the rate of an end from any thread.
#[derive(Clone)]
pub struct Regulator(Arc<dyn Regulate>);

/// Something whose rate can be set.
pub(super) trait Regulate: Send + Sync {
    /// From now on it sends no faster.
    fn hold_to(&self, rate: BitRate) -> Result<(), EngineError>;

    /// Nobody exchanges anything with it: it sends nothing more.
    fn rest(&self) {}

    /// Whether something of an exchange that is over may still be sent, or sent again.
    fn has_unsent(&self) -> bool {
        false
    }
}

/// A stream that the kernel paces.
pub(super) struct PacedStream(pub(super) Arc<OwnedFd>);

/// Datagrams that wait for their time: of one thread, at a rate that others set.
#[derive(Debug)]
pub(super) struct Throttle {
    ration: Ration,
    rate: Arc<AtomicU64>,
    known: u64,
}

/// The rate of a throttle, in bits per second.
struct Valve(Arc<AtomicU64>);

/// Those that may send get the same part of a rate; all others rest. Whoever rested gets its part before it
/// is told to send, so the sum of all is never more.
pub(super) fn share_out(rate: BitRate, ends: &[(&Regulator, bool)]) -> Result<(), EngineError> {
    let (active, idle): (Vec<_>, Vec<_>) = ends.iter().partition(|(_, sends)| *sends);
    for (end, _) in idle {
        end.0.rest();
    }
    let parts = u64::try_from(active.len()).unwrap_or(u64::MAX).max(1);
    let part = BitRate::new(rate.bit_per_second() / parts);
    active.iter().try_for_each(|(end, _)| end.0.hold_to(part))
}

impl Regulator {
    pub(super) fn of(one: impl Regulate + 'static) -> Self {
        Self(Arc::new(one))
    }

    /// Whether it may still send something of an exchange that is over.
    pub(super) fn has_unsent(&self) -> bool {
        self.0.has_unsent()
    }
}

impl fmt::Debug for Regulator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Regulator")
    }
}

impl Regulate for PacedStream {
    fn hold_to(&self, rate: BitRate) -> Result<(), EngineError> {
        Ok(socket::pace(&*self.0, rate.bit_per_second() / 8)?)
    }

    /// What the other end acknowledged is never sent again.
    fn has_unsent(&self) -> bool {
        socket::unacknowledged(&*self.0).is_ok_and(|bytes| bytes > 0)
    }
}

impl Regulate for Valve {
    fn hold_to(&self, rate: BitRate) -> Result<(), EngineError> {
        self.0.store(rate.bit_per_second(), Relaxed);
        Ok(())
    }

    fn rest(&self) {
        self.0.store(0, Relaxed);
    }
}

impl Throttle {
    /// For datagrams with at most so much payload, sent to this address.
    pub(super) fn new(rate: BitRate, largest: usize, to: Option<SocketAddr>) -> Self {
        let (ration, known) = (Ration::new(rate, largest, to), rate.bit_per_second());
        Self { ration, rate: Arc::new(AtomicU64::new(known)), known }
    }

    /// What sets its rate.
    pub(super) fn regulator(&self) -> Regulator {
        Regulator::of(Valve(Arc::clone(&self.rate)))
    }

    /// For how long a datagram of this length has to wait; `None` for not at all.
    pub(super) fn wait_for(&mut self, length: usize) -> Option<Nanos> {
        let (now, rate) = (now(), self.rate.load(Relaxed));
        if rate != self.known {
            self.known = rate;
            self.ration.change(now, BitRate::new(rate));
        }
        self.ration.wait_for(now, length).map(|until| until.since(now))
    }

    /// Sleeps until a datagram of this length may be sent; an error once all is over.
    pub(super) fn wait(&mut self, length: usize, over: &AtomicBool) -> io::Result<()> {
        while let Some(wait) = self.wait_for(length) {
            if over.load(Relaxed) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            thread::park_timeout(Duration::from(wait).min(GLANCE));
        }
        Ok(())
    }

    /// It was sent.
    pub(super) fn sent(&mut self, length: usize) {
        self.ration.sent(now(), length);
    }
}

/// How long a sender that waits takes to see another rate, or its end.
const GLANCE: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps what it was told last.
    #[derive(Default)]
    struct Kept(Arc<AtomicU64>);

    impl Regulate for Kept {
        fn hold_to(&self, rate: BitRate) -> Result<(), EngineError> {
            self.0.store(rate.bit_per_second(), Relaxed);
            Ok(())
        }

        fn rest(&self) {
            self.0.store(0, Relaxed);
        }
    }

    #[test]
    fn the_parts_of_all_that_may_send_are_the_rate() {
        let known = [7, 7, 7].map(|rate| Arc::new(AtomicU64::new(rate)));
        let ends = known.clone().map(|one| Regulator::of(Kept(one)));
        let rate = BitRate::new(9_000_000);
        for (sends, parts) in [
            ([true, false, false], [9_000_000, 0, 0]),
            ([false, true, true], [0, 4_500_000, 4_500_000]),
            ([true, true, true], [3_000_000; 3]),
            ([false, false, true], [0, 0, 9_000_000]),
        ] {
            let all: Vec<_> = ends.iter().zip(sends).collect();
            share_out(rate, &all).unwrap();
            assert_eq!(known.each_ref().map(|one| one.load(Relaxed)), parts);
        }
    }

    #[test]
    fn a_throttle_keeps_to_the_rate_that_was_set_last() {
        // 1 Gbit/s for datagrams of 1,000 bytes, and then next to nothing.
        let mut throttle = Throttle::new(BitRate::new(1_000_000_000), 1000, None);
        let regulator = throttle.regulator();
        assert_eq!(throttle.wait_for(1000), None);
        regulator.0.hold_to(BitRate::new(1)).unwrap();
        while throttle.wait_for(1000).is_none() {
            throttle.sent(1000);
        }
        // A thousand bytes and more, a bit each second.
        assert!(throttle.wait_for(1000).unwrap() > Nanos::from_secs(1));
        regulator.0.rest();
        assert!(throttle.wait_for(1000).unwrap() > Nanos::from_secs(1 << 30));
        let ended = throttle.wait(1000, &AtomicBool::new(true)).unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
    }
}
