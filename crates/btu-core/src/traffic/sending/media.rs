//! Media: speech and the frames of a video whose sender follows what their receiver reports.
//!
//! Both ends are state machines without a clock or a socket. The sending one says which packet is due when, the
//! receiving one what is to be reported when; who carries them says what time it is. What a video is made of is told
//! by the model.

mod frames;
mod packet;
mod receiver;
mod report;
mod screen;
mod sender;

use crate::traffic::train::Noticed;
use crate::traffic::train::Open;
use crate::units::Nanos;

pub use packet::HEAD;
pub use packet::Head;
pub use packet::Kind;
pub use receiver::Receiver;
pub use report::Came;
pub use report::LONGEST_REPORT;
pub use report::Report;
pub use sender::Due;
pub use sender::Sender;

pub(in crate::traffic) use sender::Source;

/// Both ends of a test, and what it would send if nothing held it back.
#[derive(Debug)]
pub struct Media {
    /// The end that sends.
    pub sender: Sender,
    /// The end that reports.
    pub receiver: Receiver,
    /// The same media at their full rate: what a path that carries all of it is given.
    pub unhindered: Box<dyn Open>,
}

/// What the user of a call of this length noticed of its video.
///
/// A frame was due when it was made, and is there when the last of its packets was read, whatever was lost and sent
/// again in between.
pub fn noticed(sender: &Sender, receiver: &Receiver, duration: Nanos) -> Vec<Noticed> {
    let due = sender.frames();
    let whole = receiver.whole();
    let delays: Vec<f64> = whole
        .iter()
        .filter_map(|(frame, at)| {
            Some(at.since(*due.get(usize::try_from(*frame).ok()?)?).seconds())
        })
        .collect();
    let percentiles = PERCENTILES.into_iter().filter_map(|(name, share)| {
        Some(Noticed { name, value: crate::stats::quantile(&delays, share)? })
    });
    let count = |name, value| Noticed { name, value };
    let missing = crate::stats::count(due.len().saturating_sub(whole.len()));
    let (freezes, frozen) = screen::freezes(receiver.shown(), duration);
    let [mean, least, most] = sender.target_bit_s(duration);
    percentiles
        .chain([
            count("frames never whole", missing),
            count("freezes", crate::stats::count(freezes)),
            count("frozen, s", frozen.seconds()),
            count("key frames on request", crate::stats::count(sender.requested())),
            count("mean target rate, Mb/s", mean / 1e6),
            count("least target rate, Mb/s", least / 1e6),
            count("largest target rate, Mb/s", most / 1e6),
        ])
        .collect()
}

const PERCENTILES: [(&str, f64); 3] =
    [("frame delay p50, s", 0.5), ("frame delay p95, s", 0.95), ("frame delay p99, s", 0.99)];

#[cfg(test)]
mod tests;
