//! A black box that lies: what it claims beyond what came is contradicted by the counts of this host. And one that
//! leaves in the middle.

use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::thread;
use std::thread::JoinHandle;

use btu_core::role::Role;
use btu_core::run::cell::Case;
use btu_core::run::cell::Direction;
use btu_core::sample::Outcome;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::Place;
use btu_engine::cellrun;
use btu_engine::cellrun::BlackBox;
use btu_engine::cellrun::CellOrder;
use btu_engine::comm::Amount;
use btu_engine::comm::EndReport;
use btu_engine::comm::FarFlow;
use btu_engine::comm::FarJob;
use btu_engine::comm::FarSide;
use btu_engine::comm::Terms;
use btu_sys::socket::Settings;

use crate::local;
use crate::wait::wait_until;

/// It carries what it shall, and tells of more: in its own counts, and for its kernel.
#[derive(Default)]
struct Boasting {
    side: Option<Arc<FarSide>>,
    more: u64,
    /// Whether it leaves once something has come.
    leaves: bool,
    leaving: Option<JoinHandle<()>>,
}

impl Boasting {
    fn boast(&self, end: &mut EndReport) {
        let raise = |count: &mut Option<u64>| {
            *count = count.map(|count| count + self.more);
        };
        end.bytes += Bytes::new(self.more);
        if let Some(counted) = &mut end.sample.tcp_info {
            raise(&mut counted.bytes_received);
            raise(&mut counted.bytes_sent);
            raise(&mut counted.bytes_acked);
        }
    }
}

impl BlackBox for Boasting {
    fn role(&self) -> Role {
        Role::Active
    }

    fn listen(
        &mut self,
        flows: &[Direction],
        terms: &Terms,
    ) -> Result<Vec<SocketAddr>, EngineError> {
        let listen = (Ipv4Addr::LOCALHOST, 0).into();
        let far = |direction: &Direction| FarFlow { direction: *direction, listen };
        let flows = flows.iter().map(far).collect();
        let (sockets, place) = (Settings::default(), Place::here(Role::Active));
        let mut terms = terms.clone();
        let left = Arc::new(AtomicBool::new(false));
        if self.leaves {
            terms.cancel = Arc::clone(&left);
        }
        let side = Arc::new(FarSide::listen(FarJob { flows, terms, sockets, place })?);
        if self.leaves {
            let side = Arc::clone(&side);
            self.leaving = Some(thread::spawn(move || {
                wait_until("something that comes", || side.moved() > Bytes::ZERO || side.is_over());
                left.store(true, Ordering::Relaxed);
            }));
        }
        Ok(self.side.insert(side).addresses().to_vec())
    }

    fn cancel(&mut self) {
        self.side.iter().for_each(|side| side.cancel());
    }

    fn finish(&mut self) -> Result<Vec<EndReport>, EngineError> {
        if let Some(leaving) = self.leaving.take() {
            leaving.join().expect("it leaves");
        }
        let side = self.side.take().and_then(Arc::into_inner);
        let mut ends = side.expect("it listens").finish()?;
        for end in &mut ends {
            self.boast(end);
        }
        Ok(ends)
    }
}

#[test]
fn a_black_box_that_tells_of_more_than_came_is_contradicted() {
    for (case, more) in [(Case::Send, 1), (Case::Recv, 1), (Case::Send, 1 << 40), (Case::Send, 0)] {
        let near = local::party(Role::Test);
        let terms = local::terms(1250, Amount::Messages(200));
        let order = CellOrder { flows: case.flows(), terms, near: &near, fars: &[], load: None };
        let mut lying = Boasting { more, ..Boasting::default() };
        let measured = cellrun::run_among(&order, &mut [&mut lying]).unwrap();
        let comm = measured.comm.unwrap();
        let failures = &comm.connections[0].proof_failures;
        assert_eq!(failures.is_empty(), more == 0, "{case}, {more} more: {failures:?}");
        let own = "bytes that the sending user wrote: 250000, should be";
        let by_own = failures.iter().any(|one| one.starts_with(own));
        assert_eq!(by_own, more > 0 && case == Case::Send, "{case}, {more} more: {failures:?}");
    }
}

/// Its cap is a minute, its window a third of one: it lasted as long as there was a connection.
#[test]
fn a_run_that_failed_lasted_until_it_failed() {
    let near = local::party(Role::Test);
    let terms = local::terms(1250, Amount::Window(Nanos::from_secs(20)));
    let flows = Case::Send.flows();
    let order = CellOrder { flows, terms, near: &near, fars: &[], load: None };
    let mut leaving = Boasting { leaves: true, ..Boasting::default() };
    let measured = cellrun::run_among(&order, &mut [&mut leaving]).unwrap();
    assert!(matches!(measured.outcome, Outcome::Failed { .. }), "{:?}", measured.outcome);
    let lasted = measured.comm.unwrap().elapsed_ns;
    assert!(lasted > Nanos::ZERO && lasted < Nanos::from_secs(15), "{lasted}");
}
