//! Servers that die, and servers that fall silent: a trial ends all the same, and says what it saw.

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::time::Instant;

use btu_core::file::sample::Operation;
use btu_core::file::sample::Trial;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::file;
use btu_engine::file::Account;
use btu_engine::file::FileProtocol;
use btu_engine::file::Offer;
use btu_engine::file::Served;
use btu_engine::file::Session;
use btu_engine::file::Visit;

use super::patient;
use super::trial;

/// `tcp-rpc` whose server misbehaves.
#[derive(Debug)]
struct Unruly(Way);

#[derive(Clone, Copy, Debug)]
enum Way {
    /// It ends the connection after a block.
    Dies,
    /// It says nothing more after the first words of every second client.
    HangsAtEverySecond,
    /// It says nothing at all.
    NeverAnswers,
}

#[derive(Debug)]
struct Scripted {
    address: SocketAddr,
    account: Account,
}

impl Served for Scripted {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn account(&self) -> &Account {
        &self.account
    }

    fn moved(&self) -> Bytes {
        Bytes::ZERO
    }
}

impl FileProtocol for Unruly {
    fn name(&self) -> &'static str {
        "unruly"
    }

    fn about(&self) -> &'static str {
        "a server that misbehaves"
    }

    fn operations(&self) -> &'static [Operation] {
        &[Operation::Call]
    }

    fn serve(&self, _: &Offer) -> Result<Box<dyn Served>, EngineError> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let way = self.0;
        std::thread::spawn(move || {
            let mut guests = Vec::new();
            for (number, client) in listener.incoming().enumerate().take(2) {
                guests.push(std::thread::spawn(move || misbehave(way, number, client.unwrap())));
            }
            for guest in guests {
                guest.join().unwrap();
            }
        });
        Ok(Box::new(Scripted { address, account: Account::default() }))
    }

    fn open(&self, visit: &Visit) -> Result<Box<dyn Session>, EngineError> {
        file::by_name("tcp-rpc").unwrap().open(visit)
    }
}

/// Until the client is gone.
fn misbehave(way: Way, number: usize, mut client: TcpStream) {
    let mut order = [0; 28];
    client.read_exact(&mut order).unwrap();
    if !matches!(way, Way::NeverAnswers) {
        client.write_all(b"good").unwrap();
    }
    let mut block = [0; SIZE];
    while client.read_exact(&mut block).is_ok() {
        match way {
            Way::Dies => return,
            Way::HangsAtEverySecond if number % 2 == 1 => {}
            Way::NeverAnswers => {}
            Way::HangsAtEverySecond => {
                let said = u32::try_from(SIZE).unwrap().to_be_bytes();
                if client.write_all(&said).is_err() {
                    return;
                }
            }
        }
    }
}

const SIZE: usize = 4096;

/// Two clients with two calls each.
fn calls() -> Trial {
    let size_bytes = Bytes::new(4096);
    Trial { size_bytes, count: 2, clients: 2, ..trial("unruly", Operation::Call) }
}

fn failures(protocol: &'static Unruly, patience: Nanos) -> Vec<Option<String>> {
    let seen = patient(patience, Arc::default()).trial_of(protocol, &calls());
    seen.clients.into_iter().map(|client| client.failure).collect()
}

#[test]
fn a_server_that_dies_is_told_and_ends_the_trial_at_once() {
    for failure in failures(&Unruly(Way::Dies), Nanos::from_secs(60)) {
        let failure = failure.unwrap();
        assert!(failure.starts_with("tcp-rpc: "), "{failure}");
    }
}

#[test]
fn a_client_that_hangs_is_told_by_patience_and_the_others_go_on() {
    let mut failures = failures(&Unruly(Way::HangsAtEverySecond), Nanos::from_secs(2));
    failures.sort();
    assert_eq!(failures, [None, Some("hung at 4KiB: nothing moved for 2s".to_owned())]);
}

#[test]
fn a_server_that_never_answers_is_given_up_by_patience() {
    for failure in failures(&Unruly(Way::NeverAnswers), Nanos::from_millis(500)) {
        assert_eq!(failure.unwrap(), "unruly: no session within 500ms");
    }
}

#[test]
fn a_stop_ends_a_client_that_hangs() {
    let stop = Arc::new(AtomicBool::new(false));
    let begun = Instant::now();
    let mut service = patient(Nanos::from_secs(600), Arc::clone(&stop));
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let seen = service.trial_of(&Unruly(Way::NeverAnswers), &calls());
    stopper.join().unwrap();
    let told = |why: &str| seen.clients.iter().all(|one| one.failure.as_deref() == Some(why));
    assert!(told("stopped"), "{seen:?}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}
