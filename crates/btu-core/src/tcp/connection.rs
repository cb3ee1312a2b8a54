//! One connection: who began it, how long its path is, and its two directions.

use super::follow::Follower;
use super::segment::Endpoint;
use super::segment::Flags;
use super::segment::Segment;
use super::stream::Stream;
use crate::capture::Remark;
use crate::units::Nanos;

/// A connection as far as the capture shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// Who began it; where no SYN was seen, who sent first.
    pub client: Endpoint,
    /// The other end.
    pub server: Endpoint,
    /// Its first segment.
    pub begin: Nanos,
    /// From its first to its last segment.
    pub length: Nanos,
    /// Round trip of the whole path, by the handshake.
    pub handshake: Option<Nanos>,
    /// It was reset.
    pub is_reset: bool,
    /// From the client.
    pub up: Stream,
    /// From the server.
    pub down: Stream,
}

/// Who is at the two ends of a connection, and what tells it from another one between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) client: Endpoint,
    pub(super) server: Endpoint,
    /// The sequence number of its last SYN.
    syn: Option<u32>,
    is_reset: bool,
    is_finished: bool,
}

/// A connection that is being followed.
#[derive(Debug)]
pub(super) struct Tracker {
    ends: Ends,
    begin: Nanos,
    end: Nanos,
    syn: Option<Nanos>,
    syn_ack: Option<Nanos>,
    handshake: Option<Nanos>,
    up: Follower,
    down: Follower,
}

impl Connection {
    /// Both directions, that with more payload first.
    pub fn streams(&self) -> [&Stream; 2] {
        if self.down.counts.payload_bytes > self.up.counts.payload_bytes {
            [&self.down, &self.up]
        } else {
            [&self.up, &self.down]
        }
    }

    /// The direction with more payload alone.
    pub fn into_carrier(self) -> Stream {
        let is_down = self.down.counts.payload_bytes > self.up.counts.payload_bytes;
        if is_down { self.down } else { self.up }
    }

    /// Round trip of the whole path: by the handshake, else by the smallest of data.
    pub fn round_trip(&self) -> Option<Nanos> {
        let least = |stream: &Stream| stream.round_trips.iter().map(|trip| trip.time).min();
        let of_data = || match (least(&self.up), least(&self.down)) {
            (Some(up), Some(down)) => Some(up + down),
            (up, down) => up.or(down),
        };
        self.handshake.or_else(of_data)
    }
}

impl Ends {
    /// Of the first segment that was seen; a SYN with ACK comes from the server.
    pub(super) fn of(first: &Segment) -> Self {
        let from_server = first.flags.has(Flags::SYN) && first.flags.has(Flags::ACK);
        let (client, server) =
            if from_server { (first.to, first.from) } else { (first.from, first.to) };
        Self { client, server, syn: None, is_reset: false, is_finished: false }
    }

    /// True for a SYN that begins another connection between the same ends.
    pub(super) fn is_other(&self, segment: &Segment) -> bool {
        if !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) {
            return false;
        }
        let is_same = self.syn == Some(segment.sequence);
        !is_same && (self.syn.is_some() || self.is_reset || self.is_finished)
    }

    /// Takes the next segment.
    pub(super) fn follow(&mut self, segment: &Segment) {
        self.is_reset |= segment.flags.has(Flags::RST);
        self.is_finished |= segment.flags.has(Flags::FIN);
        if segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) {
            self.syn = Some(segment.sequence);
        }
    }
}

impl Tracker {
    /// Begins with any segment.
    pub(super) fn new(segment: &Segment) -> Self {
        let ends = Ends::of(segment);
        let there = Segment { from: ends.client, to: ends.server, ..*segment };
        let back = Segment { from: ends.server, to: ends.client, ..*segment };
        Self {
            ends,
            begin: segment.at,
            end: segment.at,
            syn: None,
            syn_ack: None,
            handshake: None,
            up: Follower::new(segment.at, &there),
            down: Follower::new(segment.at, &back),
        }
    }

    /// True for a SYN that begins another connection between the same ends.
    pub(super) fn is_other(&self, segment: &Segment) -> bool {
        self.ends.is_other(segment)
    }

    /// Takes the next segment.
    pub(super) fn follow(&mut self, segment: &Segment, dropped: Option<Remark>) {
        self.end = self.end.max(segment.at);
        self.ends.follow(segment);
        let from_client = segment.from == self.ends.client;
        self.shake(segment, from_client);
        let scale = self.scale_of(from_client);
        let (own, other) = if from_client {
            (&mut self.up, &mut self.down)
        } else {
            (&mut self.down, &mut self.up)
        };
        other.answered(segment, scale);
        own.sent(segment, dropped);
        self.measure();
    }

    pub(super) fn finish(self) -> Connection {
        Connection {
            client: self.ends.client,
            server: self.ends.server,
            begin: self.begin,
            length: self.end.since(self.begin),
            handshake: self.handshake,
            is_reset: self.ends.is_reset,
            up: self.up.finish(),
            down: self.down.finish(),
        }
    }

    /// SYN, SYN with ACK, ACK: their times tell how far both ends are from here.
    fn shake(&mut self, segment: &Segment, from_client: bool) {
        let (is_syn, is_ack) = (segment.flags.has(Flags::SYN), segment.flags.has(Flags::ACK));
        match (is_syn, is_ack) {
            (true, false) => self.syn = Some(segment.at),
            (true, true) => self.syn_ack = Some(segment.at),
            (false, true) if from_client && self.handshake.is_none() => {
                if let (Some(syn), Some(syn_ack)) = (self.syn, self.syn_ack) {
                    let (far, near) = (syn_ack.since(syn), segment.at.since(syn_ack));
                    (self.up.stream.to_sender, self.down.stream.to_sender) = (near, far);
                    self.handshake = Some(far + near);
                    self.up.whole_path(far + near);
                    self.down.whole_path(far + near);
                    self.agree();
                }
            }
            _ => {}
        }
    }

    /// What both SYNs together settle: window shifts and segment sizes.
    fn agree(&mut self) {
        let (there, back) = (self.up.stream.offer, self.down.stream.offer);
        if !there.seen || !back.seen {
            return;
        }
        let stamps = if there.timestamps && back.timestamps { 12 } else { 0 };
        let mss = u32::from(there.mss_bytes.unwrap_or(536).min(back.mss_bytes.unwrap_or(536)));
        for stream in [&mut self.up.stream, &mut self.down.stream] {
            stream.window_is_known = true;
            stream.mss_bytes = mss.saturating_sub(stamps).max(1);
        }
    }

    /// Shift of the windows that this end advertises; `None` where it cannot be known.
    fn scale_of(&self, from_client: bool) -> Option<u8> {
        let (there, back) = (self.up.stream.offer, self.down.stream.offer);
        let both = there.window_scale.zip(back.window_scale);
        match (there.seen && back.seen, both) {
            (true, Some((client, server))) => Some(if from_client { client } else { server }),
            (true, None) => Some(0),
            (false, _) => None,
        }
    }

    /// The way to the sender of one direction is that of the other one's data and back.
    fn measure(&mut self) {
        let least = |follower: &Follower| follower.stream.round_trips.last().map(|trip| trip.time);
        let (to_server, to_client) = (least(&self.up), least(&self.down));
        let is_unknown = self.handshake.is_none();
        let nearer = |stream: &mut Stream, found: Option<Nanos>| {
            if let Some(time) = found
                && (time < stream.to_sender || (is_unknown && stream.to_sender == Nanos::ZERO))
            {
                stream.to_sender = time;
            }
        };
        nearer(&mut self.down.stream, to_server);
        nearer(&mut self.up.stream, to_client);
    }
}
