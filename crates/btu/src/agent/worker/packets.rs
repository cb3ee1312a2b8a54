//! The packets of a run behind the emulator, which records them while it carries them.

use std::sync::Arc;

use btu_control::message::Answer;
use btu_control::message::Preparation;
use btu_control::message::Which;
use btu_core::sample::CapturePoint;
use btu_core::sample::HostSample;
use btu_core::units::Bytes;
use btu_engine::files::Files;
use btu_engine::probe::Observation;
use btu_engine::probe::observe;

use super::Work;
use super::doorway::Doorway;
use crate::agent::front::Emulator;

/// What is recorded beside the run that is prepared; by default nothing.
#[derive(Default)]
pub(super) struct Recorded {
    /// Whether the emulator records it, or why not.
    emulator: Option<Result<(), String>>,
    /// Who came in.
    pub(super) doorway: Option<Arc<Doorway>>,
    /// This host before it.
    before: Option<Observation>,
}

impl Recorded {
    /// What this host did meanwhile; `None` where nobody wanted to know.
    pub(super) fn host(&mut self) -> Option<HostSample> {
        self.before.take().map(|before| before.finish(&Files::host()))
    }
}

impl Work {
    /// Begins what a run wants recorded, once its link has its elements.
    pub(super) fn record(&mut self, order: &Preparation) {
        let before = std::mem::take(&mut self.recorded);
        // What was recorded and nobody asked for is forgotten.
        if let (Some(Ok(())), Some(emulator)) = (before.emulator, &mut self.emulator) {
            drop(emulator.packets(Vec::new(), CapturePoint::Test));
        }
        if order.record {
            self.recorded.before = Some(observe(&Files::host()));
            let emulator = self.emulator.as_mut().filter(|_| order.link.is_some());
            self.recorded.emulator = emulator.map(Emulator::record);
        }
    }

    /// Hands over the packets of the run's own connections.
    pub(super) fn packets(&mut self, which: Which, seen_at: CapturePoint) -> Answer {
        let seq = which.seq;
        if self.said.seq() == Some(seq) {
            return self.said.clone();
        }
        let came = self.recorded.doorway.as_ref().map(|door| door.came()).unwrap_or_default();
        let recorded = self.recorded.emulator.take();
        let recorded = recorded.unwrap_or_else(|| Err("no packets of it were recorded".to_owned()));
        let packets = recorded.and_then(|()| match &mut self.emulator {
            Some(emulator) => emulator.packets(came, seen_at),
            None => Err("no emulator is in front of these sockets".to_owned()),
        });
        match packets {
            Ok(packets) => self.keep(seq, Bytes::ZERO, None, packets),
            Err(reason) => Answer::Failed { seq, reason },
        }
    }
}
