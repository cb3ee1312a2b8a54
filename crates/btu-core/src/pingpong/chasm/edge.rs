//! The edges of a chasm, to the byte: bisection between a clean and a slow size.

use super::Pause;
use super::request::Purpose;
use super::request::Tape;
use super::trial::Trial;
use crate::units::Bytes;

/// One edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// The outermost slow size.
    pub(super) slow: Bytes,
    /// The clean size next to it, at the resolution.
    pub(super) clean: Bytes,
    /// Whether both were confirmed beside each other.
    pub(super) sure: bool,
}

/// Sizes that were found slow and clean.
#[derive(Clone, Debug)]
pub(super) struct Known {
    slow: Vec<Bytes>,
    clean: Vec<Bytes>,
}

impl Known {
    /// The references of the trial are clean.
    pub(super) fn new(trial: &Trial, slow: &[Bytes], clean: &[Bytes]) -> Self {
        let clean = clean.iter().chain(&trial.references).copied().collect();
        Self { slow: slow.to_vec(), clean }
    }
}

/// The left edge; the smallest known slow size where nothing clean lies below.
pub(super) fn left(trial: &Trial, tape: &mut Tape<'_>, known: &Known) -> Result<Edge, Pause> {
    let slow = known.slow.iter().copied().min().unwrap_or_default();
    let clean = known.clean.iter().copied().filter(|size| *size < slow).max();
    clean.map_or(Ok(open(slow)), |clean| between(trial, tape, clean, slow))
}

/// The right edge; the largest known slow size where nothing clean lies above.
pub(super) fn right(trial: &Trial, tape: &mut Tape<'_>, known: &Known) -> Result<Edge, Pause> {
    let slow = known.slow.iter().copied().max().unwrap_or_default();
    let clean = known.clean.iter().copied().filter(|size| *size > slow).min();
    clean.map_or(Ok(open(slow)), |clean| between(trial, tape, clean, slow))
}

fn open(slow: Bytes) -> Edge {
    Edge { slow, clean: slow, sure: false }
}

/// The edge between a clean and a slow size; found once more where it is not confirmed.
pub(super) fn between(
    trial: &Trial,
    tape: &mut Tape<'_>,
    clean: Bytes,
    slow: Bytes,
) -> Result<Edge, Pause> {
    let mut edge = open(slow);
    for _ in 0..TRIES {
        edge = bisect(trial, tape, clean, slow)?;
        edge.sure = is_confirmed(trial, tape, &edge)?;
        if edge.sure {
            break;
        }
    }
    Ok(edge)
}

fn bisect(
    trial: &Trial,
    tape: &mut Tape<'_>,
    mut clean: Bytes,
    mut slow: Bytes,
) -> Result<Edge, Pause> {
    let resolution = trial.settings.resolution.count().max(1);
    while clean.count().abs_diff(slow.count()) > resolution {
        let middle = Bytes::new(clean.count().midpoint(slow.count()));
        let rounds = trial.settings.decide_rounds;
        let seen = trial.measure(tape, &Purpose::Edge, &[middle], rounds)?;
        *(if seen.is_slow(middle, trial) { &mut slow } else { &mut clean }) = middle;
    }
    Ok(Edge { slow, clean, sure: false })
}

fn is_confirmed(trial: &Trial, tape: &mut Tape<'_>, edge: &Edge) -> Result<bool, Pause> {
    let both = [edge.slow, edge.clean];
    let seen = trial.measure(tape, &Purpose::EdgeAgain, &both, trial.settings.confirm_rounds)?;
    Ok(seen.is_slow(edge.slow, trial) && !seen.looks_slow(edge.clean, trial))
}

/// How often an edge is looked for.
const TRIES: u32 = 2;
