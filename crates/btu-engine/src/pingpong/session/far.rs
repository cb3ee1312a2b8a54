//! An end that answers without a near end in this process: the far side of a session with another host.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;

use btu_core::pingpong::configuration::Placement;
use btu_core::pingpong::sample::Fault;
use btu_core::pingpong::schedule::Visit;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_core::words::sentence;
use btu_sys::cpu::CpuSet;

use super::Done;
use super::LAST_GRACE;
use super::Opening;
use super::Order;
use super::Worker;
use crate::error::EngineError;
use crate::pingpong::host::Account;
use crate::pingpong::regulator::Regulator;
use crate::pingpong::transport::Rendezvous;

/// One end that answers. Dropped, its connection is ended and its thread waited for.
#[derive(Debug)]
pub(in super::super) struct FarEnd {
    worker: Worker,
    done: Receiver<Done>,
    size: Bytes,
    /// Whether a visit was begun that nobody has asked about.
    under_way: bool,
    cancel: Arc<AtomicBool>,
}

impl FarEnd {
    /// An end that listens, and where.
    pub(in super::super) fn listen(opening: &Opening) -> Result<(Self, Rendezvous), EngineError> {
        opening.refuse_what_cannot_be()?;
        let opening = &Opening { cancel: Arc::default(), ..opening.clone() };
        let (report, done) = mpsc::channel();
        let mut worker = Worker::far(opening, cpus(opening)?, report)?;
        let rendezvous = worker.rendezvous()?;
        let cancel = Arc::clone(&opening.cancel);
        Ok((Self { worker, done, size: Bytes::ZERO, under_way: false, cancel }, rendezvous))
    }

    /// What is known of the connection, once it stands.
    pub(in super::super) fn wait_until_open(&mut self) -> Result<&[String], EngineError> {
        if !self.worker.is_open() {
            self.worker.wait_until_open()?;
        }
        Ok(&self.worker.remarks)
    }

    /// Answers blocks of this size until the other end says that it was the last.
    pub(in super::super) fn order(
        &mut self,
        size: Bytes,
        verify_from: Option<u64>,
    ) -> Result<(), EngineError> {
        if !self.worker.is_open() {
            return Err(EngineError::Refused("the connection does not stand yet".to_owned()));
        }
        if self.under_way {
            return Err(EngineError::Refused("the visit before is not over".to_owned()));
        }
        (self.size, self.under_way) = (size, true);
        // The other end says which exchange is the last: only the size is looked at here.
        let visit = Visit::single(size, 1, Nanos::ZERO);
        self.worker.order(Order { visit, verify_from, times: Vec::new(), division: None });
        Ok(())
    }

    /// How the visit came out, and the payload that it moved. One that does not end now is ended.
    pub(in super::super) fn over(&mut self, broken: bool) -> Result<(Account, Bytes), EngineError> {
        if !std::mem::take(&mut self.under_way) {
            return Err(EngineError::Refused("no visit was begun".to_owned()));
        }
        Ok(self.account(broken))
    }

    /// What sets its rate, once it is connected.
    pub(in super::super) const fn regulator(&self) -> Option<&Regulator> {
        self.worker.regulator.as_ref()
    }

    /// Whether a visit was begun and is not over.
    pub(in super::super) const fn is_under_way(&self) -> bool {
        self.under_way
    }

    fn account(&mut self, broken: bool) -> (Account, Bytes) {
        if broken {
            self.worker.abort();
        }
        let mut done = self.done.recv_timeout(LAST_GRACE);
        if done.is_err() {
            self.worker.abort();
            done = self.done.recv_timeout(LAST_GRACE);
        }
        let Ok(done) = done else {
            let fault = Some((Fault::System, NOTHING.to_owned()));
            return (Account { fault, ..Account::default() }, Bytes::ZERO);
        };
        let account = Account::of_use(&done.used);
        match done.outcome {
            Ok(answer) => {
                let moved = answer.answered.saturating_mul(self.size.count()).saturating_mul(2);
                let moved = Bytes::new(moved);
                (Account { verified: answer.verified, ..account }, moved)
            }
            Err(broken) => (
                Account { fault: Some((broken.fault(), sentence(&broken))), ..account },
                Bytes::ZERO,
            ),
        }
    }
}

impl Drop for FarEnd {
    fn drop(&mut self) {
        self.cancel.store(true, Relaxed);
    }
}

/// The last of the end's CPUs, where both ends shall have one of their own: the end that starts takes
/// the first of its host's, which may be this one.
fn cpus(opening: &Opening) -> Result<CpuSet, EngineError> {
    if opening.configuration.placement == Placement::Free {
        return Ok(CpuSet::default());
    }
    let all = opening.far.place.cpus()?;
    Ok(CpuSet::of(all.iter().last()))
}

const NOTHING: &str = "the end did not stop";

#[cfg(test)]
mod tests {
    use btu_core::pingpong::configuration::Configuration;
    use btu_core::role::Role;
    use btu_sys::exchange::Address;
    use btu_sys::socket::Settings;

    use super::*;
    use crate::door::Seat;
    use crate::door::lossy;
    use crate::pingpong::transport;
    use crate::place::Party;
    use crate::place::Place;

    fn opening(transport: &str) -> Opening {
        let (place, address) = (Place::here(Role::Active), [127, 0, 0, 1].into());
        let party = Party { place, address, sockets: Settings::default() };
        let configuration =
            Configuration { placement: Placement::Free, ..Configuration::new(transport) };
        let transport = transport::by_name(transport).unwrap();
        Opening {
            patience: Nanos::from_secs(20),
            token: Some(Seat { secret: [9; 32], run: 1, attempt: 1, flow: 0 }),
            ..Opening::new(transport, configuration, party.clone(), party)
        }
    }

    /// The same, but with what the far end says lost where it is to be.
    fn behind(at: Rendezvous, is_lost: impl FnMut(&[u8]) -> bool + Send + 'static) -> Rendezvous {
        let lead = |far: Address| match far {
            Address::Inet(far) => Address::Inet(lossy::towards(far, is_lost)),
            vsock @ Address::Vsock { .. } => vsock,
        };
        match at {
            Rendezvous::At(address) => Rendezvous::At(lead(address)),
            Rendezvous::Secure { address, certificate } => {
                Rendezvous::Secure { address: lead(address), certificate }
            }
            other => other,
        }
    }

    /// Blocks of 32 bytes, as long as a proof.
    fn answers_blocks(transport: &str, is_lost: impl FnMut(&[u8]) -> bool + Send + 'static) {
        let opening = opening(transport);
        let (mut far, at) = FarEnd::listen(&opening).unwrap();
        let (report, done) = mpsc::channel();
        let mut near =
            Worker::near(&opening, CpuSet::default(), behind(at, is_lost), report).unwrap();
        near.wait_until_open().unwrap();
        far.wait_until_open().unwrap();
        for _ in 0..2 {
            far.order(Bytes::new(32), None).unwrap();
            let visit = Visit::single(Bytes::new(32), 5, Nanos::from_secs(20));
            near.order(Order {
                visit,
                verify_from: None,
                times: Vec::with_capacity(5),
                division: None,
            });
            let seen = done.recv().unwrap().outcome.unwrap();
            assert!(seen.early.is_none(), "{seen:?}");
            let (account, moved) = far.over(false).unwrap();
            assert!(account.fault.is_none() && moved.count() >= 5 * 64, "{account:?}, {moved}");
        }
    }

    /// Loses the first two greetings of the far end, and nothing else.
    fn two_greetings() -> impl FnMut(&[u8]) -> bool + Send + 'static {
        let mut lost = 0;
        move |said| {
            let is_lost = said == b"btu ping" && lost < 2;
            lost += usize::from(is_lost);
            is_lost
        }
    }

    #[test]
    fn a_greeting_that_is_lost_is_said_again() {
        for transport in ["udp", "quic"] {
            answers_blocks(transport, two_greetings());
        }
    }

    /// What a path may do that has two ways, or sends again what arrived.
    #[test]
    fn an_answer_that_comes_twice_over_udp_is_a_fault_and_no_answer() {
        let opening = opening("udp");
        let (mut far, at) = FarEnd::listen(&opening).unwrap();
        let Rendezvous::At(Address::Inet(address)) = at else { panic!("{at:?}") };
        let mut blocks = 0;
        let through = lossy::copied(address, move |said| {
            blocks += usize::from(said.len() == 40);
            if said.len() == 40 && blocks == 3 { 2 } else { 1 }
        });
        let (report, done) = mpsc::channel();
        let at = Rendezvous::At(Address::Inet(through));
        let mut near = Worker::near(&opening, CpuSet::default(), at, report).unwrap();
        near.wait_until_open().unwrap();
        far.wait_until_open().unwrap();
        far.order(Bytes::new(40), None).unwrap();
        let visit = Visit::single(Bytes::new(40), 8, Nanos::from_secs(20));
        let times = Vec::with_capacity(8);
        near.order(Order { visit, verify_from: None, times, division: None });
        let seen = done.recv().unwrap();
        assert_eq!(seen.outcome.unwrap_err().fault(), Fault::Duplicated);
        assert_eq!(seen.times.len(), 8);
        let (account, moved) = far.over(false).unwrap();
        assert!(account.fault.is_none(), "{account:?}");
        assert_eq!(moved.count(), 8 * 2 * 40, "every block had its own answer");
    }
}
