//! Getting back an agent that was lost in the middle of a run.

use std::collections::BTreeMap;

use anyhow::anyhow;
use btu_control::client::Fault;
use btu_core::disclosure::Fact;
use btu_core::role::Role;
use btu_engine::Place;

use super::RemoteRunner;
use super::hosts;
use crate::conductor::Retries;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::first_part::placed_as_before;
use crate::output;
use crate::run::local::activities::Activities;

impl RemoteRunner {
    /// Gives all agents' time back and asks for it again, as long as the user's patience lasts.
    pub(super) fn reach_again(&mut self, role: Role, fault: &Fault) -> Result<(), Failure> {
        let name = self.boxes.get(&role).map_or_else(String::new, |one| one.agent.name.clone());
        output::message(&format!("agent {name} is lost ({fault}); the run will be repeated"));
        // Half of a reservation is of no use, and others may wait for it.
        let before = hosts::facts(&self.plan, &self.boxes);
        self.boxes.clear();
        let mut retries = Retries::new(self.hosts.patience, self.interrupt.flag());
        let mut is_said = false;
        loop {
            match self.try_again(&before) {
                Ok(()) => return Ok(()),
                Err(failure) if retries.are_over() => return Err(failure),
                // Somebody is there, and not as before: it may be set back.
                Err(failure) if is_of_another(&failure) && !is_said => {
                    output::message(&told(&failure));
                    is_said = true;
                }
                Err(_not_yet) => {}
            }
            self.hosts.still_waits(&name);
            retries.wait(&|| ());
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

/// True where an agent is not as it was, or another host has its address.
fn is_of_another(failure: &Failure) -> bool {
    let fault = failure.cause.downcast_ref::<Fault>();
    failure.exit == Exit::Usage || matches!(fault, Some(Fault::Stranger(_)))
}

/// A failure with its remedy, in one line.
pub(super) fn told(failure: &Failure) -> String {
    let remedy = failure.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("{:#}{remedy}", failure.cause)
}
