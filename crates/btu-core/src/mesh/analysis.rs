//! From the lines of a journal to a grid of rates, what is slow in it, and whether that was confirmed.

use std::collections::BTreeMap;

use super::Journal;
use super::confirm;
use super::confirm::Retest;
use super::confirm::Verdict;
use super::course;
use super::plan::Plan;
use super::polish::Effects;
use super::polish::Grid;
use super::polish::polish;
use super::sample::Line;
use super::sample::PairSample;
use super::sample::Part;
use super::schedule::Pair;
use super::suspect::Suspicion;
use super::suspect::suspicions;

/// What a journal means.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// What came over each direction of each pair, in bit/s.
    pub rates: Grid,
    /// What they have in common; `None` where nothing was measured.
    pub effects: Option<Effects>,
    /// What is slow, the slowest first: the part of it that is retested.
    pub judged: Vec<Judged>,
    /// How much looked slow, those that are not retested included.
    pub suspected: usize,
    /// Pairs that could not be measured, tried twice, with the reason.
    pub failed: BTreeMap<Pair, String>,
    /// Hosts that did not come, with the reason.
    pub missing: BTreeMap<usize, String>,
    /// False where it was cut short.
    pub complete: bool,
}

/// A suspicion and what was made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Who, and by how much.
    pub suspicion: Suspicion,
    /// How it is retested; `None` where nobody is left to compare with.
    pub retest: Option<Retest>,
    /// What that showed; `None` where it was not retested to the end.
    pub verdict: Option<Verdict>,
}

impl Judged {
    /// True where its name is told.
    pub fn is_confirmed(&self) -> bool {
        matches!(self.verdict, Some(Verdict::Confirmed(_)))
    }
}

/// What a journal means.
pub fn analyse(journal: &Journal) -> Analysis {
    let (plan, lines) = (&journal.plan, &journal.lines);
    let rates = rates(plan, lines);
    let effects = polish(&rates);
    let racks = plan.rack_numbers();
    let found = effects.as_ref().map_or_else(Vec::new, |effects| suspicions(effects, &racks));
    let judge = |effects: &Effects| retested(lines, effects, &racks, &found);
    Analysis {
        judged: effects.as_ref().map_or_else(Vec::new, judge),
        suspected: found.len(),
        effects,
        rates,
        failed: failed(lines),
        missing: missing(lines),
        complete: journal.is_complete(),
    }
}

/// What is slow in the mesh, and what was made of it so far.
pub fn judged(plan: &Plan, lines: &[Line]) -> Vec<Judged> {
    let Some(effects) = polish(&rates(plan, lines)) else { return Vec::new() };
    let racks = plan.rack_numbers();
    retested(lines, &effects, &racks, &suspicions(&effects, &racks))
}

fn retested(
    lines: &[Line],
    effects: &Effects,
    racks: &[usize],
    found: &[Suspicion],
) -> Vec<Judged> {
    let bad: Vec<usize> = found.iter().flat_map(|one| one.suspect.hosts(racks)).collect();
    let judge = |(number, suspicion): (usize, &Suspicion)| {
        let retest = confirm::retest(suspicion.suspect, effects, racks, &bad);
        let verdict = retest.as_ref().and_then(|retest| verdict(lines, number, retest));
        Judged { suspicion: *suspicion, retest, verdict }
    };
    found.iter().take(MOST_RETESTS).enumerate().map(judge).collect()
}

/// Nothing is said before a retest is at its end.
fn verdict(lines: &[Line], number: usize, retest: &Retest) -> Option<Verdict> {
    let samples: Vec<&PairSample> = course::samples(lines, Part::Retest(number)).collect();
    let of = |ways: &[Pair]| -> Vec<f64> {
        samples.iter().flat_map(|one| ways.iter().filter_map(|way| one.bit_s(*way))).collect()
    };
    let is_whole = samples.len() >= retest.pairs().len() * confirm::ROUNDS;
    is_whole.then(|| confirm::verdict(&of(&retest.suspected), &of(&retest.control)))?
}

/// The rates of the mesh; of a pair that failed those of its second try.
fn rates(plan: &Plan, lines: &[Line]) -> Grid {
    let mut rates = Grid::new(plan.hosts.len());
    let both = [Part::Mesh, Part::Again].map(|part| course::samples(lines, part));
    for sample in both.into_iter().flatten().filter(|one| one.failure.is_none()) {
        let (one, other) = sample.pair;
        if one.max(other) < rates.hosts() {
            rates.set(one, other, sample.bit_s((one, other)));
            rates.set(other, one, sample.bit_s((other, one)));
        }
    }
    rates
}

fn failed(lines: &[Line]) -> BTreeMap<Pair, String> {
    let again = course::samples(lines, Part::Again);
    again.filter_map(|one| Some((one.pair, one.failure.clone()?))).collect()
}

/// Hosts that did not come in the beginning: nobody asks them again.
pub(super) fn missing(lines: &[Line]) -> BTreeMap<usize, String> {
    let missing = lines.iter().filter_map(|line| match line {
        Line::MeshMissing { host, reason } => Some((*host, reason.clone())),
        Line::MeshPair(_) => None,
    });
    missing.collect()
}

/// A mesh in which more is slow has another fault than a few hosts.
const MOST_RETESTS: usize = 8;
