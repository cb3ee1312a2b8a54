//! The receiving end of media: notes what came, and reports it when that is due.

use std::io;
use std::net::SocketAddr;
use std::net::UdpSocket;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::traffic::media::Head;
use btu_core::traffic::media::Receiver;
use btu_core::traffic::media::Report;
use btu_core::traffic::trace::Arrived;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::wait::Ready;

use super::Shared;
use crate::error::EngineError;
use crate::traffic::answerer::to_count;
use crate::traffic::pacer::now;

/// A receiver with its socket.
pub(super) struct Receiving<'a> {
    pub(super) socket: &'a UdpSocket,
    pub(super) receiver: Receiver,
    pub(super) shared: &'a Shared<'a>,
}

/// What it leaves behind.
pub(super) struct Heard {
    pub(super) receiver: Receiver,
    /// Every datagram that came.
    pub(super) arrived: Vec<Arrived>,
    pub(super) cpu: Nanos,
}

impl Receiving<'_> {
    /// Reads until all came that was sent, or nothing more does.
    pub(super) fn run(self) -> Result<Heard, EngineError> {
        let Self { socket, receiver, shared } = self;
        let before = ThreadUse::now();
        let mut ready = Ready::new(1)?;
        ready.add_reader(socket, 0)?;
        let mut heard = Heard { receiver, arrived: Vec::with_capacity(ROOM), cpu: Nanos::ZERO };
        let (mut space, mut sender, mut last) = (vec![0; 1 << 16], None, Nanos::ZERO);
        loop {
            let time = now().since(shared.begin);
            let wait = heard.receiver.due().since(time).min(LOOK);
            ready.wait(Some(wait.count())).map_err(EngineError::peer("wait"))?;
            if heard.read(socket, shared, &mut space, &mut sender)? {
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
    /// Reads what is there. Gives whether something was.
    fn read(
        &mut self,
        socket: &UdpSocket,
        shared: &Shared<'_>,
        space: &mut [u8],
        sender: &mut Option<SocketAddr>,
    ) -> Result<bool, EngineError> {
        for read in 0..AT_ONCE {
            match socket.recv_from(space) {
                Ok((count, from)) => {
                    *sender = Some(from);
                    self.came(socket, &space[..count], from, shared);
                }
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => return Ok(read > 0),
                // A signal, or a report that found nobody any more.
                Err(cause) if is_passing(&cause) => {}
                Err(cause) => return Err(EngineError::peer("receive")(cause)),
            }
        }
        Ok(true)
    }

    fn came(&mut self, socket: &UdpSocket, data: &[u8], from: SocketAddr, shared: &Shared<'_>) {
        let at = now().since(shared.begin);
        // Who sends something else is not the sender.
        let Some(head) = Head::read(data) else { return };
        let size = Bytes::new(to_count(data.len()));
        shared.moved.fetch_add(size.count(), Relaxed);
        self.arrived.push(Arrived { at, number: head.number, size });
        if let Some(report) = self.receiver.hear(at, &head) {
            tell(socket, Some(from), &report, shared);
        }
    }
}

/// A report that does not leave is a report that was lost.
fn tell(socket: &UdpSocket, sender: Option<SocketAddr>, report: &Report, shared: &Shared<'_>) {
    let Some(sender) = sender else { return };
    let told = socket.send_to(&report.write(), sender).unwrap_or(0);
    shared.moved.fetch_add(to_count(told), Relaxed);
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
