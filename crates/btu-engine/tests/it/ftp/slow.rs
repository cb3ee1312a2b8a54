//! Stores to a server that takes its time: as long as bytes arrive it is not given up.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant;

use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_engine::activity;
use btu_engine::activity::Setup;
use btu_engine::file::Keeping;
use btu_engine::file::ftp::Access;
use btu_engine::file::ftp::Client;
use btu_engine::file::ftp::Server;
use btu_sys::socket;
use btu_sys::socket::Settings;

use super::raw::Raw;

/// A server that reads a piece of a file every 20 ms.
struct Slow {
    address: SocketAddr,
    thread: JoinHandle<()>,
}

/// What it does after so many bytes.
#[derive(Clone, Copy)]
enum Turn {
    /// Reads on to the end.
    GoesOn,
    /// Reads nothing more, and says nothing.
    Stops(usize),
}

impl Slow {
    fn start(turn: Turn) -> Self {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = door.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            for control in door.incoming() {
                if !served(&control.unwrap(), turn) {
                    break;
                }
            }
        });
        Self { address, thread }
    }

    /// As an impatient client sees it.
    fn access(&self) -> Access {
        Access { patience: PATIENCE, ..Access::anonymous(self.address) }
    }
}

/// One session; false once a file was stored or given up.
fn served(control: &TcpStream, turn: Turn) -> bool {
    let say = |line: &str| (&*control).write_all(format!("{line}\r\n").as_bytes()).is_ok();
    // A window of a few pieces: what the client sent waits at its own end.
    let small = Settings { receive_buffer: Some(8 * PIECE), ..Settings::default() };
    let door = socket::listen("127.0.0.1:0".parse().unwrap(), &small).unwrap();
    let mut has_stored = false;
    say("220 slow");
    for line in BufReader::new(control).lines() {
        let Ok(line) = line else { break };
        match line.split(' ').next() {
            Some("EPSV") => {
                say(&format!("229 (|||{}|)", door.local_addr().unwrap().port()));
            }
            Some("STOR") => {
                say("150 go on");
                has_stored = true;
                if taken(door.accept().unwrap().0, turn) {
                    say("226 all here");
                }
            }
            Some("QUIT") => {
                say("221 bye");
                break;
            }
            _ => {
                say("200 fine");
            }
        }
    }
    !has_stored
}

/// Whether the file came to its end.
fn taken(mut data: TcpStream, turn: Turn) -> bool {
    let (mut piece, mut total) = (vec![0; PIECE], 0);
    loop {
        match turn {
            Turn::Stops(after) if total >= after => {
                // Until the client gives up.
                std::thread::sleep(PATIENCE * 3);
                return false;
            }
            Turn::GoesOn | Turn::Stops(_) => std::thread::sleep(Duration::from_millis(20)),
        }
        match data.read(&mut piece).unwrap_or(0) {
            0 => return true,
            count => total += count,
        }
    }
}

#[test]
fn a_store_has_patience_as_long_as_its_bytes_arrive() {
    let slow = Slow::start(Turn::GoesOn);
    let mut client = Client::connect(&slow.access()).unwrap();
    let (bytes, since) = (super::content(FILE), Instant::now());
    assert_eq!(client.put("x", &mut &bytes[..]).unwrap().len(), FILE);
    assert!(since.elapsed() > PATIENCE * 2, "the server was quick: {:?}", since.elapsed());
    client.close().unwrap();
    slow.thread.join().unwrap();
}

#[test]
fn a_store_that_stands_still_is_given_up() {
    let slow = Slow::start(Turn::Stops(FILE / 2));
    let mut client = Client::connect(&slow.access()).unwrap();
    let since = Instant::now();
    let error = client.put("x", &mut &super::content(FILE)[..]).unwrap_err().sentence();
    assert!(error.contains("silent for"), "{error}");
    assert!(since.elapsed() > PATIENCE, "{:?}", since.elapsed());
    drop(client);
    slow.thread.join().unwrap();
}

#[test]
fn the_progress_of_a_slow_store_is_noted_while_it_arrives() {
    let slow = Slow::start(Turn::GoesOn);
    let setup = Setup {
        place: Place::here(Role::Test),
        cpu_threads: None,
        io_directory: ".".into(),
        io_file: Bytes::new(1),
        ftp_transfer: Bytes::new(FILE as u64),
        ftp_server: Some(slow.access()),
    };
    let ftp = activity::by_name("ftp").unwrap().prepare(&setup).unwrap();
    let (lead_in, window) = (Nanos::from_millis(200), Nanos::from_millis(400));
    let sample = activity::alone(&*ftp, &setup.place, lead_in, window, &false.into()).unwrap();
    assert_eq!(sample.failures, Vec::<String>::new());
    // In the window the file was under way, neither begun nor done: its send buffer took it at once.
    assert!(sample.units > 0.02 && sample.units < 0.9, "{sample:?}");
    slow.thread.join().unwrap();
}

/// A send buffer of the server that is full has room again only once a third of it has arrived: after 1.7 s at the
/// least, longer than it would wait for nothing.
#[test]
fn a_file_that_is_read_slowly_is_sent_to_its_end() {
    let mut serving = super::serving();
    serving.limits.data_idle = PATIENCE * 2;
    serving.sockets.send_buffer = Some(400_000);
    let server = Server::start(serving).unwrap();
    let mut raw = Raw::enter(&server);
    let small = Settings { receive_buffer: Some(8 * PIECE), ..Settings::default() };
    let data = socket::connect(raw.data_address(), &small, Duration::from_secs(5)).unwrap();
    raw.expect("RETR /zero/1000000", 150);
    let (mut piece, mut total, since) = (vec![0; PIECE], 0, Instant::now());
    loop {
        // Slow until it would have been given up, and then no longer than it has to be.
        if since.elapsed() < PATIENCE * 8 {
            std::thread::sleep(Duration::from_millis(50));
        }
        match (&data).read(&mut piece).unwrap() {
            0 => break,
            count => total += count,
        }
    }
    assert_eq!(total, 1_000_000);
    assert!(raw.hear().starts_with("226"));
}

/// Longer than a probe of a window that was full.
const PATIENCE: Duration = Duration::from_millis(600);

const PIECE: usize = 4096;

/// Read in 100 pieces at the least, 2 s.
const FILE: usize = 100 * PIECE;
