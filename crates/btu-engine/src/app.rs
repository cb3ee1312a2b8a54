//! Launches of parallel applications: each rank a thread of this process, or a process of its own where its layer wants that.

mod cpus;
mod crew;
mod desk;
mod doubts;
mod left;
mod life;
mod processes;
mod rank;
mod reason;
mod trial;

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::app::kernel::Kernel;
use btu_core::app::sample::Job;
use btu_core::app::sample::RankSample;
use btu_core::sample::Flag;
use btu_core::sample::HostSample;
use btu_core::units::Nanos;

use crate::error::EngineError;
use crate::files::Files;
use crate::message;
use crate::message::MessageLayer;
use crate::message::RanksAre;
use crate::message::Seat;
use crate::message::Terms;
use crate::message::ThreadLayer;
use crate::probe::observe;
use cpus::Berths;
use crew::Crew;
use left::LEFT;
use life::Ended;
use processes::Company;

pub use doubts::LEFT_BEHIND;
pub use rank::live;
pub use trial::attempt;

/// What came of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// Each rank, in their order.
    pub ranks: Vec<RankSample>,
    /// The machine around the launch; `None` where it could not be watched.
    pub host: Option<HostSample>,
    /// How many CPUs the ranks could use.
    pub cpus: u32,
    /// What a reader should know of the launch: [`Flag::OVERSUBSCRIBED`], [`LEFT_BEHIND`].
    pub flags: Vec<Flag>,
    /// Which library carried the messages; `None` of a layer of this program.
    pub library: Option<String>,
}

/// Runs a kernel with a rank in each seat; what becomes of a rank is part of the result.
///
/// It returns within two seconds after `cap`, and after `stop` was set, whatever the ranks do, within three where they are
/// processes. Where there are no fewer CPUs than ranks, each rank has one of its own: ranks that an earlier launch left
/// behind are waited for first, as long as `cap` at most.
///
/// Ranks that are processes execute `program`, whose last word is the file of their order, and [`live`]. A kernel that
/// `program` does not find by its name is none of theirs.
///
/// # Errors
/// There is no such layer, it cannot join these seats, a thread cannot be started, or a rank that was left behind still
/// computes.
pub fn launch(
    kernel: &'static dyn Kernel,
    job: &Job,
    seats: &[Seat],
    cap: Nanos,
    stop: &Arc<AtomicBool>,
    program: &[OsString],
) -> Result<Launched, EngineError> {
    let layer = layer_of(job)?;
    check(kernel, layer, seats, program)?;
    // Channels between all ranks are descriptors by the square of them: 33 ranks have more than the usual 1024.
    btu_sys::limit::raise_descriptors()?;
    LEFT.wait(cap, stop)?;
    let berths = Berths::of(seats)?;
    let watched = seats[0].inside(|| Ok(observe(&Files::host()))).ok();
    let (ended, library) = match layer.ranks() {
        RanksAre::Processes(layer) => {
            let mut company = Company::start(layer, job, &berths, program, cap)?;
            (company.collect(cap, stop), company.library())
        }
        RanksAre::Threads(layer) => {
            (threads_of(layer, (kernel, job), seats, &berths, cap, stop)?, None)
        }
    };
    let host =
        watched.and_then(|before| seats[0].inside(move || Ok(before.finish(&Files::host()))).ok());
    let flags = doubts::of(&ended, &berths);
    let ranks = ended.into_iter().map(|one| one.sample).collect();
    Ok(Launched { ranks, host, cpus: berths.count, flags, library })
}

fn threads_of(
    layer: &dyn ThreadLayer,
    (kernel, job): (&'static dyn Kernel, &Job),
    seats: &[Seat],
    berths: &Berths,
    cap: Nanos,
    stop: &AtomicBool,
) -> Result<Vec<Ended>, EngineError> {
    let over = Arc::<AtomicBool>::default();
    let terms = Terms {
        wait: job.wait,
        // Time that is up ends all ranks for the same reason; patience would end one first, and the others for its end.
        patience: cap * 2,
        stop: Arc::clone(&over),
        kept_limit: Terms::KEPT,
    };
    let ends = layer.join(seats, &terms)?;
    Ok(Crew::start((kernel, job.class), seats, berths, ends, over)?.collect(cap, stop))
}

fn layer_of(job: &Job) -> Result<&'static dyn MessageLayer, EngineError> {
    let unknown = || EngineError::Refused(format!("there is no message layer \"{}\"", job.layer));
    let layer = message::by_name(&job.layer).ok_or_else(unknown)?;
    if layer.waits().contains(&job.wait) {
        return Ok(layer);
    }
    let (name, wait) = (layer.name(), job.wait);
    Err(EngineError::Refused(format!("a rank over {name} cannot wait by \"{wait}\"")))
}

fn check(
    kernel: &dyn Kernel,
    layer: &dyn MessageLayer,
    seats: &[Seat],
    program: &[OsString],
) -> Result<(), EngineError> {
    let (name, legal) = (kernel.name(), kernel.legal());
    if seats.is_empty() || !kernel.takes(seats.len()) {
        let count = seats.len();
        return Err(EngineError::Refused(format!("{name} on {count} ranks; it takes {legal}")));
    }
    let role = seats[0].place.role;
    match seats.iter().find(|seat| seat.place.role != role) {
        Some(other) if !layer.spans_hosts() => Err(EngineError::Refused(format!(
            "{} joins ranks of one host, and these are on {role} and {}; tcp joins them",
            layer.name(),
            other.place.role
        ))),
        _ => check_of_processes(layer, seats, program),
    }
}

/// A launcher starts its ranks where it is itself, and they are a program.
fn check_of_processes(
    layer: &dyn MessageLayer,
    seats: &[Seat],
    program: &[OsString],
) -> Result<(), EngineError> {
    let RanksAre::Processes(_) = layer.ranks() else { return Ok(()) };
    let lack = if seats.iter().any(|seat| seat.place.net.is_some()) {
        "they are in the network of this process alone"
    } else if program.is_empty() {
        "there is no program for them"
    } else {
        return Ok(());
    };
    let name = layer.name();
    Err(EngineError::Refused(format!("ranks over {name} are processes, and {lack}")))
}
