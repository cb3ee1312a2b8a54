//! The message layer `frames`: user-level networking, Ethernet frames of our own without TCP and IP.

mod route;
mod station;
mod wires;

use std::io;
use std::time::Duration;

use btu_core::app::endpoint::Endpoint;
use btu_core::app::frames::Pair;
use btu_core::app::sample::Wait;

use self::station::Station;
use self::wires::FrameWires;
use self::wires::Peer;
use super::MessageLayer;
use super::RanksAre;
use super::Seat;
use super::Terms;
use super::ThreadLayer;
use super::mesh::Mesh;
use crate::error::EngineError;

/// The message layer `frames`.
#[derive(Debug)]
pub(super) struct Frames;

impl MessageLayer for Frames {
    fn name(&self) -> &'static str {
        "frames"
    }

    fn about(&self) -> &'static str {
        "Ethernet frames without TCP/IP (AF_PACKET), credits and go-back-N; also between two hosts"
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

impl ThreadLayer for Frames {
    fn join(
        &self,
        seats: &[Seat],
        terms: &Terms,
    ) -> Result<Vec<Box<dyn Endpoint + Send>>, EngineError> {
        let ranks = seats.len();
        let stations = station::all(seats)?;
        let places = stations.iter().map(Station::places).min().unwrap_or(0);
        let fragment = stations.iter().map(Station::payload).min().unwrap_or(LONGEST).min(LONGEST);
        let window = Pair::window(ranks, places);
        let peers = super::between_all(ranks, |lower, higher| {
            let (lower, higher) = (&stations[lower], &stations[higher]);
            let peer = |route| Peer::new(Pair::new(window, fragment), route);
            Ok((peer(lower.route(higher)?), peer(higher.route(lower)?)))
        })?;
        let both = stations.into_iter().zip(peers);
        let mut all: Vec<_> =
            both.map(|(station, peers)| FrameWires::new(station.inlet, peers)).collect();
        greet(&mut all)?;
        let end = |(rank, wires)| Mesh::boxed(rank, ranks, wires, terms);
        Ok(all.into_iter().enumerate().map(end).collect())
    }
}

/// Has the first rank greet all others: better no launch than one whose ranks are silent.
fn greet(all: &mut [FrameWires]) -> Result<(), EngineError> {
    let Some((first, others)) = all.split_first_mut() else { return Ok(()) };
    for (peer, other) in (1..).zip(others) {
        let heard = is_heard(first, peer, other);
        if !heard.map_err(EngineError::peer(format!("greet rank {peer} by a frame")))? {
            return Err(EngineError::Refused(format!(
                "no frame of rank 0 reaches rank {peer}; both must be on one link that filters none"
            )));
        }
    }
    Ok(())
}

/// The first frame may be lost: a link that is new drops some.
fn is_heard(first: &FrameWires, peer: usize, other: &mut FrameWires) -> io::Result<bool> {
    for _ in 0..GREETINGS {
        first.greet(peer)?;
        if other.is_greeted(A_MOMENT)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// As long as it fits into a frame of any Ethernet, with some room for what others add on the way.
const LONGEST: usize = 1400;
const GREETINGS: u32 = 5;
const A_MOMENT: Duration = Duration::from_millis(100);
