//! The handshakes of QUIC connections: of those whose ends are both here, and of those with one.

use std::net::SocketAddr;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::units::Nanos;
use btu_sys::exchange;
use btu_sys::socket;
use btu_sys::wait::Ready;

use super::AT_ONCE;
use super::DATAGRAM_BUFFER;
use super::Ends;
use super::HeldQuic;
use super::PATIENCE;
use super::Socket;
use super::any_of;
use super::door;
use crate::error::EngineError;
use crate::time::now;
use crate::traffic::job::Carrier;
use crate::traffic::job::Job;
use crate::traffic::job::QuicSettings;
use crate::traffic::quic::Half;
use crate::traffic::quic::Keys;
use crate::traffic::quic::QuicEnd;
use crate::traffic::quic::Trust;
use crate::traffic::way::within;

/// An end that shakes hands.
pub(in crate::traffic) struct Shaking {
    number: usize,
    settings: QuicSettings,
    socket: Arc<UdpSocket>,
    end: Box<QuicEnd>,
    has_met: bool,
}

/// Connects these flows of a job, some at a time.
pub(super) fn meet_all(
    job: &Job<'_>,
    numbers: &[usize],
) -> Result<Vec<(usize, Ends)>, EngineError> {
    let mut pairs = Vec::new();
    if numbers.is_empty() {
        return Ok(pairs);
    }
    let keys = Keys::new()?;
    let trust = Trust::of(keys.certificate())?;
    for group in numbers.chunks(AT_ONCE) {
        let mut ends = Vec::new();
        for number in group {
            if let Carrier::Quic(settings) = &job.flows[*number].carrier {
                ends.extend(both(job, *number, (&keys, &trust), settings)?);
            }
        }
        let mut met = shake_hands(ends, &job.cancel)?.into_iter();
        while let (Some((number, near)), Some((_, far))) = (met.next(), met.next()) {
            pairs.push((number, Ends::both(near, far)));
        }
    }
    Ok(pairs)
}

/// The sending end of a flow, and the receiving one.
fn both(
    job: &Job<'_>,
    number: usize,
    (keys, trust): (&Keys, &Trust),
    settings: &QuicSettings,
) -> Result<[Shaking; 2], EngineError> {
    let flow = &job.flows[number];
    let (_, address) = door(job, flow);
    let open = |party: usize, at: SocketAddr| {
        within(&job.parties[party].place, || Ok(socket::bind_udp(at, DATAGRAM_BUFFER)?))
    };
    let far = open(flow.to, address)?;
    let listening = far.local_addr().map_err(EngineError::peer("bind"))?;
    let near = open(flow.from, any_of(listening))?;
    exchange::join(&near, listening)?;
    let (number, settings) = (number, settings);
    let far = Shaking::begin((number, settings), far, |socket| {
        QuicEnd::awaiting(socket, keys, (settings, flow.answering_streams()), Half::Reads)
    })?;
    let near = Shaking::begin((number, settings), near, |socket| {
        let settings = (settings, flow.answering_streams(), listening);
        QuicEnd::calling(socket, trust, settings, Half::Sends)
    })?;
    Ok([near, far])
}

impl Shaking {
    /// Begins over a socket that knows its other end, or will hear of it.
    pub(in crate::traffic) fn begin(
        (number, settings): (usize, &QuicSettings),
        socket: UdpSocket,
        end: impl FnOnce(Arc<UdpSocket>) -> Result<QuicEnd, EngineError>,
    ) -> Result<Self, EngineError> {
        socket.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))?;
        let (settings, socket) = (settings.clone(), Arc::new(socket));
        let end = Box::new(end(Arc::clone(&socket))?);
        Ok(Self { number, settings, socket, end, has_met: false })
    }

    fn turn(&mut self) -> Result<(), EngineError> {
        let met = self.end.turn().and_then(|()| self.end.is_met());
        self.has_met = met.map_err(EngineError::peer("shake hands by QUIC"))?;
        Ok(())
    }
}

/// Moves all on until each has met its other end. Gives them in their order, with the numbers of their flows.
pub(in crate::traffic) fn shake_hands(
    mut ends: Vec<Shaking>,
    cancel: &AtomicBool,
) -> Result<Vec<(usize, Socket)>, EngineError> {
    let deadline = now().saturating_add(PATIENCE);
    let mut ready = Ready::new(ends.len().max(1))?;
    for (place, one) in (0..).zip(&ends) {
        ready.add_reader(&*one.socket, place)?;
    }
    loop {
        for at in 0..ready.len() {
            let place = usize::try_from(ready.number(at)).unwrap_or(usize::MAX);
            ends.get_mut(place).map_or(Ok(()), Shaking::turn)?;
        }
        let time = now();
        for one in &mut ends {
            if one.end.due().is_some_and(|due| due <= time) {
                one.turn()?;
            }
        }
        if ends.iter().all(|one| one.has_met) {
            break;
        }
        if cancel.load(Relaxed) {
            return Err(EngineError::Refused("connect by QUIC: interrupted".to_owned()));
        }
        if time > deadline {
            let seconds = PATIENCE.seconds();
            let cause = format!("connect by QUIC: no connection within {seconds} s");
            return Err(EngineError::Refused(cause));
        }
        let due = ends.iter_mut().filter_map(|one| one.end.due()).min();
        let wait = due.map_or(GLANCE, |due| due.since(time).min(GLANCE));
        ready.wait(Some(wait.count())).map_err(EngineError::peer("wait"))?;
    }
    let held = |one: Shaking| {
        (one.number, Socket::Quic(Arc::new(HeldQuic::new(one.socket, &one.settings, one.end))))
    };
    Ok(ends.into_iter().map(held).collect())
}

/// How long nobody looks whether somebody still wants it.
const GLANCE: Nanos = Nanos::from_millis(50);
