//! Media over datagrams: the receiving end reports what came, and the rate of the sending end follows.
//!
//! Both ends are those of `btu-core`; here are their sockets, their clocks and their threads. Every wait has a
//! deadline, and whatever becomes of the path the sending end is over with the time of its test.

mod receiving;
mod sending;

use std::net::SocketAddr;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;

use btu_core::traffic::Noticed;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::traffic::sending::media;
use btu_core::traffic::sending::media::Media;
use btu_core::traffic::trace::Trace;
use btu_core::units::Nanos;
use btu_sys::socket;
use btu_sys::socket::Effective;

use super::connect::DATAGRAM_BUFFER;
use super::flow::LARGEST_DATAGRAM;
use super::hands::both;
use super::job::FlowEnd;
use super::meeting::unspecified;
use super::way::within;
use crate::error::EngineError;
use crate::place::Place;
use crate::time::now;

use self::receiving::Heard;
use self::receiving::Receiving;
use self::sending::Said;
use self::sending::Sending;

/// A flow of media between two hosts of this process.
#[derive(Debug)]
pub struct MediaFlow {
    /// Where the sending end works.
    pub near: Place,
    /// Where the receiving end works.
    pub far: Place,
    /// Where that receives; port 0 for any.
    pub address: SocketAddr,
    /// The differentiated services code point of what is sent.
    pub code_point: Option<u8>,
    /// What is sent, and how it follows.
    pub media: Box<Media>,
    /// From the start of the job to that of the flow.
    pub start: Nanos,
    /// How long it is sent.
    pub duration: Nanos,
    /// How long the receiver may see nothing after the end before what is missing counts as lost.
    pub linger: Nanos,
    /// Ends it early.
    pub cancel: Arc<AtomicBool>,
    /// Counts payload of both ends, while they send it.
    pub moved: Arc<AtomicU64>,
}

/// What both ends look at while they work.
#[derive(Debug)]
struct Shared<'a> {
    /// The start of the flow.
    begin: Nanos,
    duration: Nanos,
    linger: Nanos,
    cancel: &'a AtomicBool,
    moved: &'a AtomicU64,
    /// Packets that were sent, and whether those are all.
    sent: AtomicU64,
    is_over: AtomicBool,
}

/// Carries media to their end.
///
/// # Errors
/// A socket was refused, or a thread did not start.
pub fn play(flow: MediaFlow) -> Result<FlowEnd, EngineError> {
    let (near, far) = sockets(&flow)?;
    let MediaFlow { near: from, far: to, media, start, duration, linger, cancel, moved, .. } = flow;
    let shared = Shared {
        begin: now().saturating_add(LEAD).saturating_add(start),
        duration,
        linger,
        cancel: &cancel,
        moved: &moved,
        sent: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
    };
    let Media { sender, receiver, .. } = *media;
    let send = |is_alone: &AtomicBool| {
        from.enter()?;
        Sending { socket: &near, sender, shared: &shared, is_alone }.run()
    };
    let from_there = near.local_addr().map_err(EngineError::peer("name the sender"))?;
    let receive = || {
        to.enter()?;
        Receiving { socket: &far, sender: from_there, receiver, shared: &shared }.run()
    };
    let (said, heard) = both(&shared.is_over, send, receive)?;
    Ok(together(&shared, said, &heard, [&near, &far]))
}

/// The sockets of both ends; neither blocks.
fn sockets(flow: &MediaFlow) -> Result<(UdpSocket, UdpSocket), EngineError> {
    let address = flow.address;
    let far = within(&flow.far, move || Ok(socket::bind_udp(address, DATAGRAM_BUFFER)?))?;
    let listening = far.local_addr().map_err(EngineError::peer("bind"))?;
    let near = within(&flow.near, || {
        let near = socket::bind_udp(unspecified(listening), DATAGRAM_BUFFER)?;
        near.connect(listening).map_err(EngineError::peer(format!("connect to {listening}")))?;
        Ok(near)
    })?;
    if let Some(code_point) = flow.code_point {
        socket::mark_packets(&near, code_point)?;
    }
    for end in [&near, &far] {
        end.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))?;
    }
    Ok((near, far))
}

/// What both ends saw, on one clock.
fn together(shared: &Shared<'_>, said: Said, heard: &Heard, ends: [&UdpSocket; 2]) -> FlowEnd {
    let outcome = said.outcome();
    let duration = said.ended.map_or(shared.duration, |at| at.min(shared.duration));
    let trace =
        Trace { duration, discipline: Discipline::Queue, blocks: said.blocks, ..Trace::default() };
    let [sender, receiver] = ends.map(Effective::of);
    let mut noticed = media::noticed(&said.sender, &heard.receiver, duration);
    noticed.extend((heard.strays > 0).then(|| strays(heard.strays)));
    FlowEnd {
        trace: trace.of_datagrams(&heard.arrived, LARGEST_DATAGRAM, said.sender.sent()),
        glances: Vec::new(),
        outcome,
        tcp: None,
        sender,
        receiver,
        pace: said.pace,
        refused: said.refused,
        noticed,
        cpu: Some([said.cpu, heard.cpu]),
    }
}

/// Datagrams of somebody else that came to the receiver, and numbers that nobody had sent.
#[expect(clippy::cast_precision_loss, reason = "datagrams of one flow are far below 2^53")]
fn strays(count: u64) -> Noticed {
    Noticed { name: "stray datagrams", value: count as f64 }
}

/// From the last socket to the first packet, as for other flows.
const LEAD: Nanos = Nanos::from_millis(30);

#[cfg(test)]
mod tests;
