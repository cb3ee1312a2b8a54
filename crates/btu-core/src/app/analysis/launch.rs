//! One launch, judged.

use super::super::kernel::Check;
use super::super::sample::LaunchSample;
use super::super::sample::RankSample;
use crate::sample::Flag;

/// One launch, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Number of the round, from 1.
    pub round: u32,
    /// Place in the round, from 1.
    pub position: u32,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// The timed part, of the rank that was last; `None` where the launch was not verified.
    pub elapsed_s: Option<f64>,
    /// Whether what it found is right.
    pub verdict: Verdict,
    /// What a reader should know of it.
    pub flags: Vec<Flag>,
}

/// Whether what a launch found is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It did not come to its end: which rank, and why.
    Failed(String),
    /// Every figure is its reference.
    Verified,
    /// Figures are not their references: which, on which rank.
    Wrong(String),
}

impl Launch {
    pub(super) fn of(sample: &LaunchSample) -> Self {
        let verdict = verdict(sample);
        let is_verified = verdict == Verdict::Verified;
        Self {
            round: sample.round,
            position: sample.position,
            started_at: sample.started_at.clone(),
            elapsed_s: elapsed_s(sample).filter(|_| is_verified),
            verdict,
            flags: sample.flags.clone(),
        }
    }
}

/// True where every rank came to its end.
pub(super) fn is_whole(sample: &LaunchSample) -> bool {
    !sample.ranks.is_empty() && sample.ranks.iter().all(|rank| failure(rank).is_none())
}

/// Every figure that was verified, with the rank that did.
pub(super) fn checks(sample: &LaunchSample) -> Vec<(u32, Check)> {
    let of = |rank: &RankSample| {
        let checks = rank.outcome.iter().flat_map(|outcome| outcome.checks.clone());
        checks.map(|check| (rank.rank, check)).collect::<Vec<_>>()
    };
    sample.ranks.iter().flat_map(of).collect()
}

/// The time of a program is that of its last rank.
fn elapsed_s(sample: &LaunchSample) -> Option<f64> {
    let longest = sample.ranks.iter().filter_map(|rank| rank.elapsed_ns).max()?;
    Some(longest.seconds())
}

fn verdict(sample: &LaunchSample) -> Verdict {
    let failed = sample.ranks.iter().find_map(|rank| failure(rank).map(|why| (rank.rank, why)));
    if let Some((rank, why)) = failed {
        return Verdict::Failed(format!("rank {rank}: {why}"));
    }
    let checks = checks(sample);
    if checks.is_empty() {
        return Verdict::Failed("nothing was verified".to_owned());
    }
    let wrong: Vec<String> = checks.iter().filter(|(_, one)| !one.passes()).map(said).collect();
    if wrong.is_empty() { Verdict::Verified } else { Verdict::Wrong(first(&wrong)) }
}

fn failure(rank: &RankSample) -> Option<String> {
    let why = rank.failure.clone();
    let no_outcome = || rank.outcome.is_none().then(|| "it found nothing".to_owned());
    let no_time = || rank.elapsed_ns.is_none().then(|| "it was not timed".to_owned());
    why.or_else(no_outcome).or_else(no_time)
}

fn said((rank, check): &(u32, Check)) -> String {
    let Check { name, found, reference, .. } = check;
    format!("{name} on rank {rank} is {found:e}, not {reference:e}")
}

/// Every rank has the same outcome as a rule: the first figure says it, and how many more there are.
fn first(wrong: &[String]) -> String {
    match wrong {
        [] => String::new(),
        [only] => only.clone(),
        [first, more @ ..] => format!("{first}, and {} more figures", more.len()),
    }
}
