//! The sending end of media: packets when they are due, reports when they come.

use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;

use btu_core::sample::Outcome;
use btu_core::traffic::Pace;
use btu_core::traffic::sending::burst::BlockRecord;
use btu_core::traffic::sending::burst::Fate;
use btu_core::traffic::sending::media::Due;
use btu_core::traffic::sending::media::LONGEST_REPORT;
use btu_core::traffic::sending::media::Report;
use btu_core::traffic::sending::media::Sender;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::socket;
use btu_sys::wait::Ready;

use super::Shared;
use crate::error::EngineError;
use crate::time::now;
use crate::traffic::answerer::to_count;
use crate::traffic::pacer::Pacer;
use crate::traffic::pacer::rest_until;

/// A sender with its socket.
pub(super) struct Sending<'a> {
    pub(super) socket: &'a UdpSocket,
    pub(super) sender: Sender,
    pub(super) shared: &'a Shared<'a>,
    /// Nobody receives any more.
    pub(super) is_alone: &'a AtomicBool,
}

/// What it leaves behind.
pub(super) struct Said {
    pub(super) sender: Sender,
    /// Its packets, in the order of their numbers.
    pub(super) blocks: Vec<BlockRecord>,
    /// Packets that the kernel did not take, and why it did not take the last one: they count as sent and lost.
    pub(super) refused: u64,
    pub(super) refusal: Option<String>,
    pub(super) pace: &'static str,
    pub(super) cpu: Nanos,
    /// When it was ended early.
    pub(super) ended: Option<Nanos>,
}

impl Sending<'_> {
    /// Sends until the time is over, or nobody wants it any more.
    pub(super) fn run(self) -> Result<Said, EngineError> {
        let Self { socket, sender, shared, is_alone } = self;
        let before = ThreadUse::now();
        let mut ready = Ready::new(1)?;
        ready.add_reader(socket, 0)?;
        // Packets of frames are closer together than a sleeper is exact.
        let mut pacer = Pacer::of(Pace::Hybrid, &mut ready)?;
        let room = usize::try_from(sender.most_packets(shared.duration)).unwrap_or(MOST_ROOM);
        let blocks = Vec::with_capacity(room.min(MOST_ROOM));
        let mut said = Said::new(sender, blocks, pacer.name());
        let (mut data, mut space) = (vec![0x5a; LARGEST], [0; LONGEST_REPORT + 1]);
        rest_until(shared.begin, shared.cancel);
        loop {
            let time = now().since(shared.begin);
            if shared.cancel.load(Relaxed) || is_alone.load(Relaxed) {
                said.ended = Some(time);
                break;
            }
            if time >= shared.duration {
                break;
            }
            said.hear(socket, time, &mut space);
            said.say_what_is_due(socket, shared, &mut data);
            let next = said.sender.next_due().min(shared.duration);
            let next = next.min(time.saturating_add(LOOK));
            pacer
                .until(shared.begin.saturating_add(next), &mut ready)
                .map_err(EngineError::peer("wait"))?;
        }
        said.pace = pacer.name();
        said.cpu = Nanos::new(ThreadUse::now().since(&before).cpu_ns);
        Ok(said)
    }
}

impl Said {
    pub(super) fn new(sender: Sender, blocks: Vec<BlockRecord>, pace: &'static str) -> Self {
        Self { sender, blocks, refused: 0, refusal: None, pace, cpu: Nanos::ZERO, ended: None }
    }

    /// How it ended: before its time, with nothing that ever left this host, or as it was to.
    pub(super) fn outcome(&self) -> Outcome {
        match (self.ended, &self.refusal) {
            (Some(_), _) => Outcome::Capped { reason: "interrupted".to_owned() },
            (None, Some(cause)) if self.refused == self.sender.sent() => {
                Outcome::Failed { reason: format!("send: {cause}, of every datagram") }
            }
            (None, _) => Outcome::Complete,
        }
    }

    /// Hears what came back. What is no report is nobody's.
    fn hear(&mut self, socket: &UdpSocket, time: Nanos, space: &mut [u8]) {
        for _ in 0..AT_ONCE {
            let Ok(count) = socket::recv(socket.as_fd(), space) else { return };
            if let Some(report) = Report::read(&space[..count]) {
                self.sender.hear(time, &report);
            }
        }
    }

    /// Sends what is due, as much as reports and the end of the time can wait for: a host that is slower than the rate has
    /// always more.
    fn say_what_is_due(&mut self, socket: &UdpSocket, shared: &Shared<'_>, data: &mut [u8]) {
        for _ in 0..AT_ONCE {
            let Some(due) = self.sender.take(now().since(shared.begin)) else { return };
            self.say(socket, &due, shared, data);
        }
    }

    fn say(&mut self, socket: &UdpSocket, due: &Due, shared: &Shared<'_>, data: &mut [u8]) {
        let head = due.head.write();
        let length = due.size.len().clamp(head.len(), data.len());
        data[..head.len()].copy_from_slice(&head);
        let start = now().since(shared.begin);
        // Before it leaves: the receiver believes no number that is not sent.
        shared.sent.store(self.sender.sent(), Release);
        let sent = socket::send(socket.as_fd(), &data[..length]);
        if let Err(cause) = &sent {
            self.refused += 1;
            self.refusal = Some(cause.to_string());
        }
        shared.moved.fetch_add(to_count(sent.unwrap_or(0)), Relaxed);
        let size = Bytes::new(to_count(length));
        self.blocks.push(BlockRecord {
            due: due.due,
            size,
            start: Some(start),
            end: Some(now().since(shared.begin)),
            taken: size,
            held_from: None,
            is_untimed: false,
            fate: Fate::Sent,
        });
    }
}

/// The longest packet of media.
const LARGEST: usize = 1 << 16;
/// Reports that are read at one look, and packets that are sent before the next one.
const AT_ONCE: usize = 64;
/// How long nobody looks whether it is still wanted.
const LOOK: Nanos = Nanos::from_millis(50);
/// Packets with room from the beginning; more take memory as they go.
const MOST_ROOM: usize = 1 << 20;
