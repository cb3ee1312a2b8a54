//! A conversation over one QUIC connection, whose ends two threads move on.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use btu_core::sample::Outcome;
use btu_core::units::Nanos;
use btu_sys::socket;

use super::Asker;
use super::Dialogue;
use crate::error::EngineError;
use crate::place::Place;
use crate::traffic::answerer::Respondent;
use crate::traffic::answerer::answer_quic;
use crate::traffic::connect::DATAGRAM_BUFFER;
use crate::traffic::job::FlowEnd;
use crate::traffic::job::QuicSettings;
use crate::traffic::meeting::unspecified;
use crate::traffic::quic::Keys;
use crate::traffic::quic::QuicTalk;
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
    let asks = QuicTalk::asker(here, &keys, settings, listening)?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let answering = scope.spawn(|| far.enter().map(|()| answer_quic(answers, &over)));
        let asking = scope.spawn(|| {
            let far = Respondent { at: listening, token: None };
            near.enter().and_then(|()| ask(dialogue, far, asks))
        });
        let panicked = || EngineError::Refused("a traffic thread panicked".to_owned());
        let end = asking.join().unwrap_or_else(|_| Err(panicked()));
        over.store(true, Relaxed);
        let answering_cpu = answering.join().unwrap_or_else(|_| Err(panicked()))?;
        let mut end = end?;
        if let Some([_, cpu]) = &mut end.cpu {
            *cpu = answering_cpu;
        }
        let congestion = settings.congestion.clone().unwrap_or_else(|| "cubic".to_owned());
        end.sender.congestion = Some(congestion);
        end.receiver = end.sender.clone();
        Ok(end)
    })
}

/// Shakes hands, then asks: as with flows, the time of a conversation begins with the connection.
fn ask(dialogue: Dialogue, far: Respondent, mut talk: QuicTalk) -> Result<FlowEnd, EngineError> {
    let Err(cause) = talk.meet(dialogue.patience, &dialogue.cancel) else {
        return Asker { quic: Some(talk), ..Asker::new(dialogue, far) }.run();
    };
    let outcome = if dialogue.cancel.load(Relaxed) {
        Outcome::Capped { reason: "interrupted".to_owned() }
    } else {
        let cause = EngineError::peer(format!("connect to {} by QUIC", far.at))(cause);
        Outcome::Failed { reason: cause.sentence() }
    };
    Ok(Asker::new(dialogue, far).end(outcome, Nanos::ZERO))
}
