//! How the two ends of a ping-pong find each other: what a transport is told of it, and streams through
//! the data door.
//!
//! Between threads of one process there is no token, and whoever connects is the other end. Between hosts
//! only who knows the token comes in.

use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_core::pingpong::configuration::Configuration;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_sys::exchange;
use btu_sys::exchange::Address;
use btu_sys::exchange::Family;
use btu_sys::exchange::Listening;
use btu_sys::socket::Settings;

use crate::door;
use crate::door::Awaited;
use crate::door::Seat;
use crate::error::EngineError;
use crate::place::Party;

/// What a transport needs to know to make an end. Called in a thread that is at its place already.
#[derive(Clone, Copy, Debug)]
pub struct Hookup<'a> {
    /// The host of this end.
    pub party: &'a Party,
    /// Waiting, buffers, options.
    pub wanted: &'a Configuration,
    /// How long a connection may take.
    pub within: Duration,
    /// What a connection between two hosts must know; `None` between threads of one process.
    pub token: Option<Seat>,
    /// Ports to listen on, the first and the last; `None` for any.
    pub ports: Option<(u16, u16)>,
    /// Set by whoever does not want the end any more.
    pub cancel: &'a AtomicBool,
}

impl Hookup<'_> {
    /// What this end may send, where its host has a policy.
    pub(super) fn held_to(&self) -> Option<BitRate> {
        let byte_s = self.party.sockets.pacing_byte_s?;
        Some(BitRate::new(byte_s.saturating_mul(8)))
    }

    /// The options of this end's socket: those of the host, then those of the configuration.
    pub fn settings(&self) -> Settings {
        let (host, wanted) = (&self.party.sockets, self.wanted);
        Settings {
            congestion: host.congestion.clone(),
            send_buffer: wanted.send_buffer_bytes.map(Bytes::len).or(host.send_buffer),
            receive_buffer: wanted.receive_buffer_bytes.map(Bytes::len).or(host.receive_buffer),
            ..Settings::default()
        }
    }

    /// The same with the options that only TCP has.
    pub fn tcp_settings(&self) -> Settings {
        let (host, wanted) = (&self.party.sockets, self.wanted);
        let segment = wanted.max_segment_bytes.map(Bytes::count);
        Settings {
            nodelay: wanted.nodelay.or(host.nodelay),
            window_clamp: host.window_clamp,
            max_segment: segment.and_then(|size| u32::try_from(size).ok()).or(host.max_segment),
            pacing_byte_s: host.pacing_byte_s,
            reset_on_close: host.reset_on_close,
            ..self.settings()
        }
    }

    /// Listens on the first port that is free of those that are allowed.
    pub(super) fn listen(
        &self,
        family: Family,
        settings: &Settings,
    ) -> Result<Listening, EngineError> {
        let address = self.party.address;
        let at = |port| exchange::listen(family, Address::Inet((address, port).into()), settings);
        door::on_free_port(self.ports, at)
    }

    /// The next connection of whoever may come in.
    pub(super) fn accept(&self, listening: &Listening) -> Result<OwnedFd, EngineError> {
        let Some(seat) = &self.token else { return Ok(listening.accept(self.within)?) };
        let is_wanted = || !self.cancel.load(Relaxed);
        let next = || {
            let next = listening.accept(Duration::ZERO).map(Some);
            next.or_else(|cause| door::nobody_there(cause.into()))
        };
        let at = listening.address()?;
        let awaited = Awaited { seat, at: &at, patience: self.within, is_wanted: &is_wanted };
        door::first_known(listening, &awaited, next)
    }

    /// Connects, and says the token where there is one.
    pub(super) fn connect(
        &self,
        family: Family,
        at: Address,
        settings: &Settings,
    ) -> Result<OwnedFd, EngineError> {
        let connect = || Ok(exchange::connect(family, at, settings, self.within)?);
        let Some(seat) = &self.token else { return connect() };
        door::introduced(seat, &at, || Ok((connect()?, Instant::now() + self.within)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::io::Write;
    use std::net::TcpListener;
    use std::net::TcpStream;
    use std::os::fd::AsFd;
    use std::thread;

    use btu_core::role::Role;
    use btu_sys::exchange::Call;
    use btu_sys::exchange::Framing;

    use super::*;
    use crate::door::TRIES;
    use crate::door::reluctant::let_in_after;
    use crate::place::Place;

    fn seat(secret: u8) -> Seat {
        Seat { secret: [secret; 32], run: 3, attempt: 4, flow: 0 }
    }

    /// Calls `check` with the hookup of an end whose connections carry this token.
    fn hooked<T>(secret: u8, check: impl FnOnce(&Hookup<'_>) -> T) -> T {
        let party = Party {
            place: Place::here(Role::Active),
            address: [127, 0, 0, 1].into(),
            sockets: Settings::default(),
        };
        let wanted = Configuration::new("tcp");
        check(&Hookup {
            party: &party,
            wanted: &wanted,
            within: Duration::from_mins(1),
            token: Some(seat(secret)),
            ports: None,
            cancel: &AtomicBool::new(false),
        })
    }

    #[test]
    fn strangers_get_no_answer_and_the_right_one_comes_in() {
        let settings = Settings::default();
        let listening = hooked(7, |hookup| hookup.listen(Family::Tcp, &settings)).unwrap();
        let Address::Inet(at) = listening.address().unwrap() else { panic!("no address") };
        let far = thread::spawn(move || hooked(7, |hookup| hookup.accept(&listening)).unwrap());
        // One that says nothing, one that says something else, one with another secret.
        let silent = TcpStream::connect(at).unwrap();
        let mut wrong = TcpStream::connect(at).unwrap();
        wrong.write_all(&[7; 64]).unwrap();
        assert_eq!(wrong.read(&mut [0; 64]).unwrap_or(0), 0, "a stranger got an answer");
        let short = Settings::default();
        let refused = hooked(8, |hookup| hookup.connect(Family::Tcp, Address::Inet(at), &short));
        let refused = refused.unwrap_err().sentence();
        assert!(refused.starts_with("show the token to 127.0.0.1:"), "{refused}");
        let near = hooked(7, |hookup| hookup.connect(Family::Tcp, Address::Inet(at), &short));
        exchange::send(near.unwrap().as_fd(), b"bits", Call::Sleeping).unwrap();
        let (far, mut space) = (far.join().unwrap(), [0; 4]);
        exchange::recv(far.as_fd(), &mut space, Call::Sleeping, Framing::Stream).unwrap();
        assert_eq!(&space, b"bits");
        drop(silent);
    }

    #[test]
    fn a_connection_that_is_closed_unanswered_is_made_again() {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = Address::Inet(door.local_addr().unwrap());
        let far = thread::spawn(move || let_in_after(TRIES - 1, &door, &seat(7)));
        let settings = Settings::default();
        let near = hooked(7, |hookup| hookup.connect(Family::Tcp, at, &settings)).unwrap();
        exchange::send(near.as_fd(), b"bits", Call::Sleeping).unwrap();
        far.join().unwrap().read_exact(&mut [0; 4]).unwrap();
    }

    #[test]
    fn a_door_that_breaks_is_told_and_not_waited_for() {
        let listening = hooked(7, |hookup| hookup.listen(Family::Tcp, &Settings::default()));
        let listening = listening.unwrap();
        btu_sys::socket::abort(&listening);
        let told = hooked(7, |hookup| hookup.accept(&listening)).unwrap_err().sentence();
        assert!(told.starts_with("accept a connection: "), "{told}");
    }

    #[test]
    fn ports_are_those_that_are_allowed() {
        let settings = Settings::default();
        let taken = hooked(7, |hookup| hookup.listen(Family::Tcp, &settings)).unwrap();
        let Address::Inet(at) = taken.address().unwrap() else { panic!("no address") };
        let only = |ports| {
            hooked(7, |hookup| Hookup { ports, ..*hookup }.listen(Family::Tcp, &settings).map(drop))
        };
        let refused = only(Some((at.port(), at.port()))).unwrap_err().sentence();
        assert_eq!(refused, format!("no port from {0} to {0} is free", at.port()));
        only(None).unwrap();
    }
}
