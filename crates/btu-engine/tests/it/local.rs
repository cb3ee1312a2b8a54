//! Three hosts on the loopback of this machine, for tests that need no namespaces.

use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::SocketAddr;

use btu_core::role::Role;
use btu_core::run::cell::Case;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::cellrun;
use btu_engine::cellrun::CellOrder;
use btu_engine::cellrun::CellRun;
use btu_engine::cellrun::Load;
use btu_engine::comm::Amount;
use btu_engine::comm::Terms;
use btu_engine::transport;
use btu_sys::socket::Settings;

/// Where nobody listens (tcpmux, RFC 1078), and where no other test may come to listen meanwhile, as
/// it may at a port that was free a moment ago.
pub(crate) const NOBODY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

/// A host on loopback.
pub(crate) fn party(role: Role) -> Party {
    Party {
        place: Place::here(role),
        address: "127.0.0.1".parse().unwrap(),
        sockets: Settings::default(),
    }
}

/// Terms of a run that is given up after a minute: nothing here takes that long, on any machine.
pub(crate) fn terms(message: u64, amount: Amount) -> Terms {
    let tcp = transport::by_name("tcp").unwrap();
    Terms::new(tcp, Bytes::new(message), amount, Nanos::from_secs(60))
}

/// Runs a case over loopback, with nothing beside it.
pub(crate) fn run(case: Case, terms: Terms) -> CellRun {
    run_beside(None, case, terms).expect("nobody cancels this run")
}

/// Runs a case over loopback beside an activity; `None` where it was cancelled.
pub(crate) fn run_beside(load: Option<Load<'_>>, case: Case, terms: Terms) -> Option<CellRun> {
    let (near, fars) = (party(Role::Test), [party(Role::Active), party(Role::Passive)]);
    cellrun::run(&CellOrder { flows: case.flows(), terms, near: &near, fars: &fars, load })
}
