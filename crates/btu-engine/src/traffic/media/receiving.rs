//! The receiving end of media: notes what came, and reports it when that is due.

use std::io;
use std::net::SocketAddr;
use std::net::UdpSocket;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::traffic::sending::media::Head;
use btu_core::traffic::sending::media::Receiver;
use btu_core::traffic::sending::media::Report;
use btu_core::traffic::trace::Arrived;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::wait::Ready;

use super::Shared;
use crate::error::EngineError;
use crate::time::now;
use crate::traffic::answerer::to_count;

/// A receiver with its socket.
pub(super) struct Receiving<'a> {
    pub(super) socket: &'a UdpSocket,
    /// The address of the sender: datagrams of others are no media.
    pub(super) sender: SocketAddr,
    pub(super) receiver: Receiver,
    pub(super) shared: &'a Shared<'a>,
}

/// What it leaves behind.
pub(super) struct Heard {
    pub(super) receiver: Receiver,
    /// Every datagram of the sender that came.
    pub(super) arrived: Vec<Arrived>,
    /// Datagrams that it did not send.
    pub(super) strays: u64,
    /// The address of the sender.
    sender: SocketAddr,
    pub(super) cpu: Nanos,
}

impl Receiving<'_> {
    /// Reads until all came that was sent, or nothing more does.
    pub(super) fn run(self) -> Result<Heard, EngineError> {
        let Self { socket, sender, receiver, shared } = self;
        let before = ThreadUse::now();
        let mut ready = Ready::new(1)?;
        ready.add_reader(socket, 0)?;
        let mut heard = Heard::new(sender, receiver);
        let (mut space, mut last) = (vec![0; 1 << 16], Nanos::ZERO);
        loop {
            let time = now().since(shared.begin);
            let wait = heard.receiver.due().since(time).min(LOOK);
            ready.wait(Some(wait.count())).map_err(EngineError::peer("wait"))?;
            if heard.read(socket, shared, &mut space)? {
                last = now().since(shared.begin);
            }
            let time = now().since(shared.begin);
            if heard.receiver.due() <= time
                && let Some(report) = heard.receiver.report(time)
            {
                tell(socket, sender, &report, shared);
            }
            if shared.is_over.load(Acquire) {
                let all = heard.receiver.received() >= shared.sent.load(Relaxed);
                let quiet = time.since(last.max(shared.duration));
                if all || quiet > shared.linger || shared.cancel.load(Relaxed) {
                    break;
                }
            }
        }
        heard.cpu = Nanos::new(ThreadUse::now().since(&before).cpu_ns);
        Ok(heard)
    }
}

impl Heard {
    pub(super) fn new(sender: SocketAddr, receiver: Receiver) -> Self {
        let arrived = Vec::with_capacity(ROOM);
        Self { receiver, arrived, strays: 0, sender, cpu: Nanos::ZERO }
    }

    /// Reads what is there. Gives whether something of the sender's was.
    fn read(
        &mut self,
        socket: &UdpSocket,
        shared: &Shared<'_>,
        space: &mut [u8],
    ) -> Result<bool, EngineError> {
        let before = self.arrived.len();
        for _ in 0..AT_ONCE {
            match socket.recv_from(space) {
                Ok((count, from)) => self.came(socket, &space[..count], from, shared),
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => break,
                // A signal, or a report that found nobody any more.
                Err(cause) if is_passing(&cause) => {}
                Err(cause) => return Err(EngineError::peer("receive")(cause)),
            }
        }
        Ok(self.arrived.len() > before)
    }

    pub(super) fn came(
        &mut self,
        socket: &UdpSocket,
        data: &[u8],
        from: SocketAddr,
        shared: &Shared<'_>,
    ) {
        let at = now().since(shared.begin);
        // A number that was not sent yet would move the highest one, and all before it would be lost.
        let is_sent = |head: &Head| head.number < shared.sent.load(Acquire);
        let head = Head::read(data).filter(is_sent).filter(|_| is_same(from, self.sender));
        let Some(head) = head else {
            self.strays += 1;
            return;
        };
        let size = Bytes::new(to_count(data.len()));
        shared.moved.fetch_add(size.count(), Relaxed);
        self.arrived.push(Arrived { at, number: head.number, size });
        if let Some(report) = self.receiver.hear(at, &head) {
            tell(socket, from, &report, shared);
        }
    }
}

/// A report that does not leave is a report that was lost.
fn tell(socket: &UdpSocket, sender: SocketAddr, report: &Report, shared: &Shared<'_>) {
    let told = socket.send_to(&report.write(), sender).unwrap_or(0);
    shared.moved.fetch_add(to_count(told), Relaxed);
}

/// The same end of a path. Its scope has another number on each host.
fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && one.ip().to_canonical() == other.ip().to_canonical()
}

fn is_passing(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionRefused)
}

/// Datagrams that are read before reports are looked at.
const AT_ONCE: usize = 64;
/// How long nobody looks whether the sender has ended.
const LOOK: Nanos = Nanos::from_millis(10);
/// Datagrams with room from the beginning.
const ROOM: usize = 1 << 16;
