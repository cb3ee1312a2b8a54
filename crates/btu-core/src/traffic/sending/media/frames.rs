//! Frames of a video at its receiver: which are whole, which can be shown, and when there has to be a key frame.

use std::collections::BTreeMap;

use crate::units::Nanos;

/// What came of a video. Without a packet of a frame nothing can be shown of what follows, up to the next key frame.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Frames of which something is missing.
    parts: BTreeMap<u32, Parts>,
    /// Whole ones that wait for one before them, and whether they are key frames.
    waiting: BTreeMap<u32, bool>,
    whole: Vec<(u32, Nanos)>,
    shown: Vec<Nanos>,
    /// The frame that is to be shown next.
    next: u32,
    /// The number after the newest frame that something came of.
    after: u32,
    /// Since when something of a later frame is there, and the next one is not whole.
    overtaken: Option<Nanos>,
    wants_key: bool,
}

#[derive(Debug)]
struct Parts {
    came: Vec<bool>,
    left: usize,
}

impl Frames {
    /// A part came.
    pub(super) fn hear(&mut self, now: Nanos, frame: u32, [part, parts]: [u16; 2], is_key: bool) {
        self.after = self.after.max(frame.saturating_add(1));
        if frame >= self.next && self.is_completed_by(frame, part.into(), parts.into()) {
            self.whole.push((frame, now));
            self.waiting.insert(frame, is_key);
            self.show(now);
        }
        if self.after > self.next.saturating_add(1) {
            self.overtaken.get_or_insert(now);
        }
    }

    /// Whether what is missing has been awaited for too long. Then it is lost, and a key frame has to come.
    pub(super) fn look(&mut self, now: Nanos, patience: Nanos) {
        if self.overtaken.is_some_and(|since| now.since(since) >= patience) {
            self.wants_key = true;
        }
    }

    pub(super) const fn wants_key(&self) -> bool {
        self.wants_key
    }

    /// Frames that were whole, and when: as they became it.
    pub(super) fn whole(&self) -> &[(u32, Nanos)] {
        &self.whole
    }

    /// When frames were shown, in their order.
    pub(super) fn shown(&self) -> &[Nanos] {
        &self.shown
    }

    fn is_completed_by(&mut self, frame: u32, part: usize, parts: usize) -> bool {
        if self.waiting.contains_key(&frame) {
            return false;
        }
        let new = || Parts { came: vec![false; parts], left: parts };
        let known = self.parts.entry(frame).or_insert_with(new);
        if let Some(came) = known.came.get_mut(part).filter(|came| !**came) {
            *came = true;
            known.left -= 1;
        }
        let is_whole = known.left == 0;
        if is_whole {
            self.parts.remove(&frame);
        }
        is_whole
    }

    /// Shows what can be shown: the next frame, unless it is lost, or a key frame after it.
    fn show(&mut self, now: Nanos) {
        while let Some(frame) = self.showable() {
            self.shown.push(now);
            self.next = frame.saturating_add(1);
            (self.overtaken, self.wants_key) = (None, false);
            self.waiting = self.waiting.split_off(&self.next);
            self.parts = self.parts.split_off(&self.next);
        }
    }

    fn showable(&self) -> Option<u32> {
        let is_next = self.waiting.contains_key(&self.next).then_some(self.next);
        let key = self.waiting.iter().find(|(_, is_key)| **is_key).map(|(frame, _)| *frame);
        is_next.or(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Nanos = Nanos::from_millis(100);

    fn ms(count: u64) -> Nanos {
        Nanos::from_millis(count)
    }

    /// Frames of two parts; what came of them, `(ms, frame, part)`, of which 5 and 9 are key frames.
    fn heard(parts: &[(u64, u32, u16)]) -> Frames {
        let mut frames = Frames::default();
        for (at, frame, part) in parts {
            frames.hear(ms(*at), *frame, [*part, 2], [5, 9].contains(frame));
            frames.look(ms(*at), PATIENCE);
        }
        frames
    }

    #[test]
    fn a_frame_is_whole_with_its_last_part_and_shown_in_its_turn() {
        // 1.1 is sent again and comes after all of 2; a part that comes twice is one.
        let frames = heard(&[
            (0, 0, 0),
            (1, 0, 1),
            (33, 1, 0),
            (66, 2, 1),
            (67, 2, 0),
            (67, 2, 0),
            (90, 1, 1),
        ]);
        assert_eq!(frames.whole(), [(0, ms(1)), (2, ms(67)), (1, ms(90))]);
        assert_eq!(frames.shown(), [ms(1), ms(90), ms(90)]);
        assert!(!frames.wants_key() && frames.parts.is_empty() && frames.waiting.is_empty());
    }

    #[test]
    fn what_is_beyond_repair_is_passed_by_a_key_frame() {
        let mut parts = vec![(0, 0, 0), (1, 0, 1), (33, 1, 0), (66, 2, 0), (67, 2, 1), (165, 3, 0)];
        assert!(!heard(&parts).wants_key(), "99 ms after the frame behind it began to come");
        parts.push((166, 3, 1));
        assert!(heard(&parts).wants_key());
        // A key frame that is not whole does not help; the next one does.
        parts.extend([(200, 5, 0), (233, 6, 0), (234, 6, 1)]);
        assert!(heard(&parts).wants_key());
        parts.extend([(300, 9, 1), (301, 9, 0), (333, 10, 0), (334, 10, 1)]);
        let frames = heard(&parts);
        assert!(!frames.wants_key());
        assert_eq!(frames.shown(), [ms(1), ms(301), ms(334)]);
        // What comes too late is of no use to anybody.
        parts.push((400, 1, 1));
        assert_eq!(heard(&parts).whole().len(), 6);
    }
}
