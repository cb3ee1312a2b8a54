//! `rate 10Mbit/s`: a serial line with a queue in front.

use std::fmt;
use std::sync::Arc;

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
use crate::link::codel::CodelLimits;
use crate::link::line::Line;
use crate::link::line::LineAccess;
use crate::link::line::LineLimits;
use crate::link::line::QueueLimit;
use crate::link::netem::NetemPart;
use crate::link::words::packets;

pub(super) static KIND: ElementKind = ElementKind {
    name: "rate",
    forms: "rate RATE (10Mbit/s) [queue PACKETS (50pkt) | BYTES (64kB) | TIME (100ms)] \
            [codel [TARGET INTERVAL (5ms 100ms)]] [shared NAME]",
    help: "sends one packet after the other at this rate and queues what waits",
    parse,
};

#[derive(Debug)]
struct RateSpec {
    limits: LineLimits,
    shared: Option<String>,
}

#[derive(Debug)]
struct Rate {
    line: LineAccess,
}

impl ElementSpec for RateSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let line = match &self.shared {
            Some(name) => site.lines.share(name, self.limits, site.wire, site.handles)?,
            None => LineAccess::Own(Box::new(Line::new(self.limits, site.wire, site.handles))),
        };
        Ok(Box::new(Rate { line }))
    }

    fn rate(&self) -> Option<BitRate> {
        Some(self.limits.rate)
    }

    /// Its queue counts packets, drops the last, and is one link's own.
    fn netem(&self) -> Option<NetemPart> {
        match (self.limits, &self.shared) {
            (LineLimits { rate, queue: QueueLimit::Packets(packets), codel: None }, None) => {
                Some(NetemPart::Line { rate, packets })
            }
            _ => None,
        }
    }
}

impl fmt::Display for RateSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "rate {} queue {}", self.limits.rate, self.limits.queue)?;
        if let Some(CodelLimits { target, interval }) = self.limits.codel {
            write!(out, " codel {target} {interval}")?;
        }
        match &self.shared {
            Some(name) => write!(out, " shared {name}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => bytes.fmt(out),
            Self::Packets(packets) => write!(out, "{packets}pkt"),
            Self::Time(time) => time.fmt(out),
        }
    }
}

impl Element for Rate {
    fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        self.line.push(packet, port);
    }

    fn pop(&mut self, now: Nanos, port: &mut Port<'_>) -> Option<Packet> {
        self.line.pop(now, port)
    }

    fn next_wakeup(&self) -> Option<Nanos> {
        self.line.next_wakeup()
    }

    fn held(&self) -> u64 {
        self.line.held()
    }
}

fn parse(words: &mut Words<'_>) -> Result<Arc<dyn ElementSpec>, LinkError> {
    let rate = words.rate()?;
    let queue = if words.keyword("queue") { parse_queue(words)? } else { default_queue(rate) };
    let codel = if words.keyword("codel") { Some(parse_codel(words)?) } else { None };
    let shared = if words.keyword("shared") {
        Some(words.word("name of the shared line")?.to_owned())
    } else {
        None
    };
    Ok(Arc::new(RateSpec { limits: LineLimits { rate, queue, codel }, shared }))
}

/// `50pkt`, `64kB` or `100ms`.
pub(super) fn parse_queue(words: &mut Words<'_>) -> Result<QueueLimit, LinkError> {
    let here = words.here();
    let word = words.word("size of the queue")?;
    if let Some(packets) = packets(word) {
        return Ok(QueueLimit::Packets(packets));
    }
    if let Some(bytes) = word.parse().ok().filter(|bytes: &Bytes| *bytes <= LARGEST_QUEUE) {
        return Ok(QueueLimit::Bytes(bytes));
    }
    match word.parse() {
        Ok(time) if time <= super::delay::LONGEST => Ok(QueueLimit::Time(time)),
        _ => Err(words.error_at(
            here,
            format!("\"{word}\" is no size of a queue; write packets, bytes or time"),
        )),
    }
}

/// 100 ms, but at least 10 full packets.
pub(super) fn default_queue(rate: BitRate) -> QueueLimit {
    let time = Nanos::from_millis(100);
    let packets = 10;
    if rate.amount_in(time) < Bytes::new(1538) * packets {
        QueueLimit::Packets(packets)
    } else {
        QueueLimit::Time(time)
    }
}

fn parse_codel(words: &mut Words<'_>) -> Result<CodelLimits, LinkError> {
    let starts_with_digit = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    if !words.peek().is_some_and(starts_with_digit) {
        return Ok(CodelLimits::default());
    }
    let legal = |time: Nanos| (Nanos::new(1)..=super::delay::LONGEST).contains(&time);
    let target = words.value_if("target", "above 0s and at most 1 hour", legal)?;
    let interval = words.value_if("interval", "above 0s and at most 1 hour", legal)?;
    Ok(CodelLimits { target, interval })
}

const LARGEST_QUEUE: Bytes = Bytes::new(1 << 40);
