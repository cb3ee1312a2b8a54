//! A flow that waits for answers: one end asks as its train says, the other answers what it was asked for.
//!
//! A request says how long it and its answer are, so that the answering end needs no train of its own; nothing
//! is less than a byte, and an answer of one says that the request was read.

mod agenda;
mod asker;
mod ending;
mod line;
mod openings;
mod over_quic;
mod talk;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::thread;

use btu_core::traffic::Closed;
use btu_core::units::Nanos;
use btu_sys::socket;
use btu_sys::socket::Settings;

use self::asker::Asker;
use super::answerer::Guests;
use super::answerer::answer_all;
use super::hands::both;
use super::hands::join;
use super::hands::start;
use super::job::FlowEnd;
use super::job::QuicSettings;
use super::meeting::Door;
use super::opening::Respondent;
use super::pacer::rest_until;
use super::way::within;
use crate::error::EngineError;
use crate::place::Place;

/// A conversation over TCP, or over the streams of one QUIC connection.
#[derive(Debug)]
pub struct Dialogue {
    /// Where the asking end works.
    pub near: Place,
    /// Where the answering end works.
    pub far: Place,
    /// Where it listens; port 0 for any.
    pub address: SocketAddr,
    /// Options of both ends.
    pub settings: Settings,
    /// Those of QUIC, where it goes over that; then its flows are streams of one connection (RFC 9000, 2.1).
    pub quic: Option<QuicSettings>,
    /// What is asked and when.
    pub train: Box<dyn Closed>,
    /// From the start of the job to that of the conversation.
    pub start: Nanos,
    /// How long it lasts; what was asked by then may still be answered for as long as `patience`.
    pub duration: Nanos,
    /// How long an answer may take.
    pub patience: Nanos,
    /// Ends it early.
    pub cancel: Arc<AtomicBool>,
    /// Counts payload that the asking end sends and reads, while it does.
    pub moved: Arc<AtomicU64>,
}

/// Carries a conversation whose answering end is behind a door of another host, from `begin` on.
///
/// # Errors
/// A thread did not start.
pub fn converse_with(
    dialogue: Dialogue,
    door: &Door,
    begin: Nanos,
) -> Result<FlowEnd, EngineError> {
    let (place, quic) = (dialogue.near.clone(), dialogue.quic.clone());
    let talk = || {
        if let Some(settings) = &quic {
            return over_quic::converse_with(dialogue, door, settings, begin);
        }
        rest_until(begin, &dialogue.cancel);
        Asker::new(dialogue, Respondent { at: door.at, token: Some(door.seat) }).run()
    };
    // The place of the thread is that of the conversation alone.
    let end = thread::scope(|scope| {
        join(start(scope, "traffic-ask", || place.enter().and_then(|()| talk())))
    });
    // What the answers took nobody says here.
    end.map(|end| FlowEnd { cpu: None, ..end })
}

/// Carries a conversation to its end.
///
/// # Errors
/// The answering end could not listen, or a thread did not start.
pub fn converse(dialogue: Dialogue) -> Result<FlowEnd, EngineError> {
    if let Some(settings) = dialogue.quic.clone() {
        return over_quic::converse(dialogue, &settings);
    }
    let (far, address) = (dialogue.far.clone(), dialogue.address);
    let settings = dialogue.settings.clone();
    let listener = within(&far, || Ok(socket::listen(address, &settings)?))?;
    let listening = listener.local_addr().map_err(EngineError::peer("listen"))?;
    let (over, guests) = (AtomicBool::new(false), Guests::anybody());
    let answer = || far.enter().and_then(|()| answer_all(&listener, &over, &guests));
    let ask = |_: &AtomicBool| {
        dialogue.near.enter()?;
        Asker::new(dialogue, Respondent { at: listening, token: None }).run()
    };
    let (mut end, ()) = both(&over, ask, answer)?;
    if let Some([_, answering]) = &mut end.cpu {
        *answering = guests.cpu();
    }
    Ok(end)
}

#[cfg(test)]
mod tests;
