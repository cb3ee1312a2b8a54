//! The life of a rank, be it a thread or a process: a kernel over its end of the layer, and what came of it.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use btu_core::app::class::ProblemClass;
use btu_core::app::endpoint::Endpoint;
use btu_core::app::endpoint::LayerError;
use btu_core::app::kernel::Kernel;
use btu_core::app::kernel::Outcome;
use btu_core::app::ranks::Ranks;
use btu_core::app::sample::RankSample;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use serde::Deserialize;
use serde::Serialize;

use crate::error::EngineError;
use crate::time::now;

/// What the ranks run.
pub(super) type Work = (&'static dyn Kernel, ProblemClass);

/// What became of a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) sample: RankSample,
    pub(super) how: How,
}

/// How a rank came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum How {
    /// It computes on: its thread is left to itself, and the next launch waits for it.
    LeftBehind,
    /// By itself, with an outcome or a reason.
    Returned,
    /// It was told to.
    Stopped,
}

/// Runs a kernel as the rank that has this end.
pub(super) fn run((kernel, class): Work, end: &mut dyn Endpoint) -> Ended {
    let name = format!("rank-{}", end.rank());
    let (born, before) = (now(), ThreadUse::now());
    let mut ranks = Ranks::new(end);
    let came_to = catch_unwind(AssertUnwindSafe(|| kernel.run(class, &mut ranks)));
    let used = ThreadUse::now().since(&before);
    let how = match came_to {
        Ok(Err(LayerError::Stopped)) => How::Stopped,
        _ => How::Returned,
    };
    let came_to = came_to
        .map_err(|said| EngineError::panicked(&name, &*said).sentence())
        .and_then(|came_to| came_to.map_err(|cause| cause.to_string()));
    let sample = RankSample { lived_ns: now().since(born), ..sample(&ranks, used, came_to) };
    Ended { sample, how }
}

fn sample(ranks: &Ranks<'_>, used: ThreadUse, came_to: Result<Outcome, String>) -> RankSample {
    let timed = ranks.timed();
    let (outcome, failure) = match came_to {
        Ok(outcome) => (Some(outcome), None),
        Err(reason) => (None, Some(reason)),
    };
    RankSample {
        elapsed_ns: timed.map(|timed| timed.elapsed),
        split: timed.map(|timed| timed.split).unwrap_or_default(),
        cpu_ns: Some(Nanos::new(used.cpu_ns)),
        run_delay_ns: used.run_delay_ns.map(Nanos::new),
        tally: ranks.tally().clone(),
        outcome,
        failure,
        ..RankSample::default()
    }
}
