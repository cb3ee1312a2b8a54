//! The sizes of frames.

use crate::traffic::chance::Stream;
use crate::traffic::language::quantity::float;
use crate::traffic::language::quantity::whole;
use crate::traffic::law::Law;
use crate::units::Bytes;

/// An encoder with a rate to keep.
#[derive(Debug)]
pub(super) struct Video {
    frame: (Law, Stream),
    key: (Law, Stream),
    group: u32,
    /// Frames since the last key frame.
    since: u32,
    /// What key frames took beyond their share: the frames after them are half as large until it is made good, as
    /// encoders with a rate to keep have it.
    owed: f64,
    /// Whether the next frame is to be a key frame.
    pub(super) wants_key: bool,
}

impl Video {
    pub(super) const fn new(frame: (Law, Stream), key: (Law, Stream), group: u32) -> Self {
        Self { frame, key, group, since: 0, owed: 0.0, wants_key: true }
    }

    /// The bytes of the next frame where a frame has so many in the mean, and whether it is a key frame.
    pub(super) fn next(&mut self, mean: Bytes) -> (u64, bool) {
        let mean = float(mean.count());
        let plain = mean * self.frame.0.sample(&mut self.frame.1);
        let is_key = self.wants_key || self.since >= self.group;
        if is_key {
            let size = plain * self.key.0.sample(&mut self.key.1);
            self.owed += size - mean;
            (self.since, self.wants_key) = (1, false);
            return (whole(size).max(1), true);
        }
        self.since += 1;
        let saved = if self.owed > 0.0 { plain / 2.0 } else { 0.0 };
        self.owed = (self.owed - saved).max(0.0);
        (whole(plain - saved).max(1), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Streams;

    fn video() -> Video {
        let streams = Streams::new(1, "video");
        let law = |value| Law::of("const", [value, 0.0, 0.0]);
        Video::new((law(1.0), streams.stream("a")), (law(6.0), streams.stream("b")), 300)
    }

    /// A key frame of 6000 bytes owes 5000: ten frames of a half.
    #[test]
    fn a_key_frame_is_paid_by_those_after_it() {
        let mut video = video();
        let frames: Vec<(u64, bool)> = (0..301).map(|_| video.next(Bytes::new(1000))).collect();
        assert_eq!(frames[0], (6000, true));
        assert!(frames[1..=10].iter().all(|frame| *frame == (500, false)), "{frames:?}");
        assert!(frames[11..300].iter().all(|frame| *frame == (1000, false)));
        assert_eq!(frames[300], (6000, true), "each 300 frames");
        let all: u64 = frames[..300].iter().map(|(bytes, _)| bytes).sum();
        assert_eq!(all, 300_000, "the rate is kept");
    }

    #[test]
    fn a_key_frame_comes_next_where_one_is_wanted() {
        let mut video = video();
        let mut is_key = || video.next(Bytes::new(1000)).1;
        assert_eq!([is_key(), is_key(), is_key()], [true, false, false]);
        video.wants_key = true;
        let found: Vec<bool> = (0..4).map(|_| video.next(Bytes::new(1000)).1).collect();
        assert_eq!(found, [true, false, false, false]);
    }
}
