//! The local testbed as a runner: engine, emulator and probes introduced to each other.

pub(super) mod activities;
mod prober;
mod second;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use btu_control::AloneRun;
use btu_control::CaptureRun;
use btu_control::CellRun;
use btu_control::Runner;
use btu_control::When;
use btu_core::disclosure::Fact;
use btu_core::journal::AloneSample;
use btu_core::journal::Record;
use btu_core::link;
use btu_core::link::ChainSpec;
use btu_core::role::Role;
use btu_core::run::cell::Case;
use btu_core::run::cell::Direction;
use btu_core::run::plan::Plan;
use btu_core::run::verdict;
use btu_core::run::verdict::Verdict;
use btu_core::sample::CaptureSample;
use btu_core::sample::CellSample;
use btu_core::sample::DirectionSample;
use btu_core::sample::HostSample;
use btu_core::sample::Outcome;
use btu_core::sample::VerificationSample;
use btu_core::units::BitRate;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::cellrun;
use btu_engine::cellrun::CellOrder;
use btu_engine::files::Files;
use btu_engine::probe::observe;
use btu_sys::socket::Settings;
use btu_testbed::backend::Threads;
use btu_testbed::local::LocalConfig;
use btu_testbed::local::LocalError;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Path;

use self::activities::Activities;
use super::orders;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::place::timestamp;

/// Three hosts in this process.
pub(crate) struct LocalRunner {
    plan: Plan,
    testbed: LocalTestbed,
    activities: Activities,
    files: Files,
    interrupt: Interrupt,
    emulator_rate: Option<BitRate>,
}

impl LocalRunner {
    /// Makes the testbed. The process must have one thread: it may enter a namespace of its own.
    pub(super) fn new(
        plan: Plan,
        directory: PathBuf,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        crate::privilege::gain()?;
        let testbed = LocalTestbed::new(&config(&plan)).map_err(not_made)?;
        testbed.net(Role::Test).enter().map_err(Failure::environment)?;
        let path = if plan.link.has_line() { Path::Emulated } else { Path::Direct };
        let activities = Activities::new(&plan, &testbed, path, directory)?;
        Ok(Self {
            plan,
            testbed,
            activities,
            files: Files::host(),
            interrupt: interrupt.clone(),
            emulator_rate: None,
        })
    }

    /// How roles, emulator and files were placed.
    pub(super) fn placement(&self) -> BTreeMap<String, Fact> {
        let mut facts = self.testbed.facts().clone();
        facts.extend(self.activities.facts());
        facts
    }

    /// Sets the links of a case up; true where it passes through the emulator.
    fn impair(&self, case: Case, seed: u64) -> Result<bool, anyhow::Error> {
        let chain =
            |direction| ChainSpec::as_given(&self.plan.chain(case, direction), &link::Reader::PLAN);
        let (up, down) = (chain(Direction::Send)?, chain(Direction::Receive)?);
        let emulated = !up.is_empty() || !down.is_empty();
        if emulated {
            let boxes = [Role::Active, Role::Passive];
            self.testbed.impair(&boxes.map(|role| (role, up.clone(), down.clone())), seed)?;
        }
        Ok(emulated)
    }

    /// Runs COMM with or without its load and gathers what was seen.
    fn measure(&self, run: &CellRun, emulated: bool) -> Option<cellrun::CellRun> {
        let path = if emulated { Path::Emulated } else { Path::Direct };
        let near = self.party(Role::Test, path);
        let fars = [Role::Active, Role::Passive].map(|role| self.party(role, path));
        let flows = run.cell.case.flows();
        let mut terms = orders::terms(&self.plan, run, flows, self.interrupt.flag());
        terms.ftp = self.activities.gauge();
        cellrun::run(&CellOrder {
            flows,
            terms,
            near: &near,
            fars: &fars,
            load: orders::load(&self.plan, run, &self.activities),
        })
    }

    /// A host as the engine sees it.
    fn party(&self, role: Role, path: Path) -> Party {
        let black_box = |value| if role == Role::Test { None } else { value };
        let buffer = black_box(self.plan.sockets.black_box_buffer).map(btu_core::units::Bytes::len);
        let clamp = black_box(self.plan.sockets.black_box_window_clamp);
        Party {
            place: place(&self.testbed, role),
            address: self.testbed.address(role, path),
            sockets: Settings {
                send_buffer: buffer,
                receive_buffer: buffer,
                window_clamp: clamp.and_then(|clamp| u32::try_from(clamp.count()).ok()),
                ..Settings::default()
            },
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.flag().load(Ordering::Relaxed)
    }
}

impl Runner for LocalRunner {
    fn alone(&mut self, run: &AloneRun) -> Option<AloneSample> {
        let started_at = timestamp();
        if self.plan.link.has_line() {
            // FTP passes the emulator as well: over links as of an unimpaired case, not those of the
            // cell before. An emulator that refuses says so in the next cell.
            let _ = self.impair(Case::Send, self.plan.seed);
        }
        let place = place(&self.testbed, Role::Test);
        let cancel = self.interrupt.flag();
        let before = observe(&self.files);
        let sample = orders::alone(&self.plan, run, &self.activities, &place, cancel);
        let host = before.finish(&self.files);
        Some(run.sampled(started_at, sample?, host))
    }

    fn cell(&mut self, run: &CellRun) -> Option<CellSample> {
        let started_at = timestamp();
        match self.impair(run.cell.case, self.plan.seed) {
            Ok(emulated) => self.observed(run, emulated, started_at),
            Err(cause) => Some(failed(run, started_at, &format!("{cause:#}"))),
        }
    }

    fn capture(&mut self, run: &CaptureRun, directory: &std::path::Path) -> Option<CaptureSample> {
        second::run(self, run, directory)
    }

    fn verify(&mut self, when: When) -> Option<Vec<VerificationSample>> {
        let samples = prober::verify(&self.plan, &self.testbed, when, self.interrupt.flag())?;
        let rates = samples.iter().cloned().map(Record::Verification).collect::<Vec<_>>();
        self.emulator_rate = verdict::emulator_rate(&rates).or(self.emulator_rate);
        Some(samples)
    }
}

impl LocalRunner {
    /// Runs a cell over links that are set up, and judges what was seen.
    fn observed(&self, run: &CellRun, emulated: bool, started_at: String) -> Option<CellSample> {
        let before = observe(&self.files);
        let measured = self.measure(run, emulated);
        let host = before.finish(&self.files);
        let measured = measured.filter(|_| !self.is_interrupted())?;
        let mut sample = CellSample {
            comm: measured.comm,
            activity_sample: measured.activity,
            host,
            ..sample(run, started_at, measured.outcome)
        };
        if emulated {
            match self.testbed.emulation() {
                Ok(all) => sample.emulation = used(&all, run.cell.case),
                Err(cause) => sample.invalid.push(format!("emulator: {cause}")),
            }
        }
        judge(&mut sample, &self.plan, self.emulator_rate);
        Some(sample)
    }
}

pub(crate) fn not_made(error: LocalError) -> Failure {
    match error {
        LocalError::Namespace(cause) => crate::privilege::refused(cause),
        other => Failure::environment(other),
    }
}

/// Writes into a sample why it must not be scored.
pub(super) fn judge(sample: &mut CellSample, plan: &Plan, emulator_rate: Option<BitRate>) {
    if let Verdict::Invalid(causes) = verdict::run(sample, plan, emulator_rate) {
        sample.invalid.extend(causes);
    }
    sample.invalid.extend(sample.comm.as_ref().and_then(verdict::standstill));
    sample.invalid.extend(sample.host.drift.clone());
}

/// The testbed of a plan. A rate may be a line that both links share, which one thread has to carry.
fn config(plan: &Plan) -> LocalConfig {
    let threads = if plan.has_lines() { Threads::One } else { Threads::PerLink };
    let congestion = plan.sockets.congestion.clone();
    LocalConfig { congestion, threads, placement: plan.placement, ..LocalConfig::default() }
}

/// A host's network and CPUs.
fn place(testbed: &LocalTestbed, role: Role) -> Place {
    Place { role, net: Some(testbed.net(role)), cpus: testbed.cpus(role).clone() }
}

/// The links that a case uses.
fn used(seen: &[DirectionSample], case: Case) -> Vec<DirectionSample> {
    let peers: Vec<String> =
        case.flows().iter().map(|flow| LocalTestbed::link_name(flow.peer)).collect();
    seen.iter().filter(|direction| peers.contains(&direction.link)).cloned().collect()
}

/// A run that could not be made.
pub(super) fn failed(run: &CellRun, started_at: String, reason: &str) -> CellSample {
    sample(run, started_at, Outcome::Failed { reason: reason.to_owned() })
}

/// A sample without measurements yet.
pub(super) fn sample(run: &CellRun, started_at: String, outcome: Outcome) -> CellSample {
    CellSample {
        cell: run.cell.clone(),
        pass: run.pass,
        position: run.position,
        attempt: run.attempt,
        started_at,
        outcome,
        comm: None,
        activity_sample: None,
        emulation: Vec::new(),
        host: HostSample::default(),
        invalid: Vec::new(),
        flags: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use btu_core::run::plan::Choices;
    use btu_core::run::plan::Vocabulary;

    use super::*;

    #[test]
    fn links_that_may_share_a_line_are_carried_by_one_thread() {
        let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
        let threads = |edition| {
            let choices = Choices { edition, ..Choices::default() };
            config(&Plan::resolve(&choices, &words, 1).unwrap()).threads
        };
        assert_eq!(threads(Some("btu-96")), Threads::One);
        assert_eq!(threads(Some("btu-26")), Threads::PerLink);
    }
}
