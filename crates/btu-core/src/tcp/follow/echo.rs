//! How far the sender is: it echoes a time stamp of the receiver no sooner than it has it.

use super::Follower;
use crate::tcp::segment::Segment;
use crate::units::Nanos;

/// When a time stamp of the receiver passed here for the first time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    value: u32,
    at: Nanos,
}

impl Follower {
    /// The receiver stamped this answer.
    pub(super) fn stamped(&mut self, answer: &Segment, at: Nanos) {
        const MOST: usize = 4096;
        let Some((value, _)) = answer.options.stamps else { return };
        if self.stamps.back().is_none_or(|last| is_older(last.value, value)) {
            self.stamps.push_back(Stamp { value, at });
            if self.stamps.len() > MOST {
                self.stamps.pop_front();
            }
        }
    }

    /// The way to the sender and back is no longer than until the echo of a stamp passes. A handshake
    /// alone is one sample, and an end that was slow in it would look as if it were far away.
    //= RFC 7323, 4.3
    pub(super) fn echoed(&mut self, segment: &Segment, at: Nanos) {
        let Some((_, echo)) = segment.options.stamps.filter(|(_, echo)| *echo != 0) else { return };
        while let Some(stamp) = self.stamps.pop_front_if(|stamp| !is_older(echo, stamp.value)) {
            if stamp.value == echo {
                let way = at.since(stamp.at);
                self.stream.to_sender = self.stream.to_sender.min(way);
            }
        }
    }
}

/// Stamps wrap.
const fn is_older(one: u32, other: u32) -> bool {
    other.wrapping_sub(one).cast_signed() > 0
}
