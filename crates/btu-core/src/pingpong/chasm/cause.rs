//! What a factor does to a chasm: removes it, moves its edges, or nothing.

use super::Candidate;
use super::Chasm;
use super::Finder;
use super::Pause;
use super::edge;
use super::edge::Known;
use super::factor::Factor;
use super::finding::Outcome;
use super::request::Purpose;
use super::request::Tape;
use super::trial::Seen;
use super::trial::Trial;
use crate::pingpong::configuration::size_f64;
use crate::pingpong::schedule::whole;
use crate::units::Bytes;

/// Tries a factor. A failed measurement says no more than that this factor cannot be tried here.
pub(super) fn outcome(
    finder: &Finder,
    base: &Trial,
    tape: &mut Tape<'_>,
    chasm: &Chasm,
    candidate: &Candidate,
    factor: &Factor,
) -> Result<Outcome, Pause> {
    let far = finder.far_neighbours(candidate);
    let trial = base.with(&factor.configuration, far);
    let largest = finder.sizes.last().copied().unwrap_or_default();
    let sizes = scan(chasm, largest);
    let result = search(base, &trial, tape, chasm, factor, &sizes);
    match result {
        Err(Pause::Failed(reason)) => Ok(Outcome::Untested { reason }),
        other => other,
    }
}

fn search(
    base: &Trial,
    trial: &Trial,
    tape: &mut Tape<'_>,
    chasm: &Chasm,
    factor: &Factor,
    sizes: &[Bytes],
) -> Result<Outcome, Pause> {
    let purpose = Purpose::Cause(factor.name.clone());
    let seen = trial.measure(tape, &purpose, sizes, rounds(trial))?;
    let slow: Vec<Bytes> = sizes.iter().copied().filter(|n| is_slow(&seen, *n, trial)).collect();
    if slow.is_empty() {
        return removed(base, trial, tape, chasm, factor);
    }
    let inside = |size: &Bytes| (chasm.from..=chasm.to).contains(size);
    let is_same = sizes.iter().all(|size| slow.contains(size) == inside(size));
    if is_same && (!trial.is_deep() || edges_stay(trial, tape, &purpose, chasm)?) {
        return Ok(Outcome::Nothing);
    }
    // One look at each size is too little to say what changes.
    let seen = trial.measure(tape, &purpose, sizes, trial.settings.decide_rounds)?;
    let slow: Vec<Bytes> = sizes.iter().copied().filter(|n| seen.is_slow(*n, trial)).collect();
    if slow.is_empty() {
        return removed(base, trial, tape, chasm, factor);
    }
    let is_slow = |size: u64| slow.contains(&Bytes::new(size));
    let same_left = is_slow(chasm.from.count()) && !is_slow(chasm.from.count().saturating_sub(1));
    let same_right = is_slow(chasm.to.count()) && !is_slow(chasm.to.count() + 1);
    let clean: Vec<Bytes> = sizes.iter().copied().filter(|size| !slow.contains(size)).collect();
    let known = Known::new(trial, &slow, &clean);
    let from = if same_left { chasm.from } else { edge::left(trial, tape, &known)?.slow };
    let to = if same_right { chasm.to } else { edge::right(trial, tape, &known)?.slow };
    if (from, to) == (chasm.from, chasm.to) {
        return Ok(Outcome::Nothing);
    }
    Ok(Outcome::Moves { from, to })
}

/// Whether both edges are slow with the factor too: a machine that pauses makes a clean size slow once.
fn edges_stay(
    trial: &Trial,
    tape: &mut Tape<'_>,
    purpose: &Purpose,
    chasm: &Chasm,
) -> Result<bool, Pause> {
    let edges = [chasm.from, chasm.to];
    let seen = trial.measure(tape, purpose, &edges, trial.settings.decide_rounds)?;
    Ok(edges.iter().all(|edge| seen.is_slow(*edge, trial)))
}

/// Whether the chasm is still there without the factor, in the same minute, and not with it.
fn removed(
    base: &Trial,
    trial: &Trial,
    tape: &mut Tape<'_>,
    chasm: &Chasm,
    factor: &Factor,
) -> Result<Outcome, Pause> {
    let (inside, rounds) = ([chasm.from, chasm.to], trial.settings.decide_rounds);
    let purpose = Purpose::Cause(factor.name.clone());
    let mut reason = "";
    for _ in 0..TRIES {
        let without = base.measure(tape, &purpose, &inside, rounds)?;
        let with = trial.measure(tape, &purpose, &inside, rounds)?;
        let still = inside.iter().any(|size| without.is_slow(*size, base));
        let gone = inside.iter().all(|size| !with.looks_slow(*size, trial));
        reason = match (still, gone) {
            (true, true) => return Ok(Outcome::Removes),
            (true, false) => "it came and went with the factor",
            (false, _) => "the chasm was gone without it too",
        };
    }
    Ok(Outcome::Unclear { reason: reason.to_owned() })
}

/// In a deep chasm a single exchange tells slow from clean.
fn rounds(trial: &Trial) -> u32 {
    if trial.is_deep() { 1 } else { trial.settings.decide_rounds }
}

fn is_slow(seen: &Seen, size: Bytes, trial: &Trial) -> bool {
    if trial.is_deep() { seen.looks_slow(size, trial) } else { seen.is_slow(size, trial) }
}

/// Both edges from inside and outside, sizes between them at equal distances on the log scale, and
/// sizes beyond, in case the chasm moves there.
fn scan(chasm: &Chasm, largest: Bytes) -> Vec<Bytes> {
    let (from, to) = (chasm.from.count(), chasm.to.count());
    let step = (size_f64(chasm.to) / size_f64(chasm.from)).powf(1.0 / BETWEEN);
    let between = (1..6).map(|k| whole(size_f64(chasm.from) * step.powi(k)).count());
    let around = [from.saturating_sub(1), from / 2, from, to, to + 1, to * 2, to * 4];
    let mut sizes: Vec<Bytes> = between
        .chain(around)
        .filter(|size| *size >= 1 && *size <= largest.count())
        .map(Bytes::new)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// How often two measurements that contradict each other are made again.
const TRIES: u32 = 3;
/// Parts into which the scan divides a chasm.
const BETWEEN: f64 = 6.0;
