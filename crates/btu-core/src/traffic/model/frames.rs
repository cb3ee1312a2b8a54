//! Frames of a video as packets, and numbers with a long memory, for several models.

use super::prelude::*;
use std::collections::VecDeque;

/// Cuts messages into packets of at most `most` bytes; the rest of a frame follows at once, or at a
/// pace.
#[derive(Debug)]
pub(super) struct Packets<F> {
    frames: F,
    most: u64,
    /// Between two packets of a frame.
    pace: Nanos,
    waiting: VecDeque<Arrival>,
    /// How far the packets run behind their frames: taken from the gaps that follow.
    taken: Nanos,
}

impl<F: Open> Packets<F> {
    pub(super) const fn new(frames: F, most: u64, pace: Nanos) -> Self {
        Self { frames, most, pace, waiting: VecDeque::new(), taken: Nanos::ZERO }
    }

    fn cut(&mut self) -> Option<()> {
        let frame = self.frames.next()?;
        let mut gap = frame.gap.since(self.taken);
        self.taken = self.taken.since(frame.gap);
        let mut left = frame.bytes.count();
        while left > 0 {
            let bytes = left.min(self.most);
            self.waiting.push_back(Arrival { gap, bytes: Bytes::new(bytes), ..frame });
            left -= bytes;
            if left > 0 {
                self.taken += self.pace;
            }
            gap = self.pace;
        }
        Some(())
    }
}

impl<F: Open> Open for Packets<F> {
    fn next(&mut self) -> Option<Arrival> {
        if self.waiting.is_empty() {
            self.cut()?;
        }
        self.waiting.pop_front()
    }
}

/// Normal numbers whose correlation falls as a power of their distance: a sum of AR(1) processes
/// with time constants 3^i, weighted as tau^(2H - 2).
#[derive(Debug)]
pub(super) struct LongMemory {
    parts: Vec<(f64, f64, f64)>,
    stream: Stream,
}

impl LongMemory {
    pub(super) fn new(hurst: f64, mut stream: Stream) -> Self {
        let times: Vec<f64> = (0..12).map(|i| 0.6 * 3_f64.powi(i)).collect();
        let total: f64 = times.iter().map(|time| time.powf(2.0 * hurst - 2.0)).sum();
        let part = |time: &f64| {
            let weight = (time.powf(2.0 * hurst - 2.0) / total).sqrt();
            ((-1.0 / time).exp(), weight, stream.normal())
        };
        Self { parts: times.iter().map(part).collect(), stream }
    }

    pub(super) fn next(&mut self) -> f64 {
        let mut sum = 0.0;
        for (memory, weight, state) in &mut self.parts {
            sum += *weight * *state;
            *state = *memory * *state + (1.0 - *memory * *memory).sqrt() * self.stream.normal();
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::train::Periodic;
    use crate::traffic::train::Timeline;

    /// 2500 bytes are three packets; the next frame begins when it is due, however long this one took.
    #[test]
    fn packets_of_a_frame_leave_at_their_pace_and_frames_when_they_are_due() {
        let size = (Law::of("const", [2500.0, 0.0, 0.0]), Streams::new(1, "x").stream("size"));
        let frames = Periodic::new(Nanos::from_millis(30), Nanos::ZERO, 0, size);
        let packets = Packets::new(frames, 1200, Nanos::from_millis(2));
        let found: Vec<(u64, u64)> = Timeline::new(Box::new(packets))
            .take(6)
            .map(|(at, packet)| (at.count() / 1_000_000, packet.bytes.count()))
            .collect();
        assert_eq!(found, [(0, 1200), (2, 1200), (4, 100), (30, 1200), (32, 1200), (34, 100)]);
    }
}
