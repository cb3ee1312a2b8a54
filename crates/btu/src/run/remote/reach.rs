//! Getting back an agent that was lost in the middle of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::anyhow;
use btu_control::client::Fault;
use btu_core::cell::Role;
use btu_core::disclosure::Fact;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_sys::clock;

use super::RemoteRunner;
use super::hosts;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::first_part::placed_as_before;
use crate::output;
use crate::run::local::activities::Activities;

impl RemoteRunner {
    /// Gives all agents' time back and asks for it again, after 0.5, 1, 2 ... 30 s, as long as the
    /// user's patience lasts.
    pub(super) fn reach_again(&mut self, role: Role, fault: &Fault) -> Result<(), Failure> {
        let name = self.boxes.get(&role).map_or_else(String::new, |one| one.agent.name.clone());
        output::message(&format!("agent {name} is lost ({fault}); the run will be repeated"));
        // Half of a reservation is of no use, and others may wait for it.
        let before = hosts::facts(&self.plan, &self.boxes);
        self.boxes.clear();
        let end = now().saturating_add(self.hosts.patience);
        let (mut pause, mut is_said) = (FIRST_PAUSE, false);
        loop {
            match self.try_again(&before) {
                Ok(()) => return Ok(()),
                Err(failure) if self.is_interrupted() || now() >= end => return Err(failure),
                // It is there, and not as it was: somebody may set it back.
                Err(failure) if failure.exit == Exit::Usage && !is_said => {
                    output::message(&told(&failure));
                    is_said = true;
                }
                Err(_not_yet) => {}
            }
            self.hosts.still_waits(&name);
            let until = now().saturating_add(pause).min(end);
            while now() < until && !self.is_interrupted() {
                std::thread::park_timeout(Duration::from(until.since(now()).min(SLICE)));
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Takes agents that are as they were: what the result says of them holds for all of its runs.
    fn try_again(&mut self, before: &BTreeMap<String, Fact>) -> Result<(), Failure> {
        if self.hosts.interrupt().flag().load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Failure::agent(anyhow!("interrupted")));
        }
        let mut boxes = self.hosts.reserve(&self.plan)?;
        hosts::emulated_as_before(&self.plan, &boxes)?;
        placed_as_before(before, &hosts::facts(&self.plan, &boxes))?;
        let access = hosts::ftp_server(&self.plan, &mut boxes)?;
        if access.is_some() {
            let place = Place::here(Role::Test);
            let directory = self.directory.clone();
            self.activities = Activities::prepared(&self.plan, place, directory, access)?;
        }
        self.boxes = boxes;
        Ok(())
    }
}

/// A failure with its remedy, in one line.
pub(super) fn told(failure: &Failure) -> String {
    let remedy = failure.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("{:#}{remedy}", failure.cause)
}

fn now() -> Nanos {
    Nanos::new(clock::monotonic_ns())
}

const FIRST_PAUSE: Nanos = Nanos::from_millis(500);
const LONGEST_PAUSE: Nanos = Nanos::from_secs(30);
/// How often somebody who waits looks whether waiting is wanted.
const SLICE: Nanos = Nanos::from_millis(100);
