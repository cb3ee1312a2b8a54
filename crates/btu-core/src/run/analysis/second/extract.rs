//! What a report needs of a capture, as a file beside it: a hundredth of its size, and nothing to follow.
//!
//! Three parts: a line with BLAKE3 of the other two, a line of JSON, the charts
//! ([`SequenceData::encoded`]) one behind the other. It names what it was made of: the sources of this
//! crate, the file of packets, and everything that the journal says beside them. Where any of these is
//! another one, the capture has to be followed again.

use serde::Deserialize;
use serde::Serialize;

use super::Followed;
use super::SecondRun;
use super::beside::Beside;
use super::carried::Carried;
use super::carried::Chart;
use crate::diagnosis::CAUSES;
use crate::diagnosis::Confidence;
use crate::diagnosis::Covered;
use crate::diagnosis::Diagnosis;
use crate::diagnosis::Evidence;
use crate::diagnosis::Figure;
use crate::run::analysis::CongestionWindow;
use crate::sample::CaptureFile;
use crate::tcp::Detail;
use crate::tcp::Endpoint;
use crate::tcp::Outline;
use crate::tcp::SequenceData;
use crate::units::Nanos;
use crate::units::Ratio;

/// The extract of a second run that was followed, its charts in these details, one for each connection.
/// `None` where there is nothing to keep, or what was kept would not read back as the same.
pub(super) fn write(beside: &Beside<'_>, run: &SecondRun, details: &[Detail]) -> Option<Vec<u8>> {
    let is_fit = run.no_packets.is_empty() && details.len() == run.connections.len();
    let file = run.file.clone().filter(|_| is_fit)?;
    let mut charts = Vec::new();
    let each = run.connections.iter().zip(details);
    let connections = each.map(|(one, detail)| Kept::of(one, *detail, &mut charts));
    let connections = connections.collect::<Option<_>>()?;
    let head = Head {
        analysis: ANALYSIS.to_owned(),
        file,
        given: given(beside)?,
        missing: run.missing.clone(),
        lost_packets: run.connections.first().map_or(0, |one| one.evidence.lost_packets),
        connections,
    };
    let mut rest = serde_json::to_vec(&head).ok()?;
    rest.push(b'\n');
    rest.extend(charts);
    let extract = [sum(&rest).as_bytes(), b"\n", &rest].concat();
    let again = read(beside, &extract)?;
    is_same(run, &again).then_some(extract)
}

/// The second run as an extract tells it; `None` where it is damaged, or was made of anything else.
pub(super) fn read(beside: &Beside<'_>, extract: &[u8]) -> Option<SecondRun> {
    let (stated, rest) = line(extract)?;
    let (head, mut charts) = line(rest).filter(|_| sum(rest).as_bytes() == stated)?;
    let head: Head = serde_json::from_slice(head).ok()?;
    let is_ours = head.analysis == ANALYSIS && Some(&head.file) == beside.sample.file.as_ref();
    if !is_ours || head.given != given(beside)? {
        return None;
    }
    let samples = beside.connections();
    let mut connections = Vec::new();
    for (number, kept) in head.connections.into_iter().enumerate() {
        let lost_packets = head.lost_packets;
        let evidence = Evidence { lost_packets, covered: kept.covered, ..beside.evidence(number) };
        let sample = samples.get(number)?;
        connections.push(Followed {
            peer: sample.peer,
            direction: sample.direction,
            evidence,
            connection: match kept.carried {
                Some(carried) => Some(carried.with(&mut charts)?),
                None => None,
            },
            congestion: kept.congestion,
            diagnoses: kept
                .diagnoses
                .into_iter()
                .map(KeptDiagnosis::told)
                .collect::<Option<_>>()?,
        });
    }
    let is_whole = charts.is_empty() && connections.len() == samples.len();
    is_whole.then(|| beside.run(head.missing, String::new(), connections))
}

/// The sources of this crate and of what it is built with: the same sources find the same.
const ANALYSIS: &str = env!("BTU_SOURCES");

/// The line of JSON.
#[derive(Serialize, Deserialize)]
struct Head {
    analysis: String,
    file: CaptureFile,
    /// BLAKE3 of everything that the journal says beside the packets.
    given: String,
    missing: Vec<String>,
    lost_packets: u64,
    connections: Vec<Kept>,
}

/// Of one connection what its packets say.
#[derive(Serialize, Deserialize)]
struct Kept {
    covered: Option<Covered>,
    congestion: CongestionWindow,
    diagnoses: Vec<KeptDiagnosis>,
    carried: Option<KeptCarried>,
}

#[derive(Serialize, Deserialize)]
struct KeptCarried {
    outline: Outline,
    round_trip_ns: Option<Nanos>,
    detail: Detail,
    chart_bytes: usize,
}

/// A diagnosis without what its cause says by itself.
#[derive(Serialize, Deserialize)]
struct KeptDiagnosis {
    cause: String,
    from: Endpoint,
    to: Endpoint,
    confidence: Confidence,
    share: Ratio,
    sentence: String,
    figures: Vec<Figure>,
}

impl Kept {
    fn of(one: &Followed, detail: Detail, charts: &mut Vec<u8>) -> Option<Self> {
        let carried = match &one.connection {
            Some(carried) => Some(KeptCarried::of(carried, &one.congestion, detail, charts)?),
            None => None,
        };
        Some(Self {
            covered: one.evidence.covered,
            congestion: one.congestion.clone(),
            diagnoses: one.diagnoses.iter().map(KeptDiagnosis::of).collect(),
            carried,
        })
    }
}

impl KeptCarried {
    /// Its chart goes behind those of others; `None` where that would not read back as the same.
    fn of(
        carried: &Carried,
        congestion: &CongestionWindow,
        detail: Detail,
        charts: &mut Vec<u8>,
    ) -> Option<Self> {
        let data = carried.chart.data(congestion, detail);
        let chart = data.encoded();
        charts.extend(&chart);
        (SequenceData::decoded(&chart)? == data).then(|| Self {
            outline: carried.outline.clone(),
            round_trip_ns: carried.round_trip,
            detail,
            chart_bytes: chart.len(),
        })
    }

    /// The same with its chart, which is the next one.
    fn with(self, charts: &mut &[u8]) -> Option<Carried> {
        let (chart, rest) = charts.split_at_checked(self.chart_bytes)?;
        *charts = rest;
        let chart = Chart::Kept { detail: self.detail, encoded: chart.to_vec() };
        Some(Carried { outline: self.outline, round_trip: self.round_trip_ns, chart })
    }
}

impl KeptDiagnosis {
    fn of(found: &Diagnosis) -> Self {
        Self {
            cause: found.cause.to_owned(),
            from: found.from,
            to: found.to,
            confidence: found.confidence,
            share: found.share,
            sentence: found.sentence.clone(),
            figures: found.figures.clone(),
        }
    }

    fn told(self) -> Option<Diagnosis> {
        let cause = CAUSES.iter().find(|cause| cause.name == self.cause)?;
        Some(Diagnosis {
            cause: cause.name,
            from: self.from,
            to: self.to,
            confidence: self.confidence,
            share: self.share,
            sentence: self.sentence,
            remedy: cause.remedy,
            figures: self.figures,
        })
    }
}

fn given(beside: &Beside<'_>) -> Option<String> {
    serde_json::to_vec(beside).ok().map(|said| sum(&said))
}

fn sum(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}

/// The first line, and what follows it.
fn line(content: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = content.iter().position(|byte| *byte == b'\n')?;
    Some((&content[..end], &content[end + 1..]))
}

/// True where nobody can tell what was kept from what was followed; charts were compared before.
fn is_same(run: &SecondRun, kept: &SecondRun) -> bool {
    let is_same = |(one, other): (&Followed, &Followed)| {
        let figures = |one: &Followed| {
            one.connection.as_ref().map(|carried| (carried.outline.clone(), carried.round_trip))
        };
        figures(one) == figures(other)
            && (one.peer, one.direction) == (other.peer, other.direction)
            && one.evidence == other.evidence
            && one.congestion == other.congestion
            && one.diagnoses == other.diagnoses
    };
    (&run.cell, &run.why, run.goodput_mbps) == (&kept.cell, &kept.why, kept.goodput_mbps)
        && (&run.missing, &run.no_packets) == (&kept.missing, &kept.no_packets)
        && run.connections.len() == kept.connections.len()
        && run.connections.iter().zip(&kept.connections).all(is_same)
}
