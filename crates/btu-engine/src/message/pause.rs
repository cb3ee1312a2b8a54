//! A call that waits for another rank: how often it looks, and how long.

use btu_core::app::endpoint::LayerError;
use btu_core::app::sample::Wait;
use btu_core::units::Nanos;

use crate::time::now;

/// A call that waits for another rank.
#[derive(Debug)]
pub(super) struct Pause {
    peer: usize,
    awaited: Awaited,
    looks: u32,
    /// Since when nothing has moved.
    since: Option<Nanos>,
    /// When a rank that spins last let others have its CPU, or began to spin.
    yielded_at: Option<Nanos>,
}

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    Message,
    Room,
}

impl Pause {
    pub(super) fn new(peer: usize, awaited: Awaited) -> Self {
        Self { peer, awaited, looks: 0, since: None, yielded_at: None }
    }

    /// Which rank.
    pub(super) fn peer(&self) -> usize {
        self.peer
    }

    /// For what.
    pub(super) fn awaited(&self) -> Awaited {
        self.awaited
    }

    /// Patience begins anew with whatever moves.
    pub(super) fn note(&mut self, has_moved: bool) {
        if has_moved {
            self.since = None;
        }
    }

    /// Counts a look that found nothing. True where it is time to look around: after each of a rank that sleeps, after
    /// some of one that spins.
    pub(super) fn is_over(&mut self, wait: Wait) -> bool {
        self.looks = self.looks.wrapping_add(1);
        let is_over = wait == Wait::Block || self.looks.is_multiple_of(LOOKS_AROUND);
        if !is_over {
            std::hint::spin_loop();
        }
        is_over
    }

    /// Begins to wait on, where there is patience left.
    pub(super) fn go_on(&mut self, wait: Wait, patience: Nanos) -> Result<(), LayerError> {
        let now = now();
        if wait == Wait::Spin {
            self.share_cpu(now);
        }
        let since = *self.since.get_or_insert(now);
        if now.since(since) < patience {
            return Ok(());
        }
        Err(LayerError::Silent { peer: self.peer, patience })
    }

    /// With more ranks than CPUs the awaited one may need the CPU of the one that spins.
    fn share_cpu(&mut self, now: Nanos) {
        if now.since(*self.yielded_at.get_or_insert(now)) >= ALONE {
            std::thread::yield_now();
            self.yielded_at = Some(now);
        }
    }
}

/// A rank that spins looks at one channel, and each time after so many looks at all and at the clock.
const LOOKS_AROUND: u32 = 8;
/// How long it spins before it lets others have its CPU for once. Where nobody wants it, that takes some hundred nanoseconds.
const ALONE: Nanos = Nanos::from_micros(20);
