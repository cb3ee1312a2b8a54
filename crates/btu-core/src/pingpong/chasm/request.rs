//! Questions of the finder and their answers.

use serde::Deserialize;
use serde::Serialize;

use super::Pause;
use crate::pingpong::configuration::Configuration;
use crate::units::Bytes;

/// What to measure next: every probe once a round, interleaved.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What for.
    pub purpose: Purpose,
    /// What to visit.
    pub probes: Vec<Probe>,
    /// The configuration whose chasm is looked for: what a probe changes of it must take effect.
    pub base: Box<Configuration>,
    /// How often.
    pub rounds: u32,
    /// Exchanges of a visit.
    pub exchanges: u32,
    /// One exchange whose T is above this is enough for its visit, in microseconds.
    pub enough_above_us: f64,
}

/// A size and the configuration to try it with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The block.
    pub size: Bytes,
    /// The settings.
    pub configuration: Configuration,
}

/// What a request is for, to show progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Whether a candidate comes again.
    Confirm,
    /// Where an edge lies: a step of a bisection.
    Edge,
    /// Whether an edge is right: the last slow and the first clean size beside each other.
    EdgeAgain,
    /// Whether there are good sizes inside.
    Holes,
    /// What a factor does.
    Cause(String),
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// For each probe, the median T of each round, in microseconds.
    Measured {
        /// In the order of the probes; of each, in the order of the rounds.
        medians_us: Vec<Vec<f64>>,
    },
    /// It could not be measured.
    Failed {
        /// Operation, operand and cause.
        reason: String,
    },
}

impl Request {
    /// The probes of a round, from 1, as indices: each round begins with another one, and every
    /// second runs backwards, so that no probe always follows the same.
    pub fn order(&self, round: u32) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.probes.len()).collect();
        let shift = usize::try_from(round).unwrap_or_default() % order.len().max(1);
        order.rotate_left(shift);
        if round.is_multiple_of(2) {
            order.reverse();
        }
        order
    }
}

impl Answer {
    /// The answer as it is, or a failure where it does not fit the request.
    pub(super) fn fitted_to(self, request: &Request) -> Self {
        let Self::Measured { medians_us } = &self else { return self };
        let good = |time: &f64| *time > 0.0 && time.is_finite();
        let full = |rounds: &Vec<f64>| {
            u32::try_from(rounds.len()) == Ok(request.rounds) && rounds.iter().all(good)
        };
        let fits = medians_us.len() == request.probes.len() && medians_us.iter().all(full);
        let wanted = format!("{} probes of {} rounds", request.probes.len(), request.rounds);
        if fits { self } else { Self::Failed { reason: format!("answer does not hold {wanted}") } }
    }
}

/// The answers so far, read from their start.
#[derive(Debug)]
pub(super) struct Tape<'a> {
    answers: std::slice::Iter<'a, Answer>,
}

impl<'a> Tape<'a> {
    pub(super) fn new(answers: &'a [Answer]) -> Self {
        Self { answers: answers.iter() }
    }

    /// The times that answer the request; a pause where there are none yet, or never will be.
    pub(super) fn ask(&mut self, request: Request) -> Result<Vec<Vec<f64>>, Pause> {
        match self.answers.next() {
            Some(Answer::Measured { medians_us }) => Ok(medians_us.clone()),
            Some(Answer::Failed { reason }) => Err(Pause::Failed(reason.clone())),
            None => Err(Pause::Ask(Box::new(request))),
        }
    }
}
