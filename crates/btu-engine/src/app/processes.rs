//! The launching side of ranks that are processes: starts their launcher, gathers what they tell, leaves none behind.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::process::ExitStatus;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use btu_core::app::sample::Job;
use btu_core::app::sample::RankSample;
use btu_core::units::Nanos;
use btu_sys::process;
use btu_sys::process::Alike;

use super::cpus::Berths;
use super::desk::Desk;
use super::desk::Order;
use super::life::Ended;
use super::life::How;
use super::reason::GRACE;
use super::reason::Reason;
use crate::error::EngineError;
use crate::message::ProcessLayer;
use crate::message::Start;
use crate::time::now;

/// The ranks of a launch, each a process, and their launcher. What is left of them is killed with it.
#[derive(Debug)]
pub(super) struct Company {
    begun: Nanos,
    name: String,
    launcher: Child,
    ended: Option<ExitStatus>,
    ranks: u32,
    alike: Alike,
    desk: Desk,
}

impl Company {
    /// Starts the launcher; the ranks execute `program` with the file of their order behind it.
    pub(super) fn start(
        layer: &dyn ProcessLayer,
        job: &Job,
        berths: &Berths,
        program: &[OsString],
        cap: Nanos,
    ) -> Result<Self, EngineError> {
        let desk = Desk::new()?;
        let words = program.iter().cloned().chain([desk.order().into_os_string()]).collect();
        let (ranks, is_crowded) = (berths.cpus.len(), berths.is_crowded);
        let start = Start { words, ranks, is_crowded };
        let mut command = layer.launcher(&start)?;
        let (said, alike) = (desk.open_talk()?, Alike::of(&start.words));
        let errors = said.try_clone().map_err(EngineError::peer("copy a descriptor"))?;
        command.stdin(Stdio::null()).stdout(said).stderr(errors).process_group(0);
        // What a launcher that is killed leaves there goes with the desk.
        command.env("TMPDIR", desk.path());
        process::dies_with_its_starter(&mut command);
        let cpus = berths.cpus.iter().map(ToString::to_string).collect();
        desk.give(&Order { start, job: job.clone(), patience: cap * 2, cpus })?;
        let name = command.get_program().to_string_lossy().into_owned();
        let begun = now();
        let launcher = command.spawn().map_err(EngineError::peer(format!("start {name}")))?;
        let ranks = job.ranks;
        Ok(Self { begun, name, launcher, ended: None, ranks, alike, desk })
    }

    /// Waits until the launcher has ended, until `cap` has passed, or until `stop` is set; then a little longer.
    pub(super) fn collect(&mut self, cap: Nanos, stop: &AtomicBool) -> Vec<Ended> {
        let why = self.until(self.begun.saturating_add(cap), stop).map(|reason| {
            let never = AtomicBool::new(false);
            self.alike.terminate();
            let _ = self.until(now().saturating_add(GRACE), &never);
            self.alike.kill();
            let _ = self.until(now().saturating_add(TIDYING), &never);
            reason.sentence(cap)
        });
        self.kill();
        self.accounts(why.as_deref())
    }

    /// Which library carried the messages; nothing where the first rank did not come to be one.
    pub(super) fn library(&self) -> Option<String> {
        self.desk.library()
    }

    /// Waits for the launcher (`None`), or until there is a reason to wait no longer.
    fn until(&mut self, deadline: Nanos, stop: &AtomicBool) -> Option<Reason> {
        loop {
            self.ended = self.launcher.try_wait().ok().flatten();
            if self.ended.is_some() {
                return None;
            }
            if let Some(reason) = Reason::of(deadline, stop) {
                return Some(reason);
            }
            thread::sleep(TURN);
        }
    }

    /// Ends whatever is left: the launcher with its group, and ranks that left the group.
    fn kill(&mut self) {
        if self.ended.is_none() {
            process::kill_group(self.launcher.id());
            self.ended = self.launcher.wait().ok();
        }
        self.alike.kill();
    }

    fn accounts(&self, why: Option<&str>) -> Vec<Ended> {
        let told: Vec<Option<Ended>> = (0..self.ranks).map(|rank| self.desk.told(rank)).collect();
        let first = told.iter().flatten().find_map(|one| {
            let failure = one.sample.failure.as_ref().filter(|_| one.how == How::Returned)?;
            Some(format!("rank {} is gone: {failure}", one.sample.rank))
        });
        let reason = why.map(str::to_owned).or(first).unwrap_or_else(|| self.silence());
        let lived_ns = now().since(self.begun);
        let account = |(rank, told): (u32, Option<Ended>)| match told {
            Some(one) if one.how == How::Returned => one,
            Some(Ended { sample, how }) => {
                Ended { sample: RankSample { failure: Some(reason.clone()), ..sample }, how }
            }
            None => {
                let failure = Some(reason.clone());
                let sample = RankSample { rank, lived_ns, failure, ..RankSample::default() };
                Ended { sample, how: How::Stopped }
            }
        };
        (0..).zip(told).map(account).collect()
    }

    /// Why a rank told nothing, as far as its launcher says.
    fn silence(&self) -> String {
        if let Some(complaint) = self.desk.complaint() {
            return complaint;
        }
        let (name, how) = (&self.name, self.ended.map_or_else(String::new, how));
        let said = self.desk.talk();
        let lines = said.lines().map(str::trim).filter(|line| line.contains(char::is_alphabetic));
        match lines.take(LINES).collect::<Vec<_>>().join(" / ") {
            said if said.is_empty() => format!("it told nothing; {name} {how}"),
            said => format!("it told nothing; {name} {how}, and said: {said}"),
        }
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        self.kill();
    }
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, signal) => format!("was ended by signal {}", signal.unwrap_or_default()),
    }
}

/// What a launcher is given after the end of its ranks: one that is killed leaves their shared memory behind.
const TIDYING: Nanos = Nanos::from_millis(1000);
/// How soon the end of a launch is noticed: no rank is measured any more by then.
const TURN: Duration = Duration::from_millis(10);
/// Of what a launcher says, so many lines are told.
const LINES: usize = 4;
