//! The loop between conductor, testbed and journal.

use std::path::Path;

use btu_core::journal::AloneSample;
use btu_core::journal::Record;
use btu_core::manifest::Signature;
use btu_core::role::Role;
use btu_core::sample::CaptureSample;
use btu_core::sample::CellSample;
use btu_core::sample::VerificationSample;
use btu_core::units::Nanos;

use crate::Action;
use crate::AloneRun;
use crate::CaptureRun;
use crate::CellRun;
use crate::Conductor;
use crate::Ending;
use crate::Event;
use crate::JournalDir;
use crate::JournalError;
use crate::Progress;
use crate::Task;
use crate::When;

/// Who runs things: the local testbed, or agents on real hosts. `None` = interrupted meanwhile.
pub trait Runner {
    /// Runs an activity without COMM.
    fn alone(&mut self, run: &AloneRun) -> Option<AloneSample>;
    /// Runs a cell and judges what it saw.
    fn cell(&mut self, run: &CellRun) -> Option<CellSample>;
    /// Runs a cell once more and writes its packets to a file below `directory`, the result's. What
    /// keeps the packets from being recorded is part of the sample.
    fn capture(&mut self, run: &CaptureRun, directory: &Path) -> Option<CaptureSample>;
    /// Checks the emulation.
    fn verify(&mut self, when: When) -> Option<Vec<VerificationSample>>;
    /// The signatures of other hosts over what they measured of these records, or why one has none.
    fn signatures(
        &mut self,
        _seed: u64,
        _records: &[Record],
    ) -> Vec<(Role, Result<Signature, String>)> {
        Vec::new()
    }
}

/// Who looks on: progress is told between runs only, never while one lasts.
pub trait Watcher {
    /// A step begins.
    fn begins(&mut self, task: &Task);
    /// A record was kept.
    fn kept(&mut self, record: &Record, progress: &Progress);
    /// The monotonic time.
    fn now(&self) -> Nanos;
}

/// Runs the conductor to its end. Each record is durable before the next step begins.
///
/// # Errors
/// The journal cannot be written; what it holds up to then is whole.
pub fn drive(
    conductor: &mut Conductor,
    runner: &mut dyn Runner,
    journal: &mut JournalDir,
    watcher: &mut dyn Watcher,
) -> Result<Ending, JournalError> {
    let mut event = Event::Started;
    loop {
        let mut next = None;
        for action in conductor.handle(watcher.now(), event) {
            match action {
                Action::Append(record) => {
                    journal.append(&record)?;
                    watcher.kept(&record, &conductor.progress(watcher.now()));
                }
                Action::Finish(ending) => return Ok(ending),
                Action::Run(task) => next = Some(task),
            }
        }
        event = match next {
            Some(task) => {
                watcher.begins(&task);
                perform(&task, runner, journal.path())
            }
            None => Event::Interrupted,
        };
    }
}

/// Runs one task; an interrupted one leaves no record.
fn perform(task: &Task, runner: &mut dyn Runner, directory: &Path) -> Event {
    let event = match task {
        Task::Alone(run) => runner.alone(run).map(|sample| Event::Alone(Box::new(sample))),
        Task::Capture(run) => {
            runner.capture(run, directory).map(|sample| Event::Captured(Box::new(sample)))
        }
        Task::Cell(run) => runner.cell(run).map(|sample| Event::Cell(Box::new(sample))),
        Task::Verify(when) => runner.verify(*when).map(Event::Verified),
    };
    event.unwrap_or(Event::Interrupted)
}
