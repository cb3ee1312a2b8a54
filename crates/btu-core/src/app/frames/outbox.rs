//! What is sent to one rank: frames that it does not have yet, and when one is sent again.

use super::is_before;
use super::slots::Slots;
use crate::units::Nanos;

/// The frames of a window.
///
/// Those before `base` came; those from there to `cursor` are on their way; those from there to `end` wait to be sent,
/// for the first time or again.
#[derive(Debug)]
pub(super) struct Outbox {
    slots: Slots,
    window: u32,
    base: u32,
    cursor: u32,
    end: u32,
    /// The receiver has room for frames before this number.
    limit: u32,
    /// The number of the frame after which there is none.
    last: Option<u32>,
    /// Somebody wants to send and may not.
    lacks_room: bool,
    timer: Timer,
}

/// What is to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// This frame, the first time or again; with a question where nothing was heard for too long.
    Frame { number: u32, asks: bool },
    /// A question alone: nothing is on its way, and there is no room.
    Question,
}

/// When to ask whether anything was lost.
#[derive(Debug, Default)]
struct Timer {
    due_at: Option<Nanos>,
    tries: u32,
}

impl Outbox {
    pub(super) fn new(window: u32, fragment: usize) -> Self {
        let (slots, timer) = (Slots::new(window, fragment), Timer::default());
        let (base, cursor, end, limit) = (0, 0, 0, window);
        Self { slots, window, base, cursor, end, limit, last: None, lacks_room: false, timer }
    }

    /// As if so many frames had been sent.
    #[cfg(test)]
    pub(super) fn starting_at(mut self, number: u32) -> Self {
        (self.base, self.cursor, self.end) = (number, number, number);
        self.limit = number.wrapping_add(self.window);
        self
    }

    /// How many new frames may be sent.
    pub(super) fn room(&self) -> u32 {
        let held = self.base.wrapping_add(self.window);
        let limit = if is_before(held, self.limit) { held } else { self.limit };
        if is_before(self.end, limit) { limit.wrapping_sub(self.end) } else { 0 }
    }

    /// Makes a frame of what fits into one; tells how much that is, and zero where there is no room.
    #[inline]
    pub(super) fn put(&mut self, now: Nanos, parts: [&[u8]; 2]) -> usize {
        if self.room() == 0 {
            self.lacks_room = true;
            self.timer.start(now);
            return 0;
        }
        let count = self.slots.put(self.end, parts);
        self.end = self.end.wrapping_add(1);
        count
    }

    /// Makes the last frame. It needs no room, since nothing is in it.
    pub(super) fn finish(&mut self) {
        if self.last.is_none() {
            self.last = Some(self.end);
            self.end = self.end.wrapping_add(1);
        }
    }

    /// What is to be sent now; it counts as sent then.
    #[inline]
    pub(super) fn due(&mut self, now: Nanos) -> Option<Due> {
        if self.cursor != self.end {
            let number = self.cursor;
            self.cursor = number.wrapping_add(1);
            self.timer.start(now);
            return Some(Due::Frame { number, asks: false });
        }
        if !self.timer.is_over(now) {
            return None;
        }
        self.timer.try_again(now);
        // The oldest alone: whoever computes takes in nothing meanwhile, and a whole window again would overrun its ring.
        if self.base != self.end {
            return Some(Due::Frame { number: self.base, asks: true });
        }
        self.lacks_room.then_some(Due::Question)
    }

    /// True for the last frame.
    pub(super) fn is_last(&self, number: u32) -> bool {
        self.last == Some(number)
    }

    /// What is in this frame.
    #[inline]
    pub(super) fn payload(&self, number: u32) -> &[u8] {
        if self.is_last(number) { &[] } else { self.slots.payload(number) }
    }

    /// The other rank has all frames before `taken`, and room for those before `limit`.
    #[inline]
    pub(super) fn note(&mut self, now: Nanos, taken: u32, limit: u32) {
        let came = taken.wrapping_sub(self.base);
        let has_news = came != 0 && came <= self.end.wrapping_sub(self.base);
        if has_news {
            if is_before(self.cursor, taken) {
                self.cursor = taken;
            }
            self.base = taken;
        }
        let has_room = is_before(self.limit, limit);
        if has_room {
            self.limit = limit;
            self.lacks_room = false;
        }
        if has_news || has_room {
            self.restart(now);
        }
    }

    /// All frames from `taken` on are sent again, in their order.
    pub(super) fn go_back(&mut self, now: Nanos, taken: u32) {
        if taken == self.base && self.cursor != self.base {
            self.cursor = self.base;
            self.restart(now);
        }
    }

    /// True once the other rank has every frame.
    pub(super) fn is_delivered(&self) -> bool {
        self.base == self.end
    }

    /// When there is something to send though nothing came.
    pub(super) fn next_wakeup(&self) -> Option<Nanos> {
        self.timer.due_at
    }

    fn restart(&mut self, now: Nanos) {
        self.timer = Timer::default();
        if self.base != self.end || self.lacks_room {
            self.timer.start(now);
        }
    }
}

impl Timer {
    #[inline]
    fn start(&mut self, now: Nanos) {
        if self.due_at.is_none() {
            self.due_at = Some(now + FIRST);
        }
    }

    #[inline]
    fn is_over(&self, now: Nanos) -> bool {
        self.due_at.is_some_and(|due_at| due_at <= now)
    }

    fn try_again(&mut self, now: Nanos) {
        self.tries = (self.tries + 1).min(MOST_DOUBLED);
        self.due_at = Some(now + FIRST * (1 << self.tries));
    }
}

/// Much longer than a frame takes there and back on one link.
const FIRST: Nanos = Nanos::from_millis(5);
/// 80 ms: whoever computes for a second finds some questions, and not two hundred.
const MOST_DOUBLED: u32 = 4;
