//! A testbed whose runs take the time written in them.

use std::cell::Cell as Shared;
use std::path::Path;
use std::rc::Rc;

use btu_control::AloneRun;
use btu_control::CaptureRun;
use btu_control::CellRun;
use btu_control::Progress;
use btu_control::Runner;
use btu_control::Task;
use btu_control::Watcher;
use btu_control::When;
use btu_core::journal::AloneSample;
use btu_core::journal::Record;
use btu_core::run::plan::Choices;
use btu_core::run::plan::Plan;
use btu_core::run::plan::Vocabulary;
use btu_core::sample::ActivitySample;
use btu_core::sample::CaptureSample;
use btu_core::sample::CellSample;
use btu_core::sample::CommSample;
use btu_core::sample::HostSample;
use btu_core::sample::Outcome;
use btu_core::sample::VerificationSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

pub(crate) fn plan(edition: &str) -> Plan {
    let choices = Choices { edition: Some(edition), ..Choices::default() };
    Plan::resolve(&choices, &Vocabulary { activities: &["cpu", "ftp", "io"] }, 7).unwrap()
}

pub(crate) type Spoil = Box<dyn FnMut(&CellRun, &mut CellSample)>;
pub(crate) type SpoilAlone = Box<dyn FnMut(&AloneRun, &mut AloneSample)>;

/// Answers every task; `spoil` may change a cell's sample, `stop_after` interrupts.
pub(crate) struct Simulated {
    pub(crate) clock: Rc<Shared<u64>>,
    pub(crate) cell_time: Nanos,
    pub(crate) spoil: Spoil,
    /// The same of an activity alone.
    pub(crate) spoil_alone: SpoilAlone,
    pub(crate) stop_after: usize,
    pub(crate) tasks: Vec<Task>,
    pub(crate) mismatch: Option<String>,
    /// So many checks find the mismatch.
    pub(crate) busy_checks: usize,
}

impl Simulated {
    pub(crate) fn new() -> Self {
        Self {
            clock: Rc::default(),
            cell_time: Nanos::from_millis(200),
            spoil: Box::new(|_, _| {}),
            spoil_alone: Box::new(|_, _| {}),
            stop_after: usize::MAX,
            tasks: Vec::new(),
            mismatch: None,
            busy_checks: usize::MAX,
        }
    }

    pub(crate) fn watcher(&self) -> Clock {
        Clock { clock: Rc::clone(&self.clock), told: Vec::new() }
    }

    pub(crate) fn cells(&self) -> Vec<&CellRun> {
        let cell = |task: &'_ Task| matches!(task, Task::Cell(_));
        let tasks = self.tasks.iter().filter(|task| cell(task));
        tasks.filter_map(|task| if let Task::Cell(run) = task { Some(run) } else { None }).collect()
    }

    fn spend(&mut self, task: Task, time: Nanos) -> Option<()> {
        if self.tasks.len() >= self.stop_after {
            return None;
        }
        self.tasks.push(task);
        self.clock.set(self.clock.get() + time.count());
        Some(())
    }
}

impl Runner for Simulated {
    fn alone(&mut self, run: &AloneRun) -> Option<AloneSample> {
        self.spend(Task::Alone(run.clone()), Nanos::from_millis(500))?;
        let elapsed_ns = run.calibrate_to.unwrap_or(Nanos::from_millis(500));
        let sample = ActivitySample { units: 100.0, elapsed_ns, ..ActivitySample::default() };
        let elapsed_ns = elapsed_ns + Nanos::from_millis(30);
        let host = HostSample { elapsed_ns, ..HostSample::default() };
        let mut sample = run.sampled(String::new(), sample, host);
        (self.spoil_alone)(run, &mut sample);
        Some(sample)
    }

    fn cell(&mut self, run: &CellRun) -> Option<CellSample> {
        self.spend(Task::Cell(run.clone()), self.cell_time)?;
        let mut sample = sample(run, self.cell_time);
        (self.spoil)(run, &mut sample);
        Some(sample)
    }

    fn capture(&mut self, run: &CaptureRun, _directory: &Path) -> Option<CaptureSample> {
        self.spend(Task::Capture(run.clone()), self.cell_time)?;
        Some(CaptureSample {
            run: sample(&run.run, self.cell_time),
            why: run.why.clone(),
            black_boxes: Vec::new(),
            black_box_hosts: Vec::new(),
            file: None,
            not_captured: "simulated".to_owned(),
        })
    }

    fn verify(&mut self, when: When) -> Option<Vec<VerificationSample>> {
        self.spend(Task::Verify(when), Nanos::from_secs(2))?;
        let checks = self.tasks.iter().filter(|task| matches!(task, Task::Verify(_))).count();
        let found = self.mismatch.clone().filter(|_| checks <= self.busy_checks);
        let mismatches = found.into_iter().collect();
        let when = when.name().to_owned();
        Some(vec![VerificationSample { when, mismatches, ..VerificationSample::default() }])
    }
}

fn sample(run: &CellRun, time: Nanos) -> CellSample {
    CellSample {
        cell: run.cell.clone(),
        pass: run.pass,
        position: run.position,
        attempt: run.attempt,
        started_at: String::new(),
        outcome: Outcome::Complete,
        comm: Some(CommSample {
            elapsed_ns: time,
            bytes: Bytes::new(4_000_000),
            connections: Vec::new(),
        }),
        activity_sample: None,
        emulation: Vec::new(),
        host: HostSample { elapsed_ns: time, ..HostSample::default() },
        invalid: Vec::new(),
        flags: Vec::new(),
    }
}

/// Something else takes half of a CPU.
pub(crate) fn disturb(host: &mut HostSample) {
    host.foreign_cpu_ns = Some(Nanos::new(host.elapsed_ns.count() / 2));
}

pub(crate) struct Clock {
    clock: Rc<Shared<u64>>,
    /// What was told, each with its time.
    pub(crate) told: Vec<(Nanos, Progress)>,
}

impl Watcher for Clock {
    fn begins(&mut self, _task: &Task) {}
    fn kept(&mut self, _record: &Record, progress: &Progress) {
        self.told.push((self.now(), progress.clone()));
    }
    fn now(&self) -> Nanos {
        Nanos::new(self.clock.get())
    }
}
