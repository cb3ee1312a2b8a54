//! A cell once more between real hosts, with the packets that the agents recorded: evidence, never a
//! figure.

use std::path::Path;

use anyhow::anyhow;
use btu_control::CaptureRun;
use btu_control::Runner;
use btu_core::role::Role;
use btu_core::run::cell::Case;
use btu_core::sample::CaptureFile;
use btu_core::sample::CaptureSample;
use btu_core::sample::CounterDelta;
use btu_core::sample::HostSample;

use super::RemoteRunner;
use super::packets;
use super::packets::Handed;
use crate::run::second;
use crate::run::second::Packets;

impl RemoteRunner {
    /// Runs the cell and writes its packets; `None` where it was interrupted or an agent was lost.
    pub(super) fn second(&mut self, order: &CaptureRun, directory: &Path) -> Option<CaptureSample> {
        let case = order.run.cell.case;
        self.recording = true;
        let sample = self.cell(&order.run);
        self.recording = false;
        let sample = sample?;
        second::let_arrive(self.plan.wait(case));
        let emulated = self.link(case).is_some();
        let seen_at = second::point(case, emulated);
        let path = CaptureFile::path_of(&order.run.cell);
        let file = self.packets(case, emulated);
        let file = file.and_then(|file| file.keep(emulated, seen_at, &path, directory));
        let boxes = second::black_boxes(case).into_iter();
        let said = boxes.filter_map(|role| Some((role, self.boxes.get(&role)?.host()?)));
        let (counters, black_box_hosts) = said.map(parts).unzip();
        // What was measured is kept, whatever became of the agent since.
        if let Some((role, fault)) = self.fault()
            && !self.regain(role, &fault)
        {
            return None;
        }
        let found = second::sample(order, sample, counters, file);
        Some(CaptureSample { black_box_hosts, ..found })
    }

    /// The packets of all links of the run. Every agent is asked, whatever another one said: who is
    /// not asked goes on recording.
    fn packets(&mut self, case: Case, emulated: bool) -> anyhow::Result<Packets> {
        let seen_at = second::point(case, emulated);
        let mut of = |role| {
            let one = self.boxes.get_mut(&role).ok_or_else(|| anyhow!("no {role} host"))?;
            one.packets(seen_at).map_err(|cause| anyhow!(cause.sentence()))
        };
        let handed: Vec<_> = second::black_boxes(case).into_iter().map(&mut of).collect();
        let handed: anyhow::Result<Vec<Handed>> = handed.into_iter().collect();
        packets::joined(&handed?)
    }
}

/// The counters of a black box's host, and what else it said. Settings are no evidence.
fn parts((role, host): (Role, HostSample)) -> ((Role, Vec<CounterDelta>), (Role, HostSample)) {
    let (counters, drift) = (Vec::new(), Vec::new());
    let rest = HostSample { counters, drift, ..host };
    ((role, host.counters), (role, rest))
}
