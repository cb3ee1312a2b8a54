//! What a thread sleeps on that waits for several things at once, and what whoever does one of them rings.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;

use crate::futex;

/// A bell within one process. To ring it costs a fence and a load while nobody sleeps, a system call otherwise.
#[derive(Debug, Default)]
pub struct Bell {
    /// Changes whenever a sleeper was rung for.
    rung: AtomicU32,
    /// Non-zero while somebody sleeps or is about to.
    sleepers: AtomicU32,
}

impl Bell {
    /// Wakes whoever sleeps; to be called after what it sleeps for was stored.
    #[inline]
    pub fn ring(&self) {
        // Orders what was just stored before the look at the sleepers: either the sleeper is seen here, or it sees,
        // after it announced itself, what was stored.
        fence(SeqCst);
        if self.sleepers.load(Relaxed) != 0 {
            self.rung.fetch_add(1, Release);
            futex::wake_all(&self.rung);
        }
    }

    /// Sleeps until the bell rings, a signal comes or `longest_ns` passed; not at all where `is_idle` says no.
    pub fn sleep_while(&self, longest_ns: u64, is_idle: impl FnOnce() -> bool) {
        self.sleepers.fetch_add(1, SeqCst);
        fence(SeqCst);
        let rung = self.rung.load(Acquire);
        if is_idle() {
            futex::sleep(&self.rung, rung, Some(longest_ns));
        }
        self.sleepers.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::clock::monotonic_ns;

    /// Two threads that take turns: one that was forgotten would sleep for its whole minute.
    #[test]
    fn nobody_who_sleeps_is_forgotten() {
        const TURNS: u64 = 2000;
        let bells: Arc<[Bell; 2]> = Arc::default();
        let turn: Arc<AtomicU64> = Arc::default();
        let play = |me: usize, bells: Arc<[Bell; 2]>, turn: Arc<AtomicU64>| {
            let is_mine = |turn: u64| turn % 2 == me as u64 || turn >= TURNS;
            while turn.load(Acquire) < TURNS {
                bells[me].sleep_while(60_000_000_000, || !is_mine(turn.load(Acquire)));
                if is_mine(turn.load(Acquire)) {
                    turn.fetch_add(1, Release);
                    bells[1 - me].ring();
                }
            }
        };
        let start = monotonic_ns();
        let (of_other, its_turn) = (Arc::clone(&bells), Arc::clone(&turn));
        let other = std::thread::spawn(move || play(1, of_other, its_turn));
        play(0, bells, turn);
        other.join().unwrap();
        assert!(monotonic_ns() - start < 60_000_000_000);
    }

    #[test]
    fn a_sleep_ends_with_its_time_and_does_not_begin_where_something_is_there() {
        let (bell, start) = (Bell::default(), monotonic_ns());
        bell.sleep_while(60_000_000_000, || false);
        assert!(monotonic_ns() - start < 60_000_000_000);
        bell.sleep_while(1_000_000, || true);
        assert!(monotonic_ns() - start >= 1_000_000);
    }
}
