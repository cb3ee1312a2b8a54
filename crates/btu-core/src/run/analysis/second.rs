//! What the second run of a cell says: its packets and its hosts, joined into diagnoses.

mod beside;
mod carried;
mod extract;

use super::CongestionWindow;
use super::count;
use crate::capture;
use crate::diagnosis::Covered;
use crate::diagnosis::Diagnosis;
use crate::diagnosis::Evidence;
use crate::diagnosis::diagnose;
use crate::journal::Journal;
use crate::role::Role;
use crate::run::anomaly;
use crate::run::cell::Cell;
use crate::run::cell::Direction;
use crate::run::plan::Plan;
use crate::run::verdict;
use crate::sample::CaptureFile;
use crate::sample::CaptureSample;
use crate::sample::CellSample;
use crate::sample::ConnectionSample;
use crate::sample::Flag;
use crate::tcp;
use crate::tcp::Detail;
use crate::units::BitRate;
use crate::units::Nanos;
use beside::Beside;

pub use carried::Carried;
pub use carried::Chart;

/// A cell that was run again, and why it may have behaved as it did.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondRun {
    /// The cell.
    pub cell: Cell,
    /// What made it abnormal; empty for one that was asked for.
    pub why: Vec<Flag>,
    /// What it carried this time, Mb/s; `None` where nothing arrived.
    pub goodput_mbps: Option<f64>,
    /// Its file, if there is one.
    pub file: Option<CaptureFile>,
    /// Why the packets could not be looked at; empty where they were.
    pub no_packets: String,
    /// What the capture lacks, in sentences.
    pub missing: Vec<String>,
    /// Its connections, in the order of the case.
    pub connections: Vec<Followed>,
}

/// A connection of a second run, with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// The black box at its far end.
    pub peer: Role,
    /// Where its data flows, seen from the test host.
    pub direction: Direction,
    /// What hosts and emulator say.
    pub evidence: Evidence,
    /// What the packets say; `None` where it is not in the capture.
    pub connection: Option<Carried>,
    /// What the sender's kernel said of its congestion window meanwhile.
    pub congestion: CongestionWindow,
    /// What slowed it down, the strongest cause first; empty for a healthy one.
    pub diagnoses: Vec<Diagnosis>,
}

impl SecondRun {
    /// True where it is told by an extract, and nothing was followed.
    pub fn is_recalled(&self) -> bool {
        let mut charts =
            self.connections.iter().filter_map(|one| Some(&one.connection.as_ref()?.chart));
        charts.any(|chart| matches!(chart, Chart::Kept { .. }))
    }

    /// How much there is of the chart of each connection.
    pub fn details(&self) -> Vec<Detail> {
        let of = |one: &Followed| one.connection.as_ref().map(|carried| carried.chart.detail());
        self.connections.iter().map(|one| of(one).unwrap_or(Detail::Whole)).collect()
    }
}

/// The second runs of a journal. `packets` gives the content of a file, or why there is none.
pub fn second_runs(
    journal: &Journal,
    packets: impl Fn(&CaptureFile) -> Result<Vec<u8>, String>,
) -> Vec<SecondRun> {
    let again = RunAgain::of(journal);
    again.samples.iter().map(|sample| again.judge(sample, &packets)).collect()
}

/// The second runs of a journal, each of which can be judged by itself.
#[derive(Debug)]
pub struct RunAgain<'j> {
    plan: &'j Plan,
    /// In the order of the journal.
    pub samples: Vec<&'j CaptureSample>,
    scored: Vec<&'j CellSample>,
    emulator_rate: Option<BitRate>,
}

impl<'j> RunAgain<'j> {
    /// Those of a journal.
    pub fn of(journal: &'j Journal) -> Self {
        let counted = count::counted_runs(&journal.plan, &journal.records, &[]);
        Self {
            plan: &journal.plan,
            samples: journal.captures(),
            scored: counted.into_iter().map(|run| run.sample).collect(),
            emulator_rate: verdict::emulator_rate(&journal.records),
        }
    }

    /// What one of them says. `packets` gives the content of its file, or why there is none.
    pub fn judge<P: AsRef<[u8]>>(
        &self,
        sample: &CaptureSample,
        packets: impl FnOnce(&CaptureFile) -> Result<P, String>,
    ) -> SecondRun {
        let content = match &sample.file {
            Some(file) => packets(file),
            None => Err(sample.not_captured.clone()),
        };
        self.beside(sample).followed(content)
    }

    /// What one of them says by its extract; `None` where that is damaged or was made of anything else.
    pub fn recalled(&self, sample: &CaptureSample, extract: &[u8]) -> Option<SecondRun> {
        extract::read(&self.beside(sample), extract)
    }

    /// The extract of one of them, its charts in these details, one for each connection. `None` where
    /// there is nothing to keep: without packets, or where it would not read back as the same.
    pub fn extract(
        &self,
        sample: &CaptureSample,
        run: &SecondRun,
        details: &[Detail],
    ) -> Option<Vec<u8>> {
        extract::write(&self.beside(sample), run, details)
    }

    fn beside<'s>(&self, sample: &'s CaptureSample) -> Beside<'s> {
        let scored = self.scored.iter().copied().filter(|run| run.cell == sample.run.cell);
        let scored: Vec<&CellSample> = scored.collect();
        Beside::of(self.plan, sample, &scored, self.emulator_rate)
    }
}

/// What one second run says, beside the scored runs of its cell.
pub fn second_run(
    plan: &Plan,
    sample: &CaptureSample,
    packets: Result<impl AsRef<[u8]>, String>,
    scored: &[&CellSample],
    emulator_rate: Option<BitRate>,
) -> SecondRun {
    Beside::of(plan, sample, scored, emulator_rate).followed(packets)
}

/// The causes of the direction that carried the data: what the other end answers is a few bytes.
fn of_data(connection: &tcp::Connection, evidence: &Evidence) -> Vec<Diagnosis> {
    let sender = connection.streams()[0].from;
    diagnose(connection, evidence).into_iter().filter(|found| found.from == sender).collect()
}

/// What the rule that looks at black boxes finds beside their threads.
fn limits_of_black_boxes(
    plan: &Plan,
    sample: &CaptureSample,
    emulator_rate: Option<BitRate>,
) -> Vec<String> {
    let run = count::of_one(plan, &sample.run, emulator_rate);
    run.map(|run| anomaly::limits_of_black_boxes(&run)).unwrap_or_default()
}

/// The connections of a capture that nobody has claimed yet.
#[derive(Default)]
struct Seen {
    connections: Vec<tcp::Connection>,
    missing: Vec<String>,
    /// Packets that are missing between those that are there.
    lost: u64,
    full_since: Option<Nanos>,
}

impl Seen {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let capture = capture::read(bytes).map_err(|cause| cause.to_string())?;
        let begin = capture.packets.first().map_or(Nanos::ZERO, |packet| packet.at);
        let found = tcp::analyse(&capture);
        let (lost, full_since) = (found.missing.scattered(), found.missing.full_since);
        let scattered = (lost > 0).then(|| {
            format!(
                "{lost} packets were lost by the capture: counts are lower bounds, no cause is sure"
            )
        });
        let full = full_since.map(|full| {
            let (held, behind) = (full.since(begin).millis(), found.missing.behind);
            format!(
                "its memory was full after {held:.1} ms, and {behind} packets that came later are not in \
                 it: packets and causes are of the time before"
            )
        });
        let missing = scattered.into_iter().chain(full).chain(found.missing.notes).collect();
        Ok(Self { connections: found.connections, missing, lost, full_since })
    }

    /// The part of a connection's time that the capture holds, where that is not all of it.
    fn covered(&self, connection: &tcp::Connection, whole: Nanos) -> Option<Covered> {
        let held = self.full_since?.since(connection.begin);
        (held < whole).then_some(Covered { held, whole })
    }

    /// The connection of each sample: by the ports of both ends. Where the capture has none of these ports
    /// at all, a network rewrote them, or it holds others' connections only: then one is ours that carried
    /// the same amount to a few bytes. A journal without ports has nothing but the amount.
    fn claimed(&mut self, samples: &[ConnectionSample]) -> Vec<Option<tcp::Connection>> {
        let mut found: Vec<_> = samples.iter().map(|one| self.take_by_ports(one)).collect();
        let are_rewritten = found.iter().all(Option::is_none);
        for (sample, connection) in samples.iter().zip(&mut found) {
            match sample.ports() {
                None => *connection = self.take_alike(sample, u64::MAX),
                Some(_) if are_rewritten => *connection = self.take_alike(sample, A_FEW),
                Some(_) => {}
            }
        }
        let is_known = |one: &ConnectionSample| one.ports().is_some();
        if are_rewritten && found.iter().any(Option::is_some) && samples.iter().any(is_known) {
            self.missing.push(BY_AMOUNT.to_owned());
        }
        let lost = samples.iter().zip(&found).filter(|(_, found)| found.is_none());
        self.missing.extend(lost.filter_map(|(sample, _)| {
            let [near, far] = sample.ports()?;
            let peer = sample.peer;
            Some(format!(
                "no connection in it has the ports {near} of test and {far} of {peer}, or carried as much"
            ))
        }));
        found
    }

    fn take_by_ports(&mut self, sample: &ConnectionSample) -> Option<tcp::Connection> {
        let ports = sample.ports()?;
        let has_ports = |one: &tcp::Connection| ports == [one.client.port, one.server.port];
        self.take(sample, u64::MAX, has_ports)
    }

    /// The test host connects, so the direction is that of the larger stream.
    fn take_alike(
        &mut self,
        sample: &ConnectionSample,
        most_apart: u64,
    ) -> Option<tcp::Connection> {
        self.take(sample, most_apart, |one| {
            let sends = one.streams()[0].from == one.client;
            sends == (sample.direction == Direction::Send) && one.streams()[0].has_data()
        })
    }

    /// Connections of an activity carry other amounts; equal ones stand in the order in which the test
    /// host made them, which is the case's.
    fn take(
        &mut self,
        sample: &ConnectionSample,
        most_apart: u64,
        fits: impl Fn(&tcp::Connection) -> bool,
    ) -> Option<tcp::Connection> {
        let amount = sample.bytes.count();
        let apart = |one: &tcp::Connection| one.streams()[0].counts.new_bytes.abs_diff(amount);
        let fits = |one: &tcp::Connection| fits(one) && apart(one) <= most_apart;
        let fitting = self.connections.iter().enumerate().filter(|(_, one)| fits(one));
        let (place, _) = fitting.min_by_key(|(_, one)| apart(one) / A_FEW)?;
        Some(self.connections.remove(place))
    }
}

/// Bytes that nobody counts: 'ready', 'go', the receipt.
const A_FEW: u64 = 8;
/// What a reader must know of connections that have other ports in the capture.
const BY_AMOUNT: &str = "no connection in it has the ports that the journal holds: those that carried as much to a \
                         few bytes are taken for ours, as where a network rewrites ports";
