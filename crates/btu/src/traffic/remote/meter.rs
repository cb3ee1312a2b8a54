//! Payload of a measurement that another host ordered, counted while it moves: the agent of this host hears
//! of it meanwhile, so that nothing is left uncounted when the measurement is broken off.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;
use std::thread;
use std::time::Duration;

use btu_control::message::MOVED_EVERY;
use btu_core::units::Bytes;

use crate::measurement::Told;

/// What was moved, and who is told of it. Dropped, it tells the rest.
pub(in crate::traffic) struct Meter {
    ledger: Mutex<Ledger>,
    told: Told,
}

/// Something that moves payload. Dropped, its last figure stands.
pub(in crate::traffic) struct Counting {
    meter: Arc<Meter>,
    number: u64,
}

#[derive(Default)]
struct Ledger {
    /// Payload of what is over.
    past: Bytes,
    /// What goes on, each by a figure that only grows.
    running: BTreeMap<u64, Source>,
    last: u64,
    /// What the agent knows of.
    told: Bytes,
}

type Source = Box<dyn Fn() -> Bytes + Send>;

impl Meter {
    /// One that tells of payload by `told`.
    pub(in crate::traffic) fn new(told: Told) -> Arc<Self> {
        Arc::new(Self { ledger: Mutex::default(), told })
    }

    /// Tells again and again, until the meter is dropped.
    pub(in crate::traffic) fn look(meter: &Arc<Self>) -> io::Result<()> {
        let meter = Arc::downgrade(meter);
        let look = move || {
            while let Some(meter) = Weak::upgrade(&meter) {
                meter.tell();
                drop(meter);
                thread::sleep(Duration::from(MOVED_EVERY));
            }
        };
        thread::Builder::new().name("traffic-meter".to_owned()).spawn(look).map(drop)
    }

    /// Counts what `source` says until what is given is dropped.
    pub(in crate::traffic) fn count(
        meter: &Arc<Self>,
        source: impl Fn() -> Bytes + Send + 'static,
    ) -> Counting {
        let mut ledger = meter.ledger();
        ledger.last += 1;
        let number = ledger.last;
        ledger.running.insert(number, Box::new(source));
        Counting { meter: Arc::clone(meter), number }
    }

    /// Payload so far.
    pub(in crate::traffic) fn moved(&self) -> Bytes {
        self.ledger().moved()
    }

    /// Payload that was not told yet, which whoever asks tells.
    pub(in crate::traffic) fn take_untold(&self) -> Bytes {
        let mut ledger = self.ledger();
        let all = ledger.moved();
        all.saturating_sub(std::mem::replace(&mut ledger.told, all))
    }

    fn tell(&self) {
        let untold = self.take_untold();
        if untold > Bytes::ZERO {
            self.told.moved(untold);
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger {
    fn moved(&self) -> Bytes {
        self.running.values().map(|source| source()).fold(self.past, Bytes::saturating_add)
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let mut ledger = self.meter.ledger();
        let last = ledger.running.remove(&self.number).map_or(Bytes::ZERO, |source| source());
        ledger.past = ledger.past.saturating_add(last);
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.tell();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn every_byte_is_told_once_while_it_moves_and_the_rest_when_all_is_over() {
        let (tell, told) = mpsc::channel();
        let meter = Meter::new(Told::new(move |step, moved| {
            assert_eq!(step, None);
            tell.send(moved.count()).unwrap();
        }));
        Meter::look(&meter).unwrap();
        let (one, other) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(7)));
        let count = |figure: &Arc<AtomicU64>| {
            let figure = Arc::clone(figure);
            Meter::count(&meter, move || Bytes::new(figure.load(Relaxed)))
        };
        let (first, second) = (count(&one), count(&other));
        one.store(1000, Relaxed);
        let mut sum = 0;
        while sum < 1007 {
            sum += told.recv().unwrap();
        }
        other.store(17, Relaxed);
        drop(second);
        // What a step tells is not told again.
        let step = meter.take_untold().count();
        one.store(1500, Relaxed);
        drop(first);
        assert_eq!(meter.moved(), Bytes::new(1517));
        drop(meter);
        assert_eq!(sum + step + told.iter().sum::<u64>(), 1517);
    }
}
