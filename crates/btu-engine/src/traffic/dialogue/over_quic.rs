//! A conversation over one QUIC connection, whose ends two threads move on.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_core::sample::Outcome;
use btu_core::units::Nanos;
use btu_sys::socket;

use super::Dialogue;
use super::asker::Asker;
use crate::error::EngineError;
use crate::place::Place;
use crate::traffic::answerer::answer_quic;
use crate::traffic::connect::DATAGRAM_BUFFER;
use crate::traffic::connect::PATIENCE;
use crate::traffic::hands::both;
use crate::traffic::job::FlowEnd;
use crate::traffic::job::QuicSettings;
use crate::traffic::meeting::Door;
use crate::traffic::meeting::greeted;
use crate::traffic::meeting::no_certificate;
use crate::traffic::meeting::unspecified;
use crate::traffic::opening::Respondent;
use crate::traffic::quic::Keys;
use crate::traffic::quic::QuicTalk;
use crate::traffic::quic::Trust;
use crate::traffic::way::within;

/// Carries a conversation to its end.
pub(super) fn converse(
    dialogue: Dialogue,
    settings: &QuicSettings,
) -> Result<FlowEnd, EngineError> {
    let (near, far) = (dialogue.near.clone(), dialogue.far.clone());
    let open = |place: &Place, at| within(place, || Ok(socket::bind_udp(at, DATAGRAM_BUFFER)?));
    let there = open(&far, dialogue.address)?;
    let listening = there.local_addr().map_err(EngineError::peer("bind"))?;
    let here = open(&near, unspecified(listening))?;
    here.connect(listening).map_err(EngineError::peer(format!("connect to {listening}")))?;
    let keys = Keys::new()?;
    let answers = QuicTalk::answerer(there, &keys, settings)?;
    let asks = QuicTalk::asker(here, &Trust::of(keys.certificate())?, settings, listening)?;
    let (over, moved) = (AtomicBool::new(false), AtomicU64::new(0));
    let answer = || far.enter().map(|()| answer_quic(answers, &over, &moved));
    let respondent = Respondent { at: listening, token: None };
    let ask = |_: &AtomicBool| {
        near.enter()?;
        ask(dialogue, respondent, Ok(asks), Nanos::ZERO)
    };
    let (mut end, answering_cpu) = both(&over, ask, answer)?;
    if let Some([_, cpu]) = &mut end.cpu {
        *cpu = answering_cpu;
    }
    Ok(end.over(settings))
}

/// Carries one whose answering end is behind a door of another host, from `begin` on.
pub(super) fn converse_with(
    dialogue: Dialogue,
    door: &Door,
    settings: &QuicSettings,
    begin: Nanos,
) -> Result<FlowEnd, EngineError> {
    let far = Respondent { at: door.at, token: Some(door.seat) };
    let talk = || {
        let end = Instant::now() + Duration::from(PATIENCE);
        let trust = Trust::of(door.certificate.as_deref().ok_or_else(no_certificate)?)?;
        QuicTalk::asker(greeted(door.at, &door.seat, end)?, &trust, settings, door.at)
    };
    Ok(ask(dialogue, far, talk(), begin)?.over(settings))
}

impl FlowEnd {
    /// The same with what is known of the connection that carried it.
    fn over(mut self, settings: &QuicSettings) -> Self {
        let congestion = settings.congestion.clone().unwrap_or_else(|| "cubic".to_owned());
        self.sender.congestion = Some(congestion);
        self.receiver = self.sender.clone();
        self
    }
}

/// Shakes hands, then asks: as with flows, the time of a conversation begins with the connection, or at
/// `begin` if that is later.
fn ask(
    dialogue: Dialogue,
    far: Respondent,
    talk: Result<QuicTalk, EngineError>,
    begin: Nanos,
) -> Result<FlowEnd, EngineError> {
    let met = talk.and_then(|mut talk| {
        let met = talk.meet(dialogue.patience, &dialogue.cancel);
        let named = || EngineError::peer(format!("connect to {} by QUIC", far.at));
        met.and_then(|()| talk.idle_until(begin, &dialogue.cancel)).map_err(named())?;
        Ok(talk)
    });
    let cause = match met {
        Ok(talk) => return Asker::new(dialogue, far).over(talk).run(),
        Err(cause) => cause,
    };
    let outcome = if dialogue.cancel.load(Relaxed) {
        Outcome::Capped { reason: "interrupted".to_owned() }
    } else {
        Outcome::Failed { reason: cause.sentence() }
    };
    Ok(Asker::new(dialogue, far).end(outcome, Nanos::ZERO))
}
