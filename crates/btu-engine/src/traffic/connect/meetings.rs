//! The handshakes of QUIC connections whose ends are both here.

use std::net::SocketAddr;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::Mutex;
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
use crate::traffic::job::Carrier;
use crate::traffic::job::Job;
use crate::traffic::job::QuicSettings;
use crate::traffic::pacer::now;
use crate::traffic::quic::Keys;
use crate::traffic::quic::QuicEnd;
use crate::traffic::way::within;

/// Two ends that shake hands.
struct Meeting {
    number: usize,
    congestion: String,
    sockets: [Arc<UdpSocket>; 2],
    ends: [Box<QuicEnd>; 2],
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
    for group in numbers.chunks(AT_ONCE) {
        let mut meetings = Vec::new();
        for number in group {
            if let Carrier::Quic(settings) = &job.flows[*number].carrier {
                meetings.push(Meeting::begin(job, *number, &keys, settings)?);
            }
        }
        shake_hands(job, &mut meetings)?;
        pairs.extend(meetings.into_iter().map(|one| (one.number, one.ends())));
    }
    Ok(pairs)
}

impl Meeting {
    fn begin(
        job: &Job<'_>,
        number: usize,
        keys: &Keys,
        settings: &QuicSettings,
    ) -> Result<Self, EngineError> {
        let flow = &job.flows[number];
        let (_, address) = door(job, flow);
        let open = |party: usize, at: SocketAddr| {
            let made = within(&job.parties[party].place, || {
                let socket = socket::bind_udp(at, DATAGRAM_BUFFER)?;
                let set = socket.set_nonblocking(true);
                set.map_err(EngineError::peer("set O_NONBLOCK"))?;
                Ok(socket)
            });
            made.map(Arc::new)
        };
        let far = open(flow.to, address)?;
        let listening = far.local_addr().map_err(EngineError::peer("bind"))?;
        let near = open(flow.from, any_of(listening))?;
        exchange::join(&*near, listening)?;
        let receiver = QuicEnd::receiver(Arc::clone(&far), keys, settings, 0)?;
        let sender = QuicEnd::sender(Arc::clone(&near), keys, settings, listening)?;
        let congestion = settings.congestion.clone().unwrap_or_else(|| "cubic".to_owned());
        Ok(Self {
            number,
            congestion,
            sockets: [near, far],
            ends: [sender, receiver].map(Box::new),
        })
    }

    /// Moves both ends on; true once they have met.
    fn turn(&mut self) -> Result<bool, EngineError> {
        let mut met = true;
        for end in &mut self.ends {
            let is_met = end.turn().and_then(|()| end.is_met());
            met &= is_met.map_err(EngineError::peer("shake hands by QUIC"))?;
        }
        Ok(met)
    }

    fn due(&mut self) -> Option<Nanos> {
        self.ends.iter_mut().filter_map(|end| end.due()).min()
    }

    fn ends(self) -> Ends {
        let [near, far] = self.sockets;
        let [sender, receiver] = self.ends;
        let held = |socket, end| {
            let congestion = self.congestion.clone();
            Socket::Quic(HeldQuic { socket, congestion, end: Mutex::new(Some(end)) })
        };
        Ends::both(held(near, sender), held(far, receiver))
    }
}

fn shake_hands(job: &Job<'_>, meetings: &mut [Meeting]) -> Result<(), EngineError> {
    let deadline = now().saturating_add(PATIENCE);
    let mut ready = Ready::new(meetings.len())?;
    for socket in meetings.iter().flat_map(|one| &one.sockets) {
        ready.add_reader(&**socket, 0)?;
    }
    loop {
        let mut met = true;
        for meeting in meetings.iter_mut() {
            met &= meeting.turn()?;
        }
        if met {
            return Ok(());
        }
        let time = now();
        if job.cancel.load(Relaxed) {
            return Err(EngineError::Refused("connect by QUIC: interrupted".to_owned()));
        }
        if time > deadline {
            let seconds = PATIENCE.seconds();
            let cause = format!("connect by QUIC: no connection within {seconds} s");
            return Err(EngineError::Refused(cause));
        }
        let due = meetings.iter_mut().filter_map(Meeting::due).min();
        let wait = due.map_or(GLANCE, |due| due.since(time).min(GLANCE));
        ready.wait(Some(wait.count())).map_err(EngineError::peer("wait"))?;
    }
}

/// How long nobody looks whether somebody still wants it.
const GLANCE: Nanos = Nanos::from_millis(50);
