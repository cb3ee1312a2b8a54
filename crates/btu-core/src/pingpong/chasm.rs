//! The chasm finder: block sizes that are far slower than a larger block, confirmed, measured to the
//! byte, and explained by changing one factor at a time (snell1996, figure 10, did it by hand).
//!
//! A [`Finder`] measures nothing: it asks. [`Finder::next_request`] says what to measure next, and
//! [`Finder::answer`] takes it. Every step is a pure function of the sweep and the answers so far: the
//! search is run again from its start after each answer, and stops at the first question without one.
//! So a journal of the answers gives the same findings again, on any machine.

mod candidate;
mod cause;
mod edge;
mod factor;
mod finding;
mod given;
mod hole;
mod request;
mod trial;

use super::configuration::Configuration;
use super::curve::Curve;
use crate::stats::holm;
use crate::stats::median;
use crate::units::Bytes;

use self::candidate::Baseline;
use self::request::Tape;
use self::trial::Trial;

pub use candidate::Candidate;
pub use factor::Factor;
pub use finding::Chasm;
pub use finding::Effect;
pub use finding::Finding;
pub use finding::Outcome;
pub use given::not_given;
pub use request::Answer;
pub use request::Probe;
pub use request::Purpose;
pub use request::Request;

/// What counts as a chasm, and how hard it is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How much slower than a larger block is too slow.
    pub ratio: f64,
    /// The largest p value of a confirmation, after Holm's correction over all candidates.
    pub p: f64,
    /// Rounds of a confirmation.
    pub confirm_rounds: u32,
    /// Rounds of one step of a bisection: 5 against 5 can reach p = 0.004.
    pub decide_rounds: u32,
    /// Exchanges of a visit.
    pub exchanges: u32,
    /// Random sizes inside a chasm that are tried for holes.
    pub hole_probes: u32,
    /// How exactly an edge is found.
    pub resolution: Bytes,
    /// Chance.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ratio: 1.3,
            p: 0.01,
            confirm_rounds: 10,
            decide_rounds: 5,
            exchanges: 3,
            hole_probes: 16,
            resolution: Bytes::new(1),
            seed: 1,
        }
    }
}

/// A search for chasms in one curve.
#[derive(Clone, Debug)]
pub struct Finder {
    settings: Settings,
    base: Configuration,
    factors: Vec<Factor>,
    sizes: Vec<Bytes>,
    candidates: Vec<Candidate>,
    baseline: Baseline,
    answers: Vec<Answer>,
    state: Result<Vec<Finding>, Request>,
}

/// Why a search cannot go on.
#[derive(Clone, Debug)]
enum Pause {
    /// It needs an answer.
    Ask(Box<Request>),
    /// A measurement failed.
    Failed(String),
}

/// A candidate that was measured again.
struct Confirmation {
    trial: Trial,
    slow: Vec<Bytes>,
    clean: Vec<Bytes>,
    ratio: f64,
    p: f64,
    slow_rounds: u32,
}

impl Finder {
    /// Looks for chasms in a curve that was measured with `base`; `factors` are the causes to try.
    pub fn new(
        settings: Settings,
        base: Configuration,
        factors: Vec<Factor>,
        curve: &Curve,
    ) -> Self {
        let candidates = candidate::candidates(&curve.points, settings.ratio);
        let baseline = Baseline::new(&curve.points, &candidates);
        let sizes = curve.points.iter().map(|point| point.size).collect();
        let (answers, state) = (Vec::new(), Ok(Vec::new()));
        let mut finder =
            Self { settings, base, factors, sizes, candidates, baseline, answers, state };
        finder.state = finder.run();
        finder
    }

    /// The ranges that look like chasms in the sweep alone.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// What to measure next; `None` once the findings are complete.
    pub fn next_request(&self) -> Option<&Request> {
        self.state.as_ref().err()
    }

    /// Takes the answer to [`Finder::next_request`]; without a request it is not wanted and dropped.
    pub fn answer(&mut self, answer: Answer) {
        if let Err(request) = &self.state {
            self.answers.push(answer.fitted_to(request));
            self.state = self.run();
        }
    }

    /// The answers so far: with the same sweep, they lead to the same findings.
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// What was found; `None` while there is a request.
    pub fn findings(&self) -> Option<&[Finding]> {
        self.state.as_deref().ok()
    }

    /// The whole search, from its start to the first question without an answer.
    fn run(&self) -> Result<Vec<Finding>, Request> {
        let mut tape = Tape::new(&self.answers);
        let mut confirmations = Vec::new();
        for candidate in &self.candidates {
            confirmations.push(asked(self.confirm(&mut tape, candidate))?);
        }
        let good = confirmations.iter().flatten().map(|confirmation| confirmation.p);
        let mut adjusted = holm(&good.collect::<Vec<f64>>()).into_iter();
        let mut findings = Vec::new();
        for (candidate, confirmation) in self.candidates.iter().zip(confirmations) {
            let finding = match confirmation {
                Err(reason) => Finding::incomplete(candidate, reason),
                Ok(confirmation) => {
                    let p = adjusted.next().unwrap_or(1.0);
                    self.judge(&mut tape, candidate, &confirmation, p)?
                }
            };
            findings.push(finding);
        }
        Ok(findings)
    }

    /// Measures a candidate again, interleaved with its clean neighbours.
    fn confirm(&self, tape: &mut Tape<'_>, candidate: &Candidate) -> Result<Confirmation, Pause> {
        let trial = Trial::new(self, &self.base, self.neighbours(candidate));
        let inside = candidate.probes(&self.sizes);
        let rounds = self.settings.confirm_rounds;
        let seen = trial.measure(tape, &Purpose::Confirm, &inside, rounds)?;
        let (slow, clean): (Vec<Bytes>, Vec<Bytes>) =
            inside.iter().partition(|size| seen.is_slow(**size, &trial));
        let ratios = seen.ratios(candidate.worst);
        let above = ratios.iter().filter(|ratio| **ratio > self.settings.ratio).count();
        Ok(Confirmation {
            ratio: median(&ratios).unwrap_or(1.0),
            p: seen.p_slow(candidate.worst),
            slow_rounds: u32::try_from(above).unwrap_or(u32::MAX),
            slow,
            clean,
            trial,
        })
    }

    /// Goes on with a candidate that was confirmed, and names one that was not.
    fn judge(
        &self,
        tape: &mut Tape<'_>,
        candidate: &Candidate,
        confirmation: &Confirmation,
        adjusted_p: f64,
    ) -> Result<Finding, Request> {
        let confirmed = confirmation.ratio > self.settings.ratio
            && adjusted_p < self.settings.p
            && confirmation.slow.contains(&candidate.worst);
        if !confirmed {
            return Ok(Finding::NotReproduced {
                from: candidate.from,
                to: candidate.to,
                ratio_seen: candidate.ratio,
                ratio_again: confirmation.ratio,
                rounds: (confirmation.slow_rounds, self.settings.confirm_rounds),
            });
        }
        let examined = asked(self.examine(tape, candidate, confirmation, adjusted_p))?;
        Ok(match examined {
            Ok(chasm) => Finding::Confirmed(Box::new(chasm)),
            Err(reason) => Finding::incomplete(candidate, reason),
        })
    }

    /// Edges, holes and causes of a confirmed chasm.
    fn examine(
        &self,
        tape: &mut Tape<'_>,
        candidate: &Candidate,
        confirmation: &Confirmation,
        p: f64,
    ) -> Result<Chasm, Pause> {
        let trial = confirmation.trial.deepened(confirmation.ratio);
        let known = edge::Known::new(&trial, &confirmation.slow, &confirmation.clean);
        let from = edge::left(&trial, tape, &known)?;
        let to = edge::right(&trial, tape, &known)?;
        let mut chasm = Chasm {
            from: from.slow,
            to: to.slow,
            from_sure: from.sure,
            to_sure: to.sure,
            ratio: confirmation.ratio,
            clean_us: self.baseline.at(candidate.worst),
            confirmed: (confirmation.slow_rounds, self.settings.confirm_rounds),
            p,
            holes: Vec::new(),
            holes_unknown: None,
            effects: Vec::new(),
        };
        match hole::holes(&trial, tape, &chasm, candidate) {
            Err(Pause::Failed(reason)) => chasm.holes_unknown = Some(reason),
            holes => chasm.holes = holes?,
        }
        for factor in &self.factors {
            let result = cause::outcome(self, &trial, tape, &chasm, candidate, factor)?;
            chasm.effects.push(Effect { factor: factor.name.clone(), outcome: result });
        }
        Ok(chasm)
    }

    /// The nearest clean size on each side.
    fn neighbours(&self, candidate: &Candidate) -> Vec<Bytes> {
        let below = self.baseline.sizes().filter(|size| *size < candidate.from).max();
        let above = self.baseline.sizes().filter(|size| *size > candidate.to).min();
        below.into_iter().chain(above).collect()
    }

    /// The nearest clean size below, and one far above, for a factor that may move the edges.
    fn far_neighbours(&self, candidate: &Candidate) -> Vec<Bytes> {
        let far = candidate.to * FAR;
        let below = self.baseline.sizes().filter(|size| *size < candidate.from).max();
        let above = self.baseline.sizes().filter(|size| *size > candidate.to);
        let above = above.clone().find(|size| *size >= far).or_else(|| above.max());
        below.into_iter().chain(above).collect()
    }
}

/// Parts a question from a failure.
fn asked<T>(result: Result<T, Pause>) -> Result<Result<T, String>, Request> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Pause::Failed(reason)) => Ok(Err(reason)),
        Err(Pause::Ask(request)) => Err(*request),
    }
}

/// How far above a chasm a size lies that no factor is expected to slow down.
const FAR: u64 = 8;

#[cfg(test)]
mod tests;
