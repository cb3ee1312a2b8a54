//! The FTP server and client, against each other and against programs of others.

mod dialogue;
pub(crate) mod peers;
mod places;
mod raw;
mod slow;

use std::collections::HashSet;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::time::Duration;
use std::time::Instant;

use btu_core::file::sample::Operation;
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_engine::Place;
use btu_engine::file::ftp::Access;
use btu_engine::file::ftp::Client;
use btu_engine::file::ftp::Server;
use btu_engine::file::ftp::Serving;
use btu_engine::file::ftp::Transfer;

use crate::file_service::built;
use crate::file_service::offer;
use crate::file_service::visit;
use crate::wait::wait_until;

/// A server on loopback with the default limits.
pub(crate) fn server() -> Server {
    Server::start(serving()).unwrap()
}

fn serving() -> Serving {
    Serving::at(Place::here(Role::Active), IpAddr::V4(Ipv4Addr::LOCALHOST))
}

fn client(server: &Server) -> Client {
    Client::connect(&Access::anonymous(server.address())).unwrap()
}

/// Bytes that differ from their neighbours, from block to block too.
pub(crate) fn content(length: usize) -> Vec<u8> {
    let words = (0_u64..).map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    words.take(length.div_ceil(8)).flatten().take(length).collect()
}

fn receive_all(transfer: Transfer) -> Vec<u8> {
    let (mut all, mut space) = (Vec::new(), vec![0; 65536]);
    loop {
        match transfer.receive(&mut space).unwrap() {
            0 => break,
            count => all.extend_from_slice(&space[..count]),
        }
    }
    transfer.finish().unwrap();
    all
}

fn send_all(mut transfer: Transfer, bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let sent = transfer.send(rest).unwrap();
        rest = &rest[sent..];
    }
    transfer.finish().unwrap();
}

#[test]
fn what_was_put_comes_back_the_same() {
    let server = server();
    let mut client = client(&server);
    for length in [0, 1, 1024, 65_535, 65_536, 65_537, 1_000_000] {
        let bytes = content(length);
        send_all(client.store("/there").unwrap(), &bytes);
        assert_eq!(client.size("/there").unwrap().len(), length);
        assert!(receive_all(client.retrieve("/there").unwrap()) == bytes, "{length} B");
    }
    client.remove("/there").unwrap();
    assert!(client.retrieve("/there").unwrap_err().to_string().contains("RETR /there"));
    client.close().unwrap();
}

/// The contract of every file protocol that keeps files, whatever it is.
#[test]
fn every_file_protocol_that_keeps_files_gives_back_what_was_put() {
    for protocol in built() {
        let name = protocol.name();
        let server = protocol.serve(&offer(1)).unwrap();
        let mut session = protocol.open(&visit(&*server, Operation::Get)).unwrap();
        let Some(session) = session.keeping() else { continue };
        for length in [0, 1, 200_000] {
            let (bytes, mut back) = (content(length), Vec::new());
            assert_eq!(session.put("/x", &mut &bytes[..]).unwrap().len(), length, "{name}");
            assert_eq!(session.get("/x", &mut back).unwrap().len(), length, "{name}");
            assert!(back == bytes, "{name}: {length} B");
        }
        session.remove("/x").unwrap();
        session.get("/x", &mut Vec::new()).unwrap_err();
        session.remove("/x").unwrap_err();
        drop(server);
        session.get("/zero/1", &mut Vec::new()).unwrap_err();
    }
}

#[test]
fn synthetic_files_have_their_size_and_the_null_directory_keeps_nothing() {
    let server = server();
    let mut client = client(&server);
    assert!(receive_all(client.retrieve("/zero/100000").unwrap()) == vec![0; 100_000]);
    let random = receive_all(client.retrieve("/random/1000000").unwrap());
    assert_eq!(random.len(), 1_000_000);
    let distinct: HashSet<&[u8]> = random[..65536].chunks_exact(8).collect();
    assert_eq!(distinct.len(), 8192);
    send_all(client.store("/null/x").unwrap(), &random);
    assert_eq!(server.moved().count(), 2_100_000);
    client.retrieve("/null/x").unwrap_err();
    client.store("/zero/5").unwrap_err();
}

#[test]
fn ipv6_works_too() {
    let Ok(server) = Server::start(Serving::at(Place::here(Role::Active), "::1".parse().unwrap()))
    else {
        skip!("kernel lacks: IPv6 on loopback");
    };
    let mut client = client(&server);
    send_all(client.store("/six").unwrap(), b"bits");
    assert_eq!(receive_all(client.retrieve("/six").unwrap()), b"bits");
}

#[test]
fn two_sessions_transfer_at_once() {
    let server = server();
    let (mut one, mut two) = (client(&server), client(&server));
    let (mut up, down) = (one.store("/up").unwrap(), two.retrieve("/random/300000").unwrap());
    // Both data connections are open now, and each moves while the other waits.
    let bytes = content(200_000);
    let mut space = vec![0; 65536];
    let mut rest = &bytes[..];
    let mut got = 0;
    while !rest.is_empty() {
        let sent = up.send(&rest[..rest.len().min(10_000)]).unwrap();
        rest = &rest[sent..];
        got += down.receive(&mut space).unwrap();
    }
    up.finish().unwrap();
    assert_eq!(got + receive_all(down).len(), 300_000);
    assert!(receive_all(two.retrieve("/up").unwrap()) == bytes);
}

/// Nagle's algorithm would hold each server's last word on a transfer back until the word before it
/// is acknowledged, and the client delays that for at least 40 ms (`TCP_DELACK_MIN`,
/// include/net/tcp.h of Linux), however fast the machine is. A busy machine may delay some of the
/// transfers as much, but not the fastest of a hundred.
#[test]
fn small_transfers_do_not_wait_for_delayed_acknowledgements() {
    let server = server();
    let mut client = client(&server);
    send_all(client.store("/small").unwrap(), &content(1024));
    let get = fastest(100, || {
        receive_all(client.retrieve("/small").unwrap());
    });
    let put = fastest(100, || send_all(client.store("/null/x").unwrap(), &[7; 1024]));
    assert!(get < DELAYED_ACK && put < DELAYED_ACK, "get {get:?}, put {put:?}");
}

pub(crate) const DELAYED_ACK: Duration = Duration::from_millis(40);

pub(crate) fn fastest(count: usize, mut work: impl FnMut()) -> Duration {
    let timed = |()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    std::iter::repeat_n((), count).map(timed).min().unwrap()
}

#[test]
fn a_breaker_ends_a_transfer_that_waits() {
    let server = server();
    let mut client = client(&server);
    // Nobody reads more than one buffer of this file: its sender waits for ever.
    let transfer = client.retrieve("/zero/1000000000000").unwrap();
    let breaker = client.breaker();
    let (tell, told) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut space = vec![0; 65536];
        tell.send(transfer.receive(&mut space)).unwrap();
        while transfer.receive(&mut space).is_ok_and(|count| count > 0) {}
    });
    assert!(told.recv().unwrap().unwrap() > 0);
    breaker.end();
    reader.join().unwrap();
    assert!(client.nothing().is_err());
    assert!(client.retrieve("/zero/1").is_err());
}

/// The threads of the server at `address`, by their name.
fn threads_of(address: SocketAddr) -> usize {
    let name = format!("ftp-{}\n", address.port());
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|found| *found == name).count()
}

#[test]
fn a_dropped_server_leaves_no_thread_and_no_connection() {
    let server = server();
    let address = server.address();
    let mut clients: Vec<Client> = (0..3).map(|_| client(&server)).collect();
    // One idle, one that has announced a data connection, one in the middle of a transfer.
    let down = clients[0].retrieve("/zero/1000000000000").unwrap();
    let mut up = clients[1].store("/kept").unwrap();
    assert_eq!(threads_of(address), 4);
    drop(server);
    // A thread that was joined may still be listed for a moment: the kernel takes it away itself.
    wait_until("no thread is left", || threads_of(address) == 0);
    let mut space = vec![0; 65536];
    while down.receive(&mut space).is_ok_and(|count| count > 0) {}
    while up.send(&space).is_ok() {}
    assert!(clients[2].nothing().is_err());
    assert!(Client::connect(&Access::anonymous(address)).is_err());
}

#[test]
fn a_store_that_is_full_says_so_and_goes_on() {
    let mut serving = serving();
    serving.limits.store = Bytes::new(1 << 20);
    let server = Server::start(serving).unwrap();
    let mut client = client(&server);
    let mut transfer = client.store("/big").unwrap();
    let bytes = content(2 << 20);
    let mut rest = &bytes[..];
    while let Ok(sent @ 1..) = transfer.send(rest) {
        rest = &rest[sent..];
    }
    let refused = transfer.finish().unwrap_err().sentence();
    assert!(refused.contains("552"), "{refused}");
    send_all(client.store("/small").unwrap(), b"bits");
    assert_eq!(receive_all(client.retrieve("/small").unwrap()), b"bits");
}
