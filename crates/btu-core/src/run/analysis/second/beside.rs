//! What is known of a second run beside its packets.

use serde::Serialize;

use super::Followed;
use super::SecondRun;
use super::Seen;
use super::carried::Carried;
use super::limits_of_black_boxes;
use super::of_data;
use crate::diagnosis::Evidence;
use crate::diagnosis::Repeat;
use crate::run::analysis::CongestionWindow;
use crate::run::plan::Plan;
use crate::sample::CaptureSample;
use crate::sample::CellSample;
use crate::sample::ConnectionSample;
use crate::tcp;
use crate::units::BitRate;

/// Everything that a second run is judged by but its packets.
#[derive(Debug, Serialize)]
pub(super) struct Beside<'a> {
    pub(super) sample: &'a CaptureSample,
    /// What the rule that looks at black boxes finds beside their threads.
    limits: Vec<String>,
    /// The scored runs of the same cell.
    repeats: Vec<Repeat>,
}

impl<'a> Beside<'a> {
    /// Of one second run, beside the scored runs of its cell.
    pub(super) fn of(
        plan: &Plan,
        sample: &'a CaptureSample,
        scored: &[&CellSample],
        emulator_rate: Option<BitRate>,
    ) -> Self {
        Self {
            sample,
            limits: limits_of_black_boxes(plan, sample, emulator_rate),
            repeats: scored.iter().filter_map(|run| Repeat::of(run)).collect(),
        }
    }

    /// Its connections, in the order of the case.
    pub(super) fn connections(&self) -> &'a [ConnectionSample] {
        self.sample.run.comm.as_ref().map_or(&[][..], |comm| &comm.connections)
    }

    /// What hosts and emulator say of one of them.
    pub(super) fn evidence(&self, number: usize) -> Evidence {
        Evidence {
            repeats: self.repeats.clone(),
            blackbox: self.limits.clone(),
            abnormal: self.sample.why.iter().map(|flag| flag.detail.clone()).collect(),
            ..Evidence::of_run(self.sample, number)
        }
    }

    /// The second run, with what was made of its packets.
    pub(super) fn run(
        &self,
        missing: Vec<String>,
        no_packets: String,
        connections: Vec<Followed>,
    ) -> SecondRun {
        let comm = self.sample.run.comm.as_ref();
        SecondRun {
            cell: self.sample.run.cell.clone(),
            why: self.sample.why.clone(),
            goodput_mbps: comm.and_then(|comm| comm.bytes.per(comm.elapsed_ns)).map(BitRate::mbps),
            file: self.sample.file.clone(),
            no_packets,
            missing,
            connections,
        }
    }

    /// The second run, its packets followed.
    pub(super) fn followed(&self, packets: Result<impl AsRef<[u8]>, String>) -> SecondRun {
        let read = packets.and_then(|bytes| Seen::read(bytes.as_ref()));
        let (mut seen, no_packets) = match read {
            Ok(seen) => (seen, String::new()),
            Err(why) => (Seen::default(), why),
        };
        let claimed = seen.claimed(self.connections());
        let each = self.connections().iter().enumerate().zip(claimed);
        let follow = |((number, sample), found)| self.connection(number, sample, found, &seen);
        let connections = each.map(follow).collect();
        // Where nothing could be read, nothing is missing from it.
        let missing = if no_packets.is_empty() { seen.missing } else { Vec::new() };
        self.run(missing, no_packets, connections)
    }

    fn connection(
        &self,
        number: usize,
        sample: &ConnectionSample,
        found: Option<tcp::Connection>,
        seen: &Seen,
    ) -> Followed {
        let known = self.evidence(number);
        let covered = found.as_ref().and_then(|one| seen.covered(one, known.elapsed));
        let evidence = Evidence { lost_packets: seen.lost, covered, ..known };
        let diagnoses = found.as_ref().map(|one| of_data(one, &evidence)).unwrap_or_default();
        let congestion = found.as_ref().map(|one| match covered {
            Some(_) => CongestionWindow::missing(CUT),
            None => CongestionWindow::of(one.streams()[0], sample),
        });
        Followed {
            peer: sample.peer,
            direction: sample.direction,
            evidence,
            connection: found.map(Carried::of),
            congestion: congestion.unwrap_or_default(),
            diagnoses,
        }
    }
}

/// The bytes before the first write cannot be told from those behind the end of the capture.
const CUT: &str = "not available: the capture ends before the run does";
