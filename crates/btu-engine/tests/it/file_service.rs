//! What every file protocol does for a file service, and what a service does with clients and servers of any kind.

mod afs;
mod cold;
mod path;
mod unruly;

use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::file::sample::ClientSample;
use btu_core::file::sample::Direction;
use btu_core::file::sample::Held;
use btu_core::file::sample::Operation;
use btu_core::file::sample::Trial;
use btu_core::file::sample::TrialSample;
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_engine::file;
use btu_engine::file::Errand;
use btu_engine::file::FILE_PROTOCOLS;
use btu_engine::file::FileProtocol;
use btu_engine::file::Moments;
use btu_engine::file::Offer;
use btu_engine::file::Served;
use btu_engine::file::Visit;
use btu_engine::file::service::Service;
use btu_sys::socket::Settings;

use crate::local::party;
use crate::wait::wait_until;

/// A server on loopback.
pub(crate) fn offer(clients: usize) -> Offer {
    Offer {
        place: Place::here(Role::Active),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        settings: Settings::default(),
        directory: None,
        clients,
        program: None,
    }
}

/// A client of it, with two blocks of a kibibyte.
pub(crate) fn visit(server: &dyn Served, operation: Operation) -> Visit {
    Visit {
        server: server.address(),
        settings: Settings::default(),
        patience: Duration::from_secs(30),
        errand: Errand { operation, size: Bytes::new(1024), count: 2, files: Vec::new() },
        stay: None,
        sockets: Arc::default(),
        program: None,
    }
}

/// Two hosts on loopback; nothing here takes as long as their patience, on any machine.
pub(crate) fn service() -> Service {
    patient(Nanos::from_secs(60), Arc::default())
}

fn patient(patience: Nanos, stop: Arc<AtomicBool>) -> Service {
    Service::between(party(Role::Test), party(Role::Active), patience, stop)
}

/// Three times some bytes that are no whole number of buffers, from the one host to the other.
pub(crate) fn trial(protocol: &str, operation: Operation) -> Trial {
    Trial {
        protocol: protocol.to_owned(),
        operation,
        direction: Direction::AToB,
        size_bytes: Bytes::new(200_001),
        count: 3,
        clients: 1,
        mtu_bytes: None,
        held: Held::Nowhere,
    }
}

/// Every protocol that this build has, but for those whose ends are processes: they have tests of their own.
pub(crate) fn built() -> impl Iterator<Item = &'static dyn FileProtocol> {
    let of_threads = FILE_PROTOCOLS.iter().copied().filter(|one| !one.has_processes());
    of_threads.filter(|protocol| {
        let left_out = protocol.serve(&offer(1)).err().map(|cause| cause.to_string());
        let left_out = left_out.filter(|cause| cause.contains("this build leaves"));
        if let Some(cause) = &left_out {
            crate::skip::record(&format!("not built: {cause}"));
        }
        left_out.is_none()
    })
}

/// Every protocol with each of its operations.
fn each(check: impl Fn(&'static dyn FileProtocol, Operation)) {
    for protocol in built() {
        for operation in protocol.operations() {
            check(protocol, *operation);
        }
    }
}

/// A client that came to its end with all its bytes, its moments in order.
fn assert_whole(client: &ClientSample, trial: &Trial) {
    let named = format!("{} {:?}: {client:?}", trial.protocol, trial.operation);
    assert_eq!(client.failure, None, "{named}");
    assert_eq!(client.bytes.count(), trial.size_bytes.count() * u64::from(trial.count), "{named}");
    let phases = client.phases;
    assert!(phases.connect_ns.is_some() && phases.teardown_ns.is_some(), "{named}");
    let order = [phases.request_ns, phases.first_byte_ns, phases.last_byte_ns, phases.commit_ns];
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{named}");
    let times = if trial.operation == Operation::Stream { 1 } else { trial.count };
    assert_eq!(client.took_ns.len(), usize::try_from(times).unwrap(), "{named}");
    let all: u64 = client.took_ns.iter().map(|took| took.count()).sum();
    let whole = phases.commit_ns.unwrap().since(phases.request_ns.unwrap());
    assert!(all <= whole.count(), "{named}");
}

fn flags(seen: &TrialSample) -> Vec<&str> {
    seen.flags.iter().map(|flag| flag.name.as_str()).collect()
}

#[test]
fn every_operation_of_every_protocol_passes_its_bytes_with_its_moments_in_order() {
    each(|protocol, operation| {
        let trial = Trial { clients: 2, ..trial(protocol.name(), operation) };
        let seen = service().trial(&trial);
        assert_eq!(seen.clients.len(), 2);
        seen.clients.iter().for_each(|client| assert_whole(client, &trial));
        let numbers: Vec<u32> = seen.clients.iter().map(|client| client.client).collect();
        assert_eq!((numbers, seen.servers.len()), (vec![1, 2], 1));
        let last = seen.clients.iter().filter_map(|client| client.phases.commit_ns).max();
        assert!(last.is_some_and(|last| last <= seen.servers[0].elapsed_ns), "{seen:?}");
        assert!(seen.host.is_some() && flags(&seen).is_empty(), "{:?}", seen.flags);
    });
}

#[test]
fn a_session_goes_on_after_each_errand_and_a_server_that_is_dropped_ends_it() {
    each(|protocol, operation| {
        let server = protocol.serve(&offer(1)).unwrap();
        let mut session = protocol.open(&visit(&*server, operation)).unwrap();
        let progress = AtomicU64::new(0);
        for number in 0..3 {
            let _ = session.run(number, &mut Moments::from_now(&progress)).unwrap();
        }
        let one = if operation == Operation::Stream { 2048 } else { 1024 };
        assert_eq!(progress.load(Relaxed), 3 * one, "{} {operation:?}", protocol.name());
        // What the client has, the server may still have to count.
        wait_until("all is counted", || server.moved().count() == 3 * one);
        drop(server);
        session.run(3, &mut Moments::from_now(&progress)).unwrap_err();
    });
}

#[test]
fn both_directions_run_at_once_and_each_has_its_server() {
    each(|protocol, operation| {
        let whole = Trial { direction: Direction::Both, ..trial(protocol.name(), operation) };
        let seen = service().trial(&whole);
        let ways: Vec<Direction> = seen.clients.iter().map(|client| client.direction).collect();
        assert_eq!(ways, [Direction::AToB, Direction::BToA]);
        seen.clients.iter().for_each(|client| assert_whole(client, &whole));
        let mut hosts: Vec<&str> = seen.servers.iter().map(|server| &*server.host).collect();
        hosts.sort_unstable();
        assert_eq!(hosts, ["a", "b"]);
    });
}

#[test]
fn what_is_within_a_host_has_client_and_server_there() {
    for (direction, host) in [(Direction::WithinA, "a"), (Direction::WithinB, "b")] {
        let within = Trial { direction, ..trial("tcp-rpc", Operation::Get) };
        let seen = service().trial(&within);
        assert_whole(&seen.clients[0], &within);
        assert_eq!((seen.servers[0].host.as_str(), seen.path_mtu_bytes), (host, None));
    }
}

#[test]
fn the_server_of_a_file_is_where_it_comes_from_or_goes_to() {
    for (operation, host) in [(Operation::Get, "a"), (Operation::Put, "b")] {
        let seen = service().trial(&trial("ftp", operation));
        assert_eq!(seen.servers[0].host, host);
        assert_eq!(seen.clients[0].direction, Direction::AToB);
    }
}

#[test]
fn try_out_says_what_a_protocol_lacks() {
    each(|protocol, operation| service().try_out(protocol.name(), operation).unwrap());
    let said = |name, operation| service().try_out(name, operation).unwrap_err().to_string();
    assert_eq!(said("ftp", Operation::Call), "ftp has no operation call");
    assert_eq!(said("rx", Operation::Call), "there is no protocol \"rx\"");
}

#[test]
fn what_cannot_be_tried_is_told_in_the_sample() {
    let base = trial("ftp", Operation::Get);
    let wide = Trial { mtu_bytes: Some(Bytes::new(9000)), ..base.clone() };
    let nowhere = Trial { held: Held::Cold, ..base.clone() };
    let put = Trial { held: Held::Warm, operation: Operation::Put, ..base.clone() };
    let endless = Trial { count: u32::MAX, ..base.clone() };
    let nothing = Trial { size_bytes: Bytes::ZERO, ..base };
    for (trial, why) in [
        (wide, "the MTU of this path cannot be set"),
        (nowhere, "no directory for files was named"),
        (endless, "more than 10000000 files or calls of all clients are kept nowhere"),
        (put, "only a file that is retrieved is on a disk"),
        (nothing, "a trial without clients, files or bytes measures nothing"),
    ] {
        let seen = service().trial(&trial);
        assert_eq!(seen.clients[0].failure.as_deref(), Some(why));
    }
}

/// A9 of the design, the half that needs no quota: what is told of a server is its threads' and nobody else's.
#[test]
fn the_account_of_a_server_is_within_bounds() {
    let size = Bytes::new(32 << 20);
    for (protocol, operation) in [("ftp", Operation::Get), ("tcp-rpc", Operation::Call)] {
        let seen =
            service().trial(&Trial { size_bytes: size, count: 4, ..trial(protocol, operation) });
        let server = &seen.servers[0];
        let Some(cpu_ns) = server.cpu_ns else {
            skip!("not readable: {:?}", server.not_available);
        };
        // One thread serves one client; the clock of the scheduler lags behind by a tick.
        assert!(!cpu_ns.is_zero() && cpu_ns <= server.elapsed_ns + TICK, "{server:?}");
        let Some(calls) = server.calls else {
            skip!("not readable: {:?}", server.not_available);
        };
        let least = 4 * size.count() / (1 << 20);
        assert!(calls >= least, "{protocol}: {calls} calls");
        // Less than the code of this program, which may come from the disk while it runs.
        assert!(server.disk_read.is_some_and(|read| read < size), "{server:?}");
    }
}

/// The longest of Linux (`CONFIG_HZ_100`).
const TICK: Nanos = Nanos::from_millis(10);

#[test]
fn a_stop_ends_what_would_last_for_hours_and_is_told() {
    each(|protocol, operation| {
        let stop = Arc::new(AtomicBool::new(false));
        let begun = Instant::now();
        let mut service = patient(Nanos::from_secs(600), Arc::clone(&stop));
        let stopper = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            stop.store(true, Relaxed);
        });
        let long = Trial { count: 5_000_000, ..trial(protocol.name(), operation) };
        let seen = service.trial(&Trial { direction: Direction::Both, ..long });
        stopper.join().unwrap();
        let is_told = |client: &ClientSample| client.failure.as_deref() == Some("stopped");
        assert!(seen.clients.iter().all(is_told), "{:?}", seen.clients[0].failure);
        assert!(begun.elapsed() < Duration::from_mins(1));
    });
}

/// A directory for files of this test, and whether it is on a disk: where the program has its own, so that an ordinary
/// user may write there, too.
fn directory() -> (tempfile::TempDir, bool) {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let found = btu_sys::disk::file_system(directory.path()).unwrap();
    (directory, !found.in_memory)
}

fn left_in(directory: &tempfile::TempDir) -> Vec<PathBuf> {
    std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_name_leads_back_to_its_protocol() {
    for protocol in FILE_PROTOCOLS {
        assert_eq!(file::by_name(protocol.name()).unwrap().about(), protocol.about());
    }
}
