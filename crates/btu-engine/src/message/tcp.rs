//! The message layer `tcp`: a connection between any two ranks.

use std::io;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::time::Duration;

use btu_core::app::endpoint::Endpoint;
use btu_core::app::sample::Wait;
use btu_sys::socket;
use btu_sys::socket::Settings;

use super::MessageLayer;
use super::RanksAre;
use super::Seat;
use super::Terms;
use super::ThreadLayer;
use super::mesh::Mesh;
use super::socket::SocketWires;
use crate::error::EngineError;

/// The message layer `tcp`.
#[derive(Debug)]
pub(super) struct Tcp;

impl MessageLayer for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn about(&self) -> &'static str {
        "a TCP connection between any two ranks, TCP_NODELAY; also between hosts"
    }

    fn spans_hosts(&self) -> bool {
        true
    }

    fn waits(&self) -> &'static [Wait] {
        &[Wait::Block, Wait::Spin]
    }

    fn ranks(&self) -> RanksAre<'_> {
        RanksAre::Threads(self)
    }
}

impl ThreadLayer for Tcp {
    fn join(
        &self,
        seats: &[Seat],
        terms: &Terms,
    ) -> Result<Vec<Box<dyn Endpoint + Send>>, EngineError> {
        let ranks = seats.len();
        let listeners = seats.iter().map(listen).collect::<Result<Vec<_>, _>>()?;
        let of_all =
            super::between_all(ranks, |lower, higher| connect(&seats[higher], &listeners[lower]))?;
        let end = |(rank, sockets)| Ok(Mesh::boxed(rank, ranks, SocketWires::new(sockets)?, terms));
        of_all.into_iter().enumerate().map(end).collect()
    }
}

fn listen(seat: &Seat) -> Result<TcpListener, EngineError> {
    let at = SocketAddr::new(seat.address, 0);
    let listener = seat.inside(move || Ok(socket::listen(at, &options())?))?;
    socket::bound_waits(&listener, PATIENCE)?;
    Ok(listener)
}

/// The end of the rank that listens, and that of the rank in this seat, which connects to it.
fn connect(seat: &Seat, listener: &TcpListener) -> Result<(TcpStream, TcpStream), EngineError> {
    let at = listener.local_addr().map_err(EngineError::peer("read a socket's address"))?;
    let connected = seat.inside(move || Ok(socket::connect(at, &options(), PATIENCE)?))?;
    let accepted = accept(listener, &connected);
    let accepted = accepted.map_err(EngineError::peer(format!("accept a connection at {at}")))?;
    for end in [&accepted, &connected] {
        end.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))?;
    }
    Ok((accepted, connected))
}

/// Anyone may connect: who did is known by its address.
fn accept(listener: &TcpListener, connected: &TcpStream) -> io::Result<TcpStream> {
    let expected = connected.local_addr()?;
    loop {
        let (accepted, from) = listener.accept()?;
        if from == expected {
            return Ok(accepted);
        }
    }
}

/// Accepted sockets inherit them.
fn options() -> Settings {
    Settings { nodelay: Some(true), ..Settings::default() }
}

/// For a connection between hosts that are here.
const PATIENCE: Duration = Duration::from_secs(10);
