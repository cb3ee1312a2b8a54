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
    /// Whether more of this host is wanted than what changed.
    whole: bool,
}

impl Recorded {
    /// What this host did meanwhile.
    pub(super) fn host(&mut self) -> Option<HostSample> {
        let seen = self.before.take()?.finish(&Files::host());
        if self.whole { Some(seen) } else { changed(seen) }
    }
}

/// The settings that changed, and nothing of a host that stayed as it was.
fn changed(seen: HostSample) -> Option<HostSample> {
    let drift = seen.drift;
    (!drift.is_empty()).then(|| HostSample { drift, ..HostSample::default() })
}

impl Work {
    /// Begins what is seen beside a run, once its link has its elements: this host, and its packets where
    /// the run wants them recorded.
    pub(super) fn record(&mut self, order: &Preparation) {
        let before = std::mem::take(&mut self.recorded);
        // What was recorded and nobody asked for is forgotten.
        if let (Some(Ok(())), Some(emulator)) = (before.emulator, &mut self.emulator) {
            drop(emulator.packets(Vec::new(), CapturePoint::Test));
        }
        self.recorded.before = Some(observe(&Files::host()));
        self.recorded.whole = order.record;
        if order.record {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_run_that_is_not_recorded_only_changed_settings_are_told() {
        let calm =
            HostSample { steal_ns: Some(btu_core::units::Nanos::new(7)), ..HostSample::default() };
        assert_eq!(changed(calm.clone()), None);
        let drift = vec!["eth0 MTU changed from \"1500\" to \"9000\"".to_owned()];
        let told = changed(HostSample { drift: drift.clone(), ..calm });
        assert_eq!(told, Some(HostSample { drift, ..HostSample::default() }));
    }
}
