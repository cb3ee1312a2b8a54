//! Decides what runs next: verification, passes, repeats, the end. Pure: time is an argument.

mod captures;
mod ledger;
mod progress;
mod task;

use std::collections::VecDeque;

use btu_core::journal::AloneSample;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::cell::ActivityName;
use btu_core::run::cell::Cell;
use btu_core::run::plan::Plan;
use btu_core::run::plan::StepTimes;
use btu_core::run::plan::Work;
use btu_core::run::schedule::Slot;
use btu_core::run::schedule::Step;
use btu_core::sample::CaptureSample;
use btu_core::sample::CellSample;
use btu_core::sample::HostSample;
use btu_core::sample::VerificationSample;
use btu_core::units::Nanos;

use captures::Captures;
use ledger::Ledger;
use progress::Outlook;
pub use progress::Progress;
use progress::Stage;
pub use progress::TimeLeft;
pub use task::AloneRun;
pub use task::CaptureRun;
pub use task::CellRun;
pub use task::Task;
pub use task::When;

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An activity ran alone.
    Alone(Box<AloneSample>),
    /// A cell was run again with capture.
    Captured(Box<CaptureSample>),
    /// A cell was run.
    Cell(Box<CellSample>),
    /// The user or the system asked for an early end.
    Interrupted,
    /// The run begins, or goes on after a resume.
    Started,
    /// The emulation was checked.
    Verified(Vec<VerificationSample>),
}

/// What is to be done, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Append a line to the journal and make it durable.
    Append(Box<Record>),
    /// The run is over.
    Finish(Ending),
    /// Run something and come back with its event.
    Run(Task),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every pass is done.
    Complete,
    /// The emulation does not do what the plan asks.
    EmulationMismatch(Vec<String>),
    /// Stopped early; can be resumed.
    Interrupted,
}

/// The conductor of one run.
#[derive(Debug)]
//= maly1996#4.3
pub struct Conductor {
    plan: Plan,
    times: StepTimes,
    ledger: Ledger,
    pass: u32,
    /// What is left of the pass.
    queue: VecDeque<Slot>,
    /// The last that was taken from there.
    running: Option<Slot>,
    started: Nanos,
    /// What the runs took that the journal held at the start.
    spent: Nanos,
    /// When the first step began; `None` while the emulation is checked.
    first_step: Option<Nanos>,
    /// The repeat that was due when the run was cut short.
    due: Option<Task>,
    checks: u32,
    /// The last pass is over.
    passed: bool,
    captures: Option<Captures>,
    ended: bool,
}

impl Conductor {
    /// A conductor that repeats nothing of what `records` hold already, and for which the time of these
    /// is spent: who cuts a run short and goes on has no more passes and repeats than who does not.
    pub fn new(plan: Plan, records: Vec<Record>, now: Nanos) -> Self {
        let ledger = Ledger::new(records);
        let mut made = Self {
            pass: 0,
            queue: VecDeque::new(),
            running: None,
            started: now,
            spent: ledger.spent(&plan),
            first_step: None,
            due: None,
            checks: 0,
            passed: false,
            captures: None,
            ended: false,
            times: plan.step_times(),
            plan,
            ledger,
        };
        made.due = match made.ledger.last_run().cloned() {
            Some(Record::Alone(sample)) => made.alone_again(&sample),
            Some(Record::Cell(sample)) => made.cell_again(&sample),
            _ => None,
        };
        made
    }

    /// Takes what happened and says what to do. After [`Action::Finish`] nothing more is said.
    pub fn handle(&mut self, now: Nanos, event: Event) -> Vec<Action> {
        if self.ended {
            return Vec::new();
        }
        let mut actions = Vec::new();
        match event {
            Event::Started if self.plan.emulates() => actions.push(verify(When::Before)),
            Event::Started => self.next(now, &mut actions),
            Event::Interrupted => self.finish(Ending::Interrupted, &mut actions),
            Event::Verified(samples) => self.verified(now, samples, &mut actions),
            Event::Alone(sample) => {
                let again = self.alone_again(&sample);
                self.measured(now, Record::Alone(*sample), again, &mut actions);
            }
            Event::Cell(sample) => {
                let again = self.cell_again(&sample);
                self.measured(now, Record::Cell(sample), again, &mut actions);
            }
            Event::Captured(sample) => {
                self.keep(Record::Capture(sample), &mut actions);
                self.capture(now, &mut actions);
            }
        }
        actions
    }

    /// How far the run is.
    pub fn progress(&self, now: Nanos) -> Progress {
        let running = self.running.iter().filter(|slot| !self.holds(slot));
        let stage = match &self.captures {
            Some(captures) => Stage::Captures { left: captures.time_left(now) },
            None if self.passed => Stage::Check,
            None => Stage::Passes,
        };
        let spent = |began| now.since(began).saturating_add(self.spent);
        let outlook = Outlook {
            plan: &self.plan,
            times: &self.times,
            ledger: &self.ledger,
            pass: self.pass,
            waiting: running.chain(&self.queue).map(|slot| &slot.step).collect(),
            elapsed: self.elapsed(now),
            in_passes: self.first_step.map_or(self.spent, spent),
            allowance: self.allowance(),
            stage: if self.ended { Stage::Ended } else { stage },
        };
        outlook.progress()
    }

    /// The cells that were due for a second run and have none: of a complete run, those for which
    /// there was no time.
    pub fn not_run_again(&self) -> Vec<&Cell> {
        self.captures.iter().flat_map(Captures::left).collect()
    }

    fn verified(
        &mut self,
        now: Nanos,
        samples: Vec<VerificationSample>,
        actions: &mut Vec<Action>,
    ) {
        let before = samples.iter().any(|sample| sample.when == Journal::BEFORE);
        let wrong: Vec<String> = samples.iter().flat_map(|s| s.mismatches.clone()).collect();
        self.checks += 1;
        for sample in samples {
            self.keep(Record::Verification(sample), actions);
        }
        match (wrong.is_empty(), before) {
            // A busy moment of the machine is no lie of the emulator: it has to be wrong each time.
            (false, true) if self.checks < MOST_CHECKS => actions.push(verify(When::Before)),
            (false, true) => self.finish(Ending::EmulationMismatch(wrong), actions),
            (_, true) => self.next(now, actions),
            (_, false) => self.capture(now, actions),
        }
    }

    /// Keeps a run, and makes its repeat where that is due.
    fn measured(
        &mut self,
        now: Nanos,
        record: Record,
        again: Option<Task>,
        actions: &mut Vec<Action>,
    ) {
        self.keep(record, actions);
        match again {
            Some(task) => actions.push(Action::Run(task)),
            None => self.next(now, actions),
        }
    }

    /// The repeat of a cell, if it is due.
    fn cell_again(&mut self, sample: &CellSample) -> Option<Task> {
        let worth = Worth::of(sample.is_void(), Some(&sample.host));
        let step = Step::Cell(sample.cell.clone());
        self.may_repeat(sample.attempt, worth, &step)?;
        let slot = Slot { pass: sample.pass, position: sample.position, step };
        Some(Task::Cell(self.cell_run(&slot, sample.cell.clone(), sample.attempt + 1)))
    }

    /// The repeat of an activity alone, if it is due: every slowdown of its pass hangs on it.
    fn alone_again(&mut self, sample: &AloneSample) -> Option<Task> {
        let worth = Worth::of(sample.is_void(), sample.host.as_ref());
        let step = Step::Alone(sample.activity.clone());
        self.may_repeat(sample.attempt, worth, &step)?;
        let slot = Slot { pass: sample.pass, position: sample.position, step };
        Some(Task::Alone(self.alone_run(&slot, &sample.activity, sample.attempt + 1)))
    }

    /// Whether a repeat is due and the allowance has room for it: once where a run was invalid, failed or
    /// disturbed. Half is kept for runs that do not count: one that was disturbed does. How long the run took that
    /// went wrong says nothing of its repeat: the program may have stood still.
    fn may_repeat(&self, attempt: u32, worth: Worth, step: &Step) -> Option<()> {
        let kept = match worth {
            Worth::Calm => return None,
            Worth::Disturbed => Nanos::new(self.plan.repeat_allowance.count() / 2),
            Worth::Void => Nanos::ZERO,
        };
        let needed = self.times.of(step).saturating_add(kept);
        (attempt == 1 && needed <= self.allowance()).then_some(())
    }

    /// What is left for repeats.
    fn allowance(&self) -> Nanos {
        self.plan.repeat_allowance.since(self.ledger.repeats(&self.plan))
    }

    /// Starts the next step that the journal does not hold yet, the next pass, or the end.
    fn next(&mut self, now: Nanos, actions: &mut Vec<Action>) {
        self.first_step.get_or_insert(now);
        if let Some(task) = self.due.take() {
            actions.push(Action::Run(task));
            return;
        }
        while self.queue.is_empty() && self.another_pass(now) {
            self.pass += 1;
            let slots = self.plan.pass_order(self.pass).into_iter();
            self.queue = slots.filter(|slot| !self.holds(slot)).collect();
        }
        self.running = self.queue.pop_front();
        if let Some(slot) = &self.running {
            actions.push(Action::Run(self.task(slot)));
            return;
        }
        self.passed = true;
        if self.plan.emulates() {
            actions.push(verify(When::After));
        } else {
            self.capture(now, actions);
        }
    }

    /// Starts the next second run, or the end. All that is scored is measured by now.
    fn capture(&mut self, now: Nanos, actions: &mut Vec<Action>) {
        let (plan, ledger) = (&self.plan, &self.ledger);
        let captures = self.captures.get_or_insert_with(|| Captures::due(plan, ledger, now));
        let Some((number, due)) = captures.next(now) else {
            return self.finish(Ending::Complete, actions);
        };
        let slot = Slot { pass: 0, position: number, step: Step::Cell(due.cell.clone()) };
        let run = self.cell_run(&slot, due.cell, 1);
        actions.push(Action::Run(Task::Capture(CaptureRun { run, why: due.why })));
    }

    fn task(&self, slot: &Slot) -> Task {
        match &slot.step {
            Step::Alone(activity) => Task::Alone(self.alone_run(slot, activity, 1)),
            Step::Cell(cell) => Task::Cell(self.cell_run(slot, cell.clone(), 1)),
        }
    }

    /// True where the journal has the step of this slot.
    fn holds(&self, slot: &Slot) -> bool {
        match &slot.step {
            Step::Alone(activity) => self.ledger.alone(activity, slot.pass).is_some(),
            Step::Cell(cell) => self.ledger.is_measured(cell, slot.pass),
        }
    }

    fn alone_run(&self, slot: &Slot, activity: &ActivityName, attempt: u32) -> AloneRun {
        let calibrated = self.plan.work == Work::Calibrated;
        AloneRun {
            activity: activity.clone(),
            pass: slot.pass,
            position: slot.position,
            attempt,
            calibrate_to: calibrated.then(|| self.ledger.baseline_time(slot.pass)).flatten(),
        }
    }

    fn cell_run(&self, slot: &Slot, cell: Cell, attempt: u32) -> CellRun {
        let calibrated = self.plan.work == Work::Calibrated;
        // A second run belongs to no pass: it does the work of the last one.
        let pass = if slot.pass == 0 { self.pass } else { slot.pass };
        let alone = calibrated.then(|| self.ledger.alone(&cell.activity, pass)).flatten();
        let units = alone.map(|alone| alone.sample.units);
        CellRun {
            pass: slot.pass,
            position: slot.position,
            attempt,
            // What did nothing alone is asked for no amount: it runs at full rate beside COMM.
            fixed_units: units.filter(|units| *units > 0.0),
            cell,
        }
    }

    /// The stop rule: the least number of passes, then more while the score is not yet sure and
    /// the next pass fits into the budget.
    fn another_pass(&self, now: Nanos) -> bool {
        let rule = &self.plan.passes;
        if self.pass < rule.min || self.pass < self.ledger.last_pass() {
            return true;
        }
        if self.ledger.is_past_the_passes() {
            return false;
        }
        let elapsed = self.elapsed(now);
        let per_pass = Nanos::new(elapsed.count() / u64::from(self.pass.max(1)));
        let fits = elapsed.saturating_add(per_pass) <= self.plan.pass_budget();
        self.pass < rule.max && fits && !self.ledger.is_settled(&self.plan)
    }

    /// The time of this run, its earlier parts included.
    fn elapsed(&self, now: Nanos) -> Nanos {
        now.since(self.started).saturating_add(self.spent)
    }

    fn keep(&mut self, record: Record, actions: &mut Vec<Action>) {
        self.ledger.keep(record.clone());
        actions.push(Action::Append(Box::new(record)));
    }

    fn finish(&mut self, ending: Ending, actions: &mut Vec<Action>) {
        self.ended = true;
        actions.push(Action::Finish(ending));
    }
}

/// What a run is worth as it is.
#[derive(Clone, Copy)]
enum Worth {
    /// It counts.
    Calm,
    /// It counts, though something else used the host.
    Disturbed,
    /// It does not count.
    Void,
}

impl Worth {
    fn of(is_void: bool, host: Option<&HostSample>) -> Self {
        match host.and_then(btu_core::run::anomaly::disturbance) {
            _ if is_void => Self::Void,
            Some(_) => Self::Disturbed,
            None => Self::Calm,
        }
    }
}

fn verify(when: When) -> Action {
    Action::Run(Task::Verify(when))
}

/// Checks of the emulation before the first cell, until one holds.
const MOST_CHECKS: u32 = 5;
