//! Why a connection was slow: causes, one per file, each with the figures that it used.
//!
//! [`diagnose`] asks every cause of [`CAUSES`] about a connection of a capture and what the hosts
//! say beside it ([`Evidence`]). A healthy connection has none: that one of its ends is a little slower
//! than the other one is no cause ([`Worked`]). Causes are ranked by the share of
//! the connection's time that each explains, weighed by its confidence; one that explains another
//! (`a rate limit with a small queue` explains `fast retransmit`) takes its place, unless the other one
//! weighs far more than what is said to explain it.
//!
//! To add a cause, write `cause/NAME.rs` with a `CAUSE`, name it in [`CAUSES`] and explain it in
//! `docs/diagnoses.md`.

mod cause;
mod evidence;
mod repeats;
mod seen;
#[cfg(test)]
mod tests;
mod worked;

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::tcp::Connection;
use crate::tcp::Endpoint;
use crate::tcp::Stream;
use crate::units::Ratio;
use seen::Seen;
use worked::Basis;
use worked::Site;

pub use cause::CAUSES;
pub use evidence::Covered;
pub use evidence::EndEvidence;
pub use evidence::Evidence;
pub use evidence::HostTimes;
pub use repeats::Repeat;
pub use worked::Worked;

/// One cause.
#[derive(Clone, Copy, Debug)]
pub struct Cause {
    /// Kebab case, stable.
    pub name: &'static str,
    /// Where a cure would have to be made.
    site: Site,
    /// What it is concluded from.
    basis: Basis,
    /// What it is, in one line.
    pub about: &'static str,
    /// What to try.
    pub remedy: &'static str,
    /// Causes that are no news where this one is found.
    explains: &'static [&'static str],
    /// What speaks for it.
    find: fn(&Seen<'_>) -> Option<Finding>,
}

/// What speaks for a cause.
#[derive(Clone, Debug)]
struct Finding {
    /// Of the connection's active time.
    share: f64,
    confidence: Confidence,
    sentence: String,
    figures: Vec<Figure>,
}

/// A cause that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Name of the cause.
    pub cause: &'static str,
    /// Who sent where it was found.
    pub from: Endpoint,
    /// Who received.
    pub to: Endpoint,
    /// How sure this is.
    pub confidence: Confidence,
    /// Of the time in which this direction was active.
    pub share: Ratio,
    /// What happened, in words.
    pub sentence: String,
    /// What to try.
    pub remedy: &'static str,
    /// What it was concluded from.
    pub figures: Vec<Figure>,
}

/// How sure a diagnosis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// One of several explanations.
    Low,
    /// Probable.
    Medium,
    /// The capture or the host shows it.
    High,
}

/// A figure that a diagnosis used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is.
    pub name: Cow<'static, str>,
    /// How much.
    pub value: f64,
    /// Of what; empty for a count.
    pub unit: Cow<'static, str>,
}

/// What slowed a connection down, the strongest cause first; empty for a healthy one.
pub fn diagnose(connection: &Connection, evidence: &Evidence) -> Vec<Diagnosis> {
    let mut found: Vec<Diagnosis> = Vec::new();
    for stream in connection.streams() {
        if stream.counts.data_segments >= FEWEST_SEGMENTS {
            found.extend(of_stream(connection, stream, evidence));
        }
    }
    let is_known = found.iter().any(Diagnosis::is_known);
    found.retain(|one| !is_known || one.is_known());
    found.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    found
}

/// A single answer has no pattern.
const FEWEST_SEGMENTS: u64 = 3;

fn of_stream(connection: &Connection, stream: &Stream, evidence: &Evidence) -> Vec<Diagnosis> {
    let seen = Seen::new(connection, stream, evidence);
    let all = CAUSES.iter().filter_map(|cause| Some((cause, (cause.find)(&seen)?)));
    let mut all: Vec<(&Cause, Finding)> = all.collect();
    // Those that the work of the ends bounds alike keep the order of what each would cost without it.
    all.sort_by(|(_, a), (_, b)| b.weight().total_cmp(&a.weight()));
    let bounded = all.into_iter().map(|(cause, found)| Some((cause, cause.within(&seen, found)?)));
    let found: Vec<(&Cause, Finding)> = bounded.flatten().collect();
    let is_explained = |(cause, finding): &(&Cause, Finding)| {
        found.iter().any(|(other, why)| {
            let outweighs = OWN.contains(&cause.name) && finding.weight() > why.weight() * MUCH;
            other.explains.contains(&cause.name) && !outweighs
        })
    };
    let news = found.iter().filter(|one| !is_explained(one)).cloned();
    news.map(|(cause, finding)| Diagnosis {
        cause: cause.name,
        from: stream.from,
        to: stream.to,
        confidence: evidence.trusts(finding.confidence),
        share: Ratio::new(finding.share.clamp(0.0, 1.0)),
        sentence: finding.sentence,
        remedy: cause.remedy,
        figures: finding.figures.into_iter().chain(evidence.limits()).collect(),
    })
    .collect()
}

impl Cause {
    /// What was found, as far as both ends left time for it.
    fn within(&self, seen: &Seen<'_>, mut found: Finding) -> Option<Finding> {
        if self.name == cause::unknown::CAUSE.name && !seen.evidence.abnormal.is_empty() {
            return Some(found);
        }
        let bound = seen.worked.spare(self.site, self.basis);
        if found.share > bound {
            found.share = bound;
            found.figures.push(Figure::new("left by the work of the ends", bound * 100.0, "%"));
        }
        (bound > 0.0 || self.basis == Basis::Counted).then_some(found)
    }
}

/// What may be there beside that which explains it elsewhere: it is news where it weighs much more.
const OWN: [&str; 2] = ["application", "slow-reader"];
const MUCH: f64 = 4.0;

impl Finding {
    /// What it is ranked by.
    fn weight(&self) -> f64 {
        self.share.clamp(0.0, 1.0) * self.confidence.trust()
    }
}

impl Diagnosis {
    /// What it is ranked by: its share of the time, less where it is less sure.
    pub fn weight(&self) -> f64 {
        self.share.share() * self.confidence.trust()
    }

    /// False where it only says that nothing else explains the connection.
    pub fn is_known(&self) -> bool {
        self.cause != cause::unknown::CAUSE.name
    }
}

impl Confidence {
    const fn trust(self) -> f64 {
        match self {
            Self::High => 1.0,
            Self::Low => 0.4,
            Self::Medium => 0.7,
        }
    }
}

impl Figure {
    const fn new(name: &'static str, value: f64, unit: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), value, unit: Cow::Borrowed(unit) }
    }

    /// Of the time as the packets show it: the work of the ends may leave less of that to a cure.
    const fn by_packets(share: f64) -> Self {
        Self::new("share of the time by packets alone", share * 100.0, "%")
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::High => "high",
            Self::Low => "low",
            Self::Medium => "medium",
        })
    }
}
