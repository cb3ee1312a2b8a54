//! What comes back to a sender: receipts of its blocks, and of datagrams that they arrive at all.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::sample::Outcome;
use btu_core::units::Nanos;
use btu_sys::socket;

use super::Sender;
use super::Stage;
use crate::time::now;
use crate::traffic::answers::Awaiting;
use crate::traffic::receipts;

impl Sender<'_> {
    /// True where its socket is read whenever something came.
    pub(in crate::traffic) const fn is_answered(&self) -> bool {
        self.awaiting.is_some() && self.quic.is_none()
    }

    /// True where nothing comes any more that it would hear.
    pub(in crate::traffic) fn is_deaf(&self) -> bool {
        self.awaiting.as_ref().is_none_or(Awaiting::is_closed)
    }

    /// Takes what came back, as much as others can wait for.
    pub(in crate::traffic) fn hear(&mut self) {
        if self.flow.carrier.is_stream() {
            return self.hear_stream();
        }
        let (start, sent) = (self.start, self.shared.datagrams.load(Relaxed));
        let Self { awaiting, receipts, shared, socket, .. } = self;
        receipts::take(socket, |said| {
            let time = now();
            let heard =
                awaiting.as_mut().is_some_and(|own| own.hears(time, time.since(start), said));
            if heard {
                let length = u64::try_from(said.len()).unwrap_or(0);
                shared.receipts.fetch_add(length, Relaxed);
            } else if let Some(receipts) = receipts {
                receipts.hears(time, said, sent);
            }
        });
    }

    /// What came over QUIC is in this process, and nothing wakes anybody for it once more: all of it is read. A socket
    /// stays ready while there is more.
    fn hear_stream(&mut self) {
        while self.hears_part() && self.is_quic() {}
    }

    /// True where receipts came.
    fn hears_part(&mut self) -> bool {
        let Some(awaiting) = self.awaiting.as_mut().filter(|own| !own.is_closed()) else {
            return false;
        };
        let mut space = [0; AT_ONCE];
        let came = match &mut self.quic {
            Some(quic) => quic.recv(&mut space),
            None => socket::recv(self.socket.as_fd(), &mut space),
        };
        match came {
            Ok(count) if count > 0 => {
                let time = now();
                awaiting.more(time, time.since(self.start), count);
                self.shared.receipts.fetch_add(u64::try_from(count).unwrap_or(0), Relaxed);
                return true;
            }
            Err(cause) if is_for_now(&cause) => {}
            // Of a connection that is gone the next write tells.
            Ok(_) | Err(_) => awaiting.close(),
        }
        false
    }

    /// Ends the flow where nobody tells any more that it arrives; true where it did.
    pub(in crate::traffic) fn is_broken(&mut self, time: Nanos) -> bool {
        if self.receipts.is_none() || self.stage != Stage::Sends || time < self.start {
            return false;
        }
        self.hear();
        let sent = self.shared.datagrams.load(Relaxed);
        let looks = self.receipts.as_mut().and_then(|own| own.look(time, sent));
        let Some(trip) = looks else { return false };
        self.cut_short(time, Outcome::Capped { reason: trip.to_string() });
        true
    }
}

/// True where more may come.
fn is_for_now(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Receipts of a stream that are read in one call.
const AT_ONCE: usize = 512;
