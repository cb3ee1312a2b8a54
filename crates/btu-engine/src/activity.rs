//! Host activities: what the test host does besides communicating (maly1996, eq. 1).

mod calibrated;
mod cpu;
mod ftp;
mod idle;
mod io;
mod running;
mod trail;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use btu_core::sample::ActivitySample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::error::EngineError;
use crate::file::ftp::Access;
use crate::place::Place;

pub use calibrated::alone_calibrated;
pub use cpu::Cpu;
pub use ftp::Ftp;
pub use idle::Idle;
pub use io::Io;
pub use io::choose_directory;
pub use running::Running;
pub use running::alone;
pub use running::alone_fixed;
pub(crate) use running::finish_fixed;
pub(crate) use running::sleep;
pub use trail::Trails;

/// Every activity of this build, in the order in which `btu list` shows them.
//= maly1996#4.2 eq. 1
pub static ACTIVITIES: &[&dyn Activity] = &[&Cpu, &Io, &Ftp, &Idle];

/// The activity called `name`.
pub fn by_name(name: &str) -> Option<&'static dyn Activity> {
    ACTIVITIES.iter().copied().find(|activity| activity.name() == name)
}

/// Something that keeps a host busy, in countable units of work.
///
/// To add one: a file with this trait, and a line in [`ACTIVITIES`]. The life of an activity:
///
/// 1. [`Activity::prepare`], once per run of the program: whatever takes time and is not the work
///    itself (files, servers). It refuses what it cannot do, with the remedy.
/// 2. [`Prepared::workers`], once per cell: one per thread, cheap.
/// 3. [`Worker::begin`], in the thread of the worker, at its place, untimed: connections, buffers.
/// 4. [`Worker::step`], again and again until it is told to stop.
///
/// The rate counts inside any window that is named afterwards, because the thread notes after
/// each step how much it has done. What must never happen: a step that returns before its work is
/// done, or one that waits for something that nobody can end (see [`Worker::breaker`]).
pub trait Activity: Debug + Sync {
    /// The name in plans and results.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// Makes everything that the cells of a run share.
    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>, EngineError>;
}

/// An activity that is ready to be started, any number of times.
pub trait Prepared: Debug + Send + Sync {
    /// What one unit of work is, for readers: `1 MiB block read and written`.
    fn unit(&self) -> String;

    /// One worker per thread.
    fn workers(&self) -> Result<Vec<Box<dyn Worker>>, EngineError>;
}

/// One thread's share of an activity.
pub trait Worker: Send {
    /// Gets ready, in the thread that will work, at its place.
    fn begin(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Works for a moment (a millisecond is good) and returns how much of a unit that was.
    fn step(&mut self) -> Result<f64, EngineError>;

    /// Ends a step that waits for another host, from another thread; asked for after `begin`.
    /// The step may then return an error, which nobody reports.
    fn breaker(&self) -> Option<Box<dyn Fn() + Send>> {
        None
    }
}

/// What the activities of a run may need.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The host under test. Activities keep its whole set of CPUs.
    pub place: Place,
    /// Threads of `cpu`; `None` for one per CPU of the place.
    pub cpu_threads: Option<u32>,
    /// The directory of `io`, as [`choose_directory`] found it.
    pub io_directory: PathBuf,
    /// Size of the file that `io` copies.
    pub io_file: Bytes,
    /// Size of one transfer of `ftp`.
    pub ftp_transfer: Bytes,
    /// How to reach an [FTP server](crate::file::ftp::Server) of the active host; `None` without one.
    pub ftp_server: Option<Access>,
}

/// How an activity accompanies COMM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stint {
    /// A fixed amount of work that starts together with COMM, each timed to its own end.
    Fixed {
        /// How many units.
        units: f64,
    },
    /// At full rate from `lead_in` before COMM until after its end; only the work inside counts.
    Steady {
        /// How long it runs before COMM starts.
        lead_in: Nanos,
    },
}

/// True once somebody wants the run to end.
fn is_cancelled(cancel: &AtomicBool) -> bool {
    cancel.load(std::sync::atomic::Ordering::Relaxed)
}

/// A sample without work, for an activity that could not be started.
pub(crate) fn not_started(cause: &EngineError) -> ActivitySample {
    ActivitySample { failures: vec![cause.sentence()], ..ActivitySample::default() }
}
