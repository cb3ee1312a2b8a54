//! `trace FILE`: a line whose capacity comes from a recording, in the format of mahimahi.
//!
//! Each line of the file is the millisecond of one opportunity to send 1500 bytes (from the IP
//! header on). Bytes are accounted: a packet may use several opportunities, several packets one.
//! What nobody uses is lost. After the last line, its time being the period, all begins again.

mod opportunities;

use std::fmt;
use std::sync::Arc;

use crate::capture::Remark;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

use super::Element;
use super::ElementKind;
use super::ElementSpec;
use super::LinkError;
use super::Packet;
use super::Port;
use super::Site;
use super::Words;
use super::rate::default_queue;
use super::rate::parse_queue;
use crate::link::line::QueueLimit;
use crate::link::queue::Queue;
use crate::link::ring::Ring;

use opportunities::Opportunities;
use opportunities::Recording;

pub(super) static KIND: ElementKind = ElementKind {
    name: "trace",
    forms: "trace FILE [once] [queue PACKETS (50pkt) | BYTES (64kB) | TIME (100ms)]",
    help: "sends at the moments of a mahimahi trace and queues what waits",
    parse,
};

#[derive(Debug)]
struct TraceSpec {
    file: String,
    recording: Arc<Recording>,
    queue: QueueLimit,
}

/// A packet can use an opportunity that comes after it, not one of the same moment. Time starts
/// with the run's first packet.
#[derive(Debug)]
struct Trace {
    opportunities: Opportunities,
    limit: QueueLimit,
    waiting: Ring<Packet>,
    waiting_packets: u64,
    waiting_bytes: Bytes,
    /// What is already sent of the first waiting wire packet.
    sent: Bytes,
    ready: Queue,
}

impl ElementSpec for TraceSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        Ok(Box::new(Trace {
            opportunities: Opportunities::new(Arc::clone(&self.recording)),
            limit: in_bytes(self.queue, self.recording.mean_rate()),
            waiting: Ring::new(site.handles),
            waiting_packets: 0,
            waiting_bytes: Bytes::ZERO,
            sent: Bytes::ZERO,
            ready: Queue::new(site.handles),
        }))
    }

    fn rate(&self) -> Option<BitRate> {
        Some(self.recording.mean_rate())
    }
}

impl fmt::Display for TraceSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let once = if self.recording.is_once() { " once" } else { "" };
        write!(out, "trace {}{once} queue {}", self.file, self.queue)
    }
}

impl Trace {
    /// Queues as many of `run`'s wire packets, all of one size, as find a place; drops the others.
    fn admit(&mut self, run: Packet, port: &mut Port<'_>) {
        let mut rest = Some(run);
        if let Some(front) = Packet::take_front(&mut rest, self.places(run.first_l3())) {
            self.enqueue(front, port);
        }
        if let Some(tail) = rest {
            port.queue_dropped(&tail, Remark::QueueFull);
        }
    }

    fn places(&self, each: Bytes) -> u32 {
        let places = match self.limit {
            QueueLimit::Packets(most) => most.saturating_sub(self.waiting_packets),
            QueueLimit::Bytes(most) => {
                most.saturating_sub(self.waiting_bytes).count() / each.count().max(1)
            }
            QueueLimit::Time(_) => u64::MAX,
        };
        u32::try_from(places).unwrap_or(u32::MAX)
    }

    fn enqueue(&mut self, run: Packet, port: &mut Port<'_>) {
        let joined = self.waiting.last_mut().is_some_and(|last| last.join(&run));
        if !joined && !self.waiting.push(run) {
            return port.overflow(&run);
        }
        self.waiting_packets += u64::from(run.count());
        self.waiting_bytes += run.l3();
    }

    /// Uses all opportunities at or before `now`.
    fn run_until(&mut self, now: Nanos, port: &mut Port<'_>) {
        while let Some(moment) = self.next_opportunity().filter(|moment| *moment <= now) {
            self.use_opportunity(moment, port);
            self.opportunities.advance();
        }
    }

    /// The moment of the next opportunity that something waits for.
    fn next_opportunity(&mut self) -> Option<Nanos> {
        let first = self.waiting.first()?;
        self.opportunities.after(first.at())
    }

    fn use_opportunity(&mut self, moment: Nanos, port: &mut Port<'_>) {
        let mut left = OPPORTUNITY;
        while let Some(first) = self.waiting.first().filter(|first| first.at() < moment) {
            let unsent = first.first_l3().saturating_sub(self.sent);
            if unsent > left {
                self.sent += left;
                return;
            }
            left = left.saturating_sub(unsent);
            self.send_first(moment, port);
        }
    }

    fn send_first(&mut self, moment: Nanos, port: &mut Port<'_>) {
        let Some(first) = self.waiting.first_mut() else { return };
        let one = first.split_front(1);
        let Some(one) = one.or_else(|| self.waiting.pop()) else { return };
        self.sent = Bytes::ZERO;
        self.waiting_packets -= 1;
        self.waiting_bytes = self.waiting_bytes.saturating_sub(one.l3());
        self.ready.push(one.leaving(moment), port);
    }
}

impl Element for Trace {
    fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        self.opportunities.begin(packet.at());
        self.run_until(packet.at(), port);
        for run in packet.uniform().into_iter().flatten() {
            self.admit(run, port);
        }
    }

    fn pop(&mut self, now: Nanos, port: &mut Port<'_>) -> Option<Packet> {
        self.run_until(now, port);
        self.ready.pop(now)
    }

    fn next_wakeup(&self) -> Option<Nanos> {
        let next = self.waiting.first().and_then(|first| self.opportunities.peek(first.at()));
        self.ready.next_departure().into_iter().chain(next).min()
    }

    fn held(&self) -> u64 {
        self.waiting_packets + self.ready.wire_packets()
    }
}

/// A time is what passes in it at the trace's mean rate.
fn in_bytes(limit: QueueLimit, mean_rate: BitRate) -> QueueLimit {
    match limit {
        QueueLimit::Time(time) => QueueLimit::Bytes(mean_rate.amount_in(time)),
        other => other,
    }
}

fn parse(words: &mut Words<'_>) -> Result<Arc<dyn ElementSpec>, LinkError> {
    let here = words.here();
    let (file, text) = words.file()?;
    let once = words.keyword("once");
    let recording = Recording::parse(&text, once)
        .map_err(|(line, cause)| words.error_at(here, format!("{file}:{line}: {cause}")))?;
    let queue = if words.keyword("queue") {
        parse_queue(words)?
    } else {
        default_queue(recording.mean_rate())
    };
    Ok(Arc::new(TraceSpec { file, recording: Arc::new(recording), queue }))
}

/// What one line of the file lets pass.
const OPPORTUNITY: Bytes = Bytes::new(1500);
