//! UDP: a block is a datagram, and one that gets lost ends the visit.
//!
//! Streams keep at most two windows ahead of the reader, which says when it has read one; a
//! ping-pong has never more than one datagram on its way.

mod greeted;
mod paced;

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::time::Instant;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::nature::Nature;
use btu_core::pingpong::nature::Setting;
use btu_core::units::Bytes;
use btu_sys::exchange;
use btu_sys::exchange::Address;
use btu_sys::exchange::Call;
use btu_sys::exchange::Framing;
use btu_sys::exchange::Ready;

use self::greeted::Greeted;
use self::paced::PacedEnd;
use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::socket;
use super::socket::SocketEnd;
use crate::door;
use crate::error::EngineError;
use crate::pingpong::channel::End;

/// The transport `udp`.
#[derive(Debug)]
pub(super) struct Udp;

/// A socket that has heard of nobody yet.
struct Waiting {
    socket: OwnedFd,
    address: SocketAddr,
}

impl Transport for Udp {
    fn name(&self) -> &'static str {
        "udp"
    }

    fn about(&self) -> &'static str {
        "UDP, a datagram per block; IP fragments what exceeds the MTU"
    }

    fn properties(&self) -> Properties {
        Properties { reliable: false, bounded: true, reach: Reach::Network, waits: socket::WAITS }
    }

    fn nature(&self, _: &Configuration) -> Nature {
        use Setting::{MaxSegment, Nodelay, QuickAck};
        let lacks = vec![MaxSegment, Nodelay, QuickAck];
        Nature { lacks, cut_at_mtu: true, ..Nature::default() }
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn largest(&self) -> Bytes {
        Bytes::new(65_507)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        let (own, settings) = (hookup.party.address, hookup.settings());
        let open = |port| exchange::datagram((own, port).into(), &settings);
        let (socket, address) = door::on_free_port(hookup.ports, open)?;
        Ok(Box::new(Waiting { socket, address }))
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let Address::Inet(far) = at.address()? else { return Err(super::wrong_rendezvous()) };
        let own = (hookup.party.address, 0).into();
        let (socket, _) = exchange::datagram(own, &hookup.settings())?;
        exchange::join(&socket, far)?;
        let named = || EngineError::peer(format!("greet {far}"));
        if let Some(seat) = &hookup.token {
            let met = door::greet(&socket, seat, Instant::now() + hookup.within);
            let end = SocketEnd::<true, false>::new(socket, hookup.wanted)?;
            let socket = end.socket();
            return Ok(Box::new(Greeted::new(end, socket, met.map_err(named())?)?));
        }
        exchange::send(socket.as_fd(), GREETING, Call::Sleeping).map_err(named())?;
        let answered = exchange::poll(socket.as_fd(), Ready::Read, Some(hookup.within));
        if !answered.map_err(named())? {
            return Err(named()(io::ErrorKind::TimedOut.into()));
        }
        exchange::recv(socket.as_fd(), &mut [0; 8], Call::AtOnce, Framing::Message)
            .map_err(named())?;
        Ok(Box::new(SocketEnd::<true, false>::new(socket, hookup.wanted)?))
    }
}

impl Listener for Waiting {
    fn rendezvous(&self) -> Result<Rendezvous, EngineError> {
        Ok(Rendezvous::At(Address::Inet(self.address)))
    }

    /// Waits for the greeting, speaks with its sender alone from then on, and greets back.
    fn accept(self: Box<Self>, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let named =
            |cause| EngineError::peer(format!("wait for a datagram on {}", self.address))(cause);
        if let Some(seat) = &hookup.token {
            let end = Instant::now() + hookup.within;
            let met = door::hear(&self.socket, seat, end, hookup.cancel).map_err(named)?;
            let end = SocketEnd::<true, false>::new(self.socket, hookup.wanted)?;
            let socket = end.socket();
            return Ok(match hookup.held_to() {
                Some(rate) => Box::new(Greeted::new(PacedEnd::new(end, rate), socket, met)?),
                None => Box::new(Greeted::new(end, socket, met)?),
            });
        }
        if !exchange::poll(self.socket.as_fd(), Ready::Read, Some(hookup.within)).map_err(named)? {
            return Err(named(io::ErrorKind::TimedOut.into()));
        }
        let near = exchange::sender(&self.socket)?;
        exchange::join(&self.socket, near)?;
        exchange::send(self.socket.as_fd(), GREETING, Call::Sleeping).map_err(named)?;
        Ok(Box::new(SocketEnd::<true, false>::new(self.socket, hookup.wanted)?))
    }
}

const GREETING: &[u8] = b"btu ping";
