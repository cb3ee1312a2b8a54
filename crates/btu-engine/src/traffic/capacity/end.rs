//! The receiving end of a capacity search on a host of its own.

use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::traffic::probe::CapacitySample;
use btu_core::units::Bytes;
use btu_sys::socket;

use super::super::connect::PATIENCE;
use super::super::meeting::Reach;
use super::BUFFER;
use super::Receiver;
use crate::door;
use crate::error::EngineError;
use crate::threads;

/// The receiving end alone, for a sender on another host. Dropped, it ends.
#[derive(Debug)]
pub struct CapacityEnd {
    port: u16,
    sent: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<Result<CapacitySample, EngineError>>>,
    cancel: Arc<AtomicBool>,
    moved: Arc<AtomicU64>,
}

impl CapacityEnd {
    /// Waits for whoever knows the token; this host's clock is ahead of the sender's by so much.
    ///
    /// # Errors
    /// No port is free, or a thread did not start.
    pub fn open(reach: &Reach, datagram: Bytes, ahead_ns: i64) -> Result<Self, EngineError> {
        let open = |port| socket::bind_udp((reach.address, port).into(), BUFFER);
        let far = door::on_free_port(reach.ports, open)?;
        let port = far.local_addr().map_err(EngineError::peer("bind"))?.port();
        let (sent, cancel) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (over, unwanted, token) = (Arc::clone(&sent), Arc::clone(&cancel), reach.seat);
        let moved = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&moved);
        let work = move || {
            let far = OwnedFd::from(far);
            let end = Instant::now() + Duration::from(PATIENCE);
            let heard = door::hear(&far, &token, end, &unwanted);
            heard.map_err(EngineError::peer("wait for the sender of a search"))?;
            let far = UdpSocket::from(far);
            let (over, cancel, moved) = (&over, &unwanted, &counted);
            Receiver { socket: &far, datagram, over, cancel, moved, ahead_ns }.run()
        };
        let thread = threads::start("traffic-search", work)?;
        Ok(Self { port, sent, thread: Some(thread), cancel, moved })
    }

    /// Where it listens.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Payload that was read and sent so far.
    pub fn moved(&self) -> Bytes {
        Bytes::new(self.moved.load(Relaxed))
    }

    /// Waits for nothing more.
    pub fn cancel(&mut self) {
        self.cancel.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // Nobody is left to hear how it ended.
            let _ = thread.join();
        }
    }

    /// The sender has ended: what is still under way is awaited, and nothing more.
    pub fn sender_has_ended(&self) {
        self.sent.store(true, Relaxed);
    }

    /// True once nothing comes any more.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(thread::JoinHandle::is_finished)
    }

    /// What came.
    ///
    /// # Errors
    /// The sender never came, or a call of the system did not work.
    pub fn finish(mut self) -> Result<CapacitySample, EngineError> {
        let gone = || EngineError::Refused("a traffic thread panicked".to_owned());
        self.thread.take().map_or_else(|| Err(gone()), |one| one.join().map_err(|_| gone())?)
    }
}

impl Drop for CapacityEnd {
    fn drop(&mut self) {
        self.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use btu_core::traffic::figures::capacity::Adjustment;
    use btu_core::units::Nanos;

    use super::super::CapacityOrder;
    use super::super::capacity_with;
    use super::*;
    use crate::door::Seat;
    use crate::traffic::Door;
    use crate::wait::wait_until;

    fn order(time: Nanos) -> CapacityOrder {
        CapacityOrder { datagram: Bytes::new(1000), time, adjustment: Adjustment::B }
    }

    /// Whoever sends without a pause keeps nobody from ending, and all of it is counted.
    #[test]
    fn a_search_that_nobody_wants_ends_while_datagrams_come() {
        let seat = Seat { secret: [3; 32], run: 1, attempt: 2, flow: 0 };
        let reach = Reach { address: Ipv4Addr::LOCALHOST.into(), ports: None, seat };
        let mut end = CapacityEnd::open(&reach, Bytes::new(1000), 0).unwrap();
        let door = Door { at: (Ipv4Addr::LOCALHOST, end.port()).into(), seat, certificate: None };
        let cancel = Arc::<AtomicBool>::default();
        let flag = Arc::clone(&cancel);
        let long = Nanos::from_secs(600);
        let counted = Arc::<AtomicU64>::default();
        let moved = Arc::clone(&counted);
        let search = move || capacity_with(&door, order(long), &flag, &moved);
        let searching = thread::spawn(search);
        wait_until("datagrams came", || end.moved() >= Bytes::new(10_000));
        end.sender_has_ended();
        end.cancel();
        assert!(end.moved() >= Bytes::new(10_000) && end.is_over());
        cancel.store(true, Relaxed);
        let datagrams = searching.join().unwrap().unwrap().datagrams;
        assert!(datagrams >= 10);
        assert_eq!(counted.load(Relaxed), datagrams * 1000);
    }

    #[test]
    fn a_search_is_no_longer_than_its_reports() {
        let seat = Seat { secret: [3; 32], run: 1, attempt: 2, flow: 0 };
        let nowhere = Door { at: (Ipv4Addr::LOCALHOST, 9).into(), seat, certificate: None };
        let long = Nanos::from_secs(3601);
        let (cancel, moved) = (AtomicBool::new(false), AtomicU64::new(0));
        let refused = capacity_with(&nowhere, order(long), &cancel, &moved);
        let refused = refused.unwrap_err().sentence();
        assert_eq!(refused, "a capacity search of 3601s: at most 3600s");
    }
}
