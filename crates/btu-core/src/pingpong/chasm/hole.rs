//! Good sizes inside a chasm: the single fast point of snell1996, figure 10.

use std::ops::RangeInclusive;

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;

use super::Candidate;
use super::Chasm;
use super::Pause;
use super::edge::between;
use super::request::Purpose;
use super::request::Tape;
use super::trial::Trial;
use crate::units::Bytes;

/// The ranges of good sizes inside a chasm, each found from a size that was good in the sweep or at
/// random, confirmed, and bisected to both sides.
pub(super) fn holes(
    trial: &Trial,
    tape: &mut Tape<'_>,
    chasm: &Chasm,
    candidate: &Candidate,
) -> Result<Vec<RangeInclusive<u64>>, Pause> {
    let tried = probes(trial, chasm, candidate);
    let (good, slow) = screen(trial, tape, &tried)?;
    let mut holes: Vec<RangeInclusive<u64>> = Vec::new();
    for size in good {
        let known = holes.iter().any(|hole| hole.contains(&size.count()));
        if !known && is_good(trial, tape, size, chasm)? {
            holes.push(extent(trial, tape, size, chasm, &slow)?);
        }
    }
    Ok(holes)
}

/// Points inside that were good in the sweep, and one random size in each of as many equal parts of
/// the chasm: a hole of two parts is never missed.
fn probes(trial: &Trial, chasm: &Chasm, candidate: &Candidate) -> Vec<Bytes> {
    let (first, last) = (chasm.from.count() + 1, chasm.to.count());
    let good = candidate.good.iter().copied();
    let mut probes: Vec<Bytes> =
        good.filter(|size| (first..last).contains(&size.count())).collect();
    let mut chance = ChaCha12Rng::seed_from_u64(trial.settings.seed ^ first);
    let parts = u64::from(trial.settings.hole_probes);
    let bound = |part: u64| first + last.saturating_sub(first) * part / parts;
    for part in (0..parts).map(|part| bound(part)..bound(part + 1)) {
        if !part.is_empty() {
            probes.push(Bytes::new(chance.random_range(part)));
        }
    }
    probes.sort_unstable();
    probes.dedup();
    probes
}

/// One look at each size. Noise does not make a slow block fast, so no hole of those is missed.
fn screen(
    trial: &Trial,
    tape: &mut Tape<'_>,
    sizes: &[Bytes],
) -> Result<(Vec<Bytes>, Vec<Bytes>), Pause> {
    if sizes.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let seen = trial.measure(tape, &Purpose::Holes, sizes, 1)?;
    Ok(sizes.iter().partition(|size| !seen.looks_slow(**size, trial)))
}

/// Measured beside a slow edge: good where the edge is slow and the size is not.
fn is_good(trial: &Trial, tape: &mut Tape<'_>, size: Bytes, chasm: &Chasm) -> Result<bool, Pause> {
    let both = [size, chasm.from];
    let seen = trial.measure(tape, &Purpose::Holes, &both, trial.settings.decide_rounds)?;
    let (good, edge) = (seen.ratios(size), seen.ratios(chasm.from));
    let p = crate::stats::mann_whitney_greater(&edge, &good).unwrap_or(1.0);
    Ok(!seen.looks_slow(size, trial) && p < trial.settings.p)
}

/// The whole range of good sizes around one of them.
fn extent(
    trial: &Trial,
    tape: &mut Tape<'_>,
    good: Bytes,
    chasm: &Chasm,
    slow: &[Bytes],
) -> Result<RangeInclusive<u64>, Pause> {
    let below = slow.iter().copied().filter(|size| *size < good).max().unwrap_or(chasm.from);
    let above = slow.iter().copied().filter(|size| *size > good).min().unwrap_or(chasm.to);
    let from = between(trial, tape, good, below)?.clean;
    let to = between(trial, tape, good, above)?.clean;
    Ok(from.count()..=to.count())
}
