//! Two ranks that meet once: what cannot be is known before anything is launched.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::app::class::ProblemClass;
use btu_core::app::endpoint::LayerError;
use btu_core::app::kernel::Kernel;
use btu_core::app::kernel::Outcome;
use btu_core::app::ranks::Ranks;
use btu_core::app::sample::Job;
use btu_core::app::sample::Wait;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::error::EngineError;
use crate::message::Seat;

/// The kernel of a trial: ranks that wait until all are there.
#[derive(Debug)]
pub(super) struct Meeting;

/// Launches a rank in each seat over a layer; all they do is to meet. Tells which library of others carries the messages.
///
/// # Errors
/// Why they do not.
pub fn attempt(
    layer: &str,
    wait: Wait,
    seats: &[Seat],
    stop: &Arc<AtomicBool>,
    program: &[OsString],
) -> Result<Option<String>, EngineError> {
    let (kernel, layer) = (Meeting.name().to_owned(), layer.to_owned());
    let ranks = u32::try_from(seats.len()).unwrap_or(u32::MAX);
    let job = Job { kernel, class: ProblemClass::S, ranks, layer, wait };
    let launched = super::launch(&Meeting, &job, seats, LONGEST, stop, program)?;
    match launched.ranks.into_iter().find_map(|rank| rank.failure) {
        Some(failure) => Err(EngineError::Refused(failure)),
        None => Ok(launched.library),
    }
}

impl Kernel for Meeting {
    fn name(&self) -> &'static str {
        "meeting"
    }

    fn about(&self) -> &'static str {
        "ranks that wait until all are there"
    }

    fn takes(&self, ranks: usize) -> bool {
        ranks > 0
    }

    fn legal(&self) -> &'static str {
        "any number"
    }

    fn memory(&self, _: ProblemClass, _: usize) -> Bytes {
        Bytes::ZERO
    }

    fn run(&self, _: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        ranks.barrier().map(|()| Outcome::default())
    }
}

/// Threads are joined at once; a launcher and its library take a second on a busy machine.
const LONGEST: Nanos = Nanos::from_secs(10);
