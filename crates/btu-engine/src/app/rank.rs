//! The life of a rank that is a process: the hidden verb of the program that launchers execute.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use btu_core::app::kernel::Kernel;
use btu_core::app::sample::RankSample;
use btu_core::units::Nanos;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_sys::process;

use super::desk;
use super::desk::Order;
use super::life;
use super::life::Ended;
use super::life::How;
use super::trial::Meeting;
use crate::error::EngineError;
use crate::message::Entered;
use crate::message::RanksAre;
use crate::message::Terms;
use crate::time::now;

/// Lives as a rank by the order in this file: true where it came to its end without a failure. `kernels` finds a kernel by
/// its name.
///
/// # Errors
/// There is no such order, or no end of the layer: this process was not started by a launcher.
pub fn live(
    file: &Path,
    kernels: impl Fn(&str) -> Option<&'static dyn Kernel>,
) -> Result<bool, EngineError> {
    process::die_with_parent(std::os::unix::process::parent_id())
        .map_err(EngineError::peer("die with the launcher"))?;
    let order = Order::read(file)?;
    let unknown = || EngineError::Refused(format!("there is no kernel \"{}\"", order.job.kernel));
    let own = |name: &str| -> Option<&'static dyn Kernel> {
        (name == Meeting.name()).then_some(&Meeting)
    };
    let name = &order.job.kernel;
    let kernel = kernels(name).or_else(|| own(name)).ok_or_else(unknown)?;
    let complain = |cause: &EngineError| desk::complain(file, &cause.sentence());
    let Entered { mut end, library } = enter(&order).inspect_err(complain)?;
    let rank = end.rank();
    if rank == 0 {
        desk::tell_library(file, &library)?;
    }
    let ended = match place(rank, end.ranks(), &order) {
        Ok(()) => life::run((kernel, order.job.class), &mut *end),
        Err(cause) => not_run(&cause),
    };
    let number = u32::try_from(rank).unwrap_or(u32::MAX);
    let ended = Ended { sample: RankSample { rank: number, ..ended.sample }, ..ended };
    desk::tell(file, &ended)?;
    if ended.sample.failure.is_none() {
        return Ok(true);
    }
    // The others may be gone, or wait for this one: what an end does at its end would never come back.
    std::mem::forget(end);
    if ended.how == How::Stopped {
        wait_for_the_others(file, order.start.ranks);
    }
    Ok(false)
}

fn enter(order: &Order) -> Result<Entered, EngineError> {
    let RanksAre::Processes(layer) = super::layer_of(&order.job)?.ranks() else {
        let name = &order.job.layer;
        return Err(EngineError::Refused(format!("a rank over {name} is a thread, no process")));
    };
    let stop = Arc::<AtomicBool>::default();
    process::note_termination(&stop)?;
    let (wait, patience) = (order.job.wait, order.patience);
    layer.end(&order.start, &Terms { wait, patience, stop, kept_limit: Terms::KEPT })
}

/// Stays on the CPUs of this rank.
fn place(rank: usize, ranks: usize, order: &Order) -> Result<(), EngineError> {
    let wanted = order.start.ranks;
    let cpus = order.cpus.get(rank).filter(|_| ranks == wanted).ok_or_else(|| {
        EngineError::Refused(format!(
            "started as rank {rank} of {ranks} where {wanted} are wanted: the launcher is not that of the library"
        ))
    })?;
    let illegal = |cause: cpu::CpuListError| EngineError::Refused(cause.to_string());
    let cpus: CpuSet = cpus.parse().map_err(illegal)?;
    Ok(cpu::pin(&cpus)?)
}

fn not_run(cause: &EngineError) -> Ended {
    let failure = Some(cause.sentence());
    Ended { sample: RankSample { failure, ..RankSample::default() }, how: How::Returned }
}

/// A launcher kills the others once one of them ends with a failure; who was told to end tells first.
fn wait_for_the_others(file: &Path, ranks: usize) {
    let deadline = now().saturating_add(OTHERS);
    while !desk::have_told(file, ranks) && now() < deadline {
        thread::sleep(TURN);
    }
}

const TURN: Duration = Duration::from_millis(5);
/// Ranks notice within a tenth of a second that they should end.
const OTHERS: Nanos = Nanos::from_millis(500);
