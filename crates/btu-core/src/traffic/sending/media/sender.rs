//! The sending end of media: frames as large as the rate allows, packets at a pace.

mod flight;
mod target;
mod video;

use std::collections::VecDeque;

use super::packet::HEAD;
use super::packet::Head;
use super::packet::Kind;
use super::report::Report;
use crate::traffic::chance::Stream;
use crate::traffic::language::quantity::float;
use crate::traffic::language::quantity::whole;
use crate::traffic::law::Law;
use crate::traffic::sending::gcc::Gcc;
use crate::traffic::sending::gcc::Heard;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

use self::flight::Flight;
use self::target::Targets;
use self::video::Video;

/// What media are made of.
#[derive(Debug)]
pub(in crate::traffic) struct Source {
    /// Bytes of a packet of speech, of which one is due each so often.
    pub(in crate::traffic) speech: (Law, Stream),
    pub(in crate::traffic) speech_period: Nanos,
    /// Bytes of a frame over their mean.
    pub(in crate::traffic) frame: (Law, Stream),
    pub(in crate::traffic) frame_period: Nanos,
    /// How many times as large as a plain one a key frame is, and how many frames are one group.
    pub(in crate::traffic) key: (Law, Stream),
    pub(in crate::traffic) group: u32,
    /// The most bytes of a packet.
    pub(in crate::traffic) packet: Bytes,
    /// How much faster than the video its packets may leave.
    pub(in crate::traffic) pace: f64,
    /// The rate of the speech.
    pub(in crate::traffic) speech_rate: BitRate,
    /// The rate of the video at first, and the least and the most that it may be.
    pub(in crate::traffic) start: BitRate,
    pub(in crate::traffic) bounds: [BitRate; 2],
}

/// A sender from its start.
#[derive(Debug)]
pub struct Sender {
    speech: (Law, Stream),
    speech_period: Nanos,
    speech_due: Nanos,
    speech_rate: BitRate,
    video: Video,
    frame_period: Nanos,
    frame_due: Nanos,
    /// When each frame was due.
    frames: Vec<Nanos>,
    /// Packets of frames that wait for their turn.
    queue: VecDeque<Part>,
    /// When the next of them may leave.
    free: Nanos,
    pace: f64,
    packet: u64,
    /// The most that the video may be.
    most: BitRate,
    number: u64,
    gcc: Gcc,
    flight: Flight,
    targets: Targets,
    /// When something was heard, and what was heard of all packets.
    heard: Nanos,
    counted: [u64; 2],
    round_trip: Nanos,
    /// The last frame that was made a key frame, when its last packet left, and how many were asked for.
    key: Option<(u32, Option<Nanos>)>,
    requested: usize,
}

/// A packet that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// What it says.
    pub head: Head,
    /// Its size, head included.
    pub size: Bytes,
    /// When it was due.
    pub due: Nanos,
}

/// A packet of a frame.
#[derive(Clone, Copy, Debug)]
struct Part {
    kind: Kind,
    size: u64,
    /// When its frame was, or when it was found to be missing.
    due: Nanos,
    /// When its frame was.
    made: Nanos,
    /// Whether it was sent before.
    is_repair: bool,
}

impl Sender {
    pub(in crate::traffic) fn new(source: Source) -> Self {
        let Source { speech, speech_period, speech_rate, start, bounds, .. } = source;
        let all = |video: BitRate| video.saturating_add(speech_rate);
        let gcc = Gcc::new(all(start), bounds.map(all));
        Self {
            speech,
            speech_period,
            speech_due: Nanos::ZERO,
            speech_rate,
            video: Video::new(source.frame, source.key, source.group),
            frame_period: source.frame_period,
            frame_due: source.frame_period,
            frames: Vec::new(),
            queue: VecDeque::new(),
            free: Nanos::ZERO,
            pace: source.pace,
            packet: source.packet.count().max(1),
            most: bounds[1],
            number: 0,
            targets: Targets::new(gcc.rate().saturating_sub(speech_rate)),
            gcc,
            flight: Flight::default(),
            heard: Nanos::ZERO,
            counted: [0; 2],
            round_trip: Nanos::ZERO,
            key: None,
            requested: 0,
        }
    }

    /// When the next packet is due, or something else is to be done.
    pub fn next_due(&self) -> Nanos {
        let part = self.queue.front().map_or(Nanos::MAX, |part| part.due.max(self.free));
        self.speech_due.min(self.frame_due).min(part)
    }

    /// A packet that is due by now.
    pub fn take(&mut self, now: Nanos) -> Option<Due> {
        while self.frame_due <= now {
            self.make_frame();
        }
        if now.since(self.heard) >= SILENCE {
            self.heard = now;
            let rate = self.gcc.hear_nothing();
            self.aim(now, rate);
        }
        if self.speech_due <= now {
            return Some(self.speak(now));
        }
        let part = self.queue.front().filter(|part| part.due.max(self.free) <= now).copied()?;
        self.queue.pop_front();
        Some(self.send_part(now, part))
    }

    /// A report came.
    pub fn hear(&mut self, now: Nanos, report: &Report) {
        let acknowledged = self.flight.land(&report.came);
        let last = acknowledged
            .last()
            .filter(|last| report.came.last().is_some_and(|one| one.at == last.came));
        if let Some(last) = last {
            self.round_trip = now.since(last.sent).since(report.held);
            self.heard = now;
        }
        let [expected, received] = [report.expected, report.received];
        let [more, came] =
            [expected.saturating_sub(self.counted[0]), received.saturating_sub(self.counted[1])];
        self.counted = [expected.max(self.counted[0]), received.max(self.counted[1])];
        let heard = Heard {
            packets: &acknowledged,
            expected: more,
            lost: more.saturating_sub(came),
            round_trip: self.round_trip,
        };
        let rate = self.gcc.hear(now, &heard);
        self.aim(now, rate);
        self.repair(now, report);
        if report.wants_key && self.knows_no_better(now) {
            self.requested += 1;
            self.video.wants_key = true;
        }
    }

    /// What the video is to take now.
    pub fn target(&self) -> BitRate {
        self.targets.current()
    }

    /// About how many packets there can be in a time: memory is kept for them.
    pub fn most_packets(&self, duration: Nanos) -> u64 {
        let video = self.most.amount_in(duration).count() / self.packet;
        let frames = duration.count() / self.frame_period.count().max(1);
        let speech = duration.count() / self.speech_period.count().max(1);
        video.saturating_add(2 * frames).saturating_add(speech)
    }

    /// Packets that were taken.
    pub const fn sent(&self) -> u64 {
        self.number
    }

    /// When each frame was due, of those whose packets all left.
    pub(super) fn frames(&self) -> &[Nanos] {
        let unsent = self.queue.iter().find(|part| !part.is_repair);
        let unsent = unsent.and_then(|part| match part.kind {
            Kind::Video { frame, .. } => usize::try_from(frame).ok(),
            Kind::Speech => None,
        });
        &self.frames[..unsent.unwrap_or(self.frames.len()).min(self.frames.len())]
    }

    /// Mean, least and largest target of the video, bit/s.
    pub(super) fn target_bit_s(&self, duration: Nanos) -> [f64; 3] {
        self.targets.figures(duration)
    }

    /// Key frames that were made because they were asked for.
    pub(super) const fn requested(&self) -> usize {
        self.requested
    }

    fn aim(&mut self, now: Nanos, rate: BitRate) {
        self.targets.set(now, rate.saturating_sub(self.speech_rate));
    }

    fn speak(&mut self, now: Nanos) -> Due {
        let size = whole(self.speech.0.sample(&mut self.speech.1));
        let due = self.speech_due;
        self.speech_due = due.saturating_add(self.speech_period);
        self.leave(now, Part { kind: Kind::Speech, size, due, made: due, is_repair: false }, due)
    }

    /// Cuts the next frame into packets of about one size.
    fn make_frame(&mut self) {
        let due = self.frame_due;
        self.frame_due = due.saturating_add(self.frame_period);
        let frame = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        let mean = self.target().amount_in(self.frame_period);
        let (bytes, is_key) = self.video.next(mean);
        let bytes = bytes.min(self.packet.saturating_mul(u16::MAX.into()));
        self.frames.push(due);
        if is_key {
            self.key = Some((frame, None));
        }
        let count = bytes.div_ceil(self.packet).clamp(1, u16::MAX.into());
        let parts = u16::try_from(count).unwrap_or(u16::MAX);
        for part in 0..parts {
            let size = bytes / count + u64::from(u64::from(part) < bytes % count);
            let kind = Kind::Video { frame, part, parts, is_key };
            self.queue.push_back(Part { kind, size, due, made: due, is_repair: false });
        }
    }

    /// Packets of frames leave one after the other, the next one when the pace allows it.
    fn send_part(&mut self, now: Nanos, part: Part) -> Due {
        let due = part.due.max(self.free);
        let pace = BitRate::new(whole(float(self.target().bit_per_second()) * self.pace));
        self.free = due.saturating_add(pace.time_for(Bytes::new(part.size)));
        if let (Kind::Video { frame, .. }, Some((key, left))) = (part.kind, &mut self.key)
            && frame == *key
        {
            *left = Some(now);
        }
        self.leave(now, part, due)
    }

    fn leave(&mut self, now: Nanos, part: Part, due: Nanos) -> Due {
        let size = Bytes::new(part.size).max(SHORTEST);
        let head = Head { number: self.number, kind: part.kind, patience: self.patience() };
        self.flight.add(self.number, now, size, part);
        self.number += 1;
        Due { head, size, due }
    }

    /// What is missing is sent once more while it can still be of use (RFC 4588), and leaves first.
    fn repair(&mut self, now: Nanos, report: &Report) {
        let Some(newest) = report.came.iter().map(|came| came.number).max() else { return };
        let missing = self.flight.missing_before(newest);
        let patience = self.patience();
        let is_of_use = |part: &Part| {
            matches!(part.kind, Kind::Video { .. }) && now.since(part.made) <= patience
        };
        for part in missing.into_iter().filter(is_of_use).rev() {
            self.queue.push_front(Part { due: now, is_repair: true, ..part });
        }
    }

    /// Whether a request for a key frame is none for one that is under way: its receiver cannot have seen that yet.
    fn knows_no_better(&self, now: Nanos) -> bool {
        match self.key {
            _ if self.video.wants_key => false,
            None => true,
            Some((_, None)) => false,
            Some((_, Some(left))) => now.since(left) > self.patience(),
        }
    }

    /// How long what is missing may take: to be reported and sent again, twice.
    fn patience(&self) -> Nanos {
        TWO_REPORTS.saturating_add(self.round_trip.saturating_mul(2))
    }
}

/// Reports come each 50 to 100 ms; the second one tells that what was sent again is missing, too.
const TWO_REPORTS: Nanos = Nanos::from_millis(200);
/// No packet is shorter than what it says.
const SHORTEST: Bytes = Bytes::new(HEAD as u64);
/// Ten reports in a row.
const SILENCE: Nanos = Nanos::from_secs(1);
