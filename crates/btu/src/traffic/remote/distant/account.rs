//! What an agent saw of a job, read from it once the job is over.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use btu_core::role::Role;
use btu_core::units::Nanos;
use btu_engine::EngineError;

use super::super::peers::Peers;
use super::super::peers::misfit;
use super::super::words::Told;
use super::super::words::Word;
use super::SLICE;
use super::patience::Patience;
use btu_engine::time::now;

/// Whose account is read, and how long that may take.
pub(super) struct Account<'a> {
    pub(super) peers: &'a Peers,
    pub(super) role: Role,
    pub(super) job: u32,
    /// What an honest one needs.
    pub(super) longest: usize,
    /// How long the job may stay as it is, now that it has ended here.
    pub(super) patience: Nanos,
    /// Set by whoever wants all to end.
    pub(super) interrupt: &'a AtomicBool,
}

impl Account<'_> {
    /// Its text.
    pub(super) fn read(&self) -> Result<String, EngineError> {
        let length = self.length()?;
        if length > self.longest {
            let most = self.longest;
            return self.refused(&format!("an account of {length} bytes, at most {most} are read"));
        }
        let bytes = u64::try_from(length).unwrap_or(u64::MAX);
        let most = AT_LEAST.saturating_add(Nanos::from_secs(bytes / SLOWEST));
        let end = now().saturating_add(most);
        let (job, mut text) = (self.job, String::new());
        while text.len() < length {
            self.goes_on()?;
            if now() > end {
                return self.refused(&format!("its account took more than {} s", most.seconds()));
            }
            let word = Word::Read { job, from: text.len() };
            let Told::Part { text: part } = self.peers.say(self.role, &word)? else {
                return Err(misfit());
            };
            if part.is_empty() || text.len() + part.len() > length {
                return Err(misfit());
            }
            text.push_str(&part);
        }
        Ok(text)
    }

    /// How long it is, once the job has ended there.
    fn length(&self) -> Result<usize, EngineError> {
        let mut patience = Patience::new(now(), self.patience);
        let end = now().saturating_add(LONGEST_TAIL.max(self.patience));
        loop {
            self.goes_on()?;
            match self.peers.say(self.role, &Word::Ask { job: self.job })? {
                Told::Over { length, .. } => return Ok(length),
                Told::Running { moved_bytes, .. } if now() < end => {
                    patience.sees(now(), moved_bytes).or_else(|reason| self.refused(&reason))?;
                }
                Told::Running { .. } => {
                    let most = LONGEST_TAIL.max(self.patience).seconds();
                    return self.refused(&format!("it goes on {most} s after this host has ended"));
                }
                _ => return Err(misfit()),
            }
            thread::park_timeout(Duration::from(SLICE));
        }
    }

    /// Whoever waits meanwhile is not forgotten, and nobody waits who does not want to.
    fn goes_on(&self) -> Result<(), EngineError> {
        self.peers.feed();
        if self.interrupt.load(Relaxed) { self.refused("interrupted") } else { Ok(()) }
    }

    fn refused<T>(&self, reason: &str) -> Result<T, EngineError> {
        let name = self.peers.name(self.role);
        Err(EngineError::Refused(format!("agent {name}: {reason}")))
    }
}

/// What an account takes however short it is, and bytes per second that every control connection carries.
const AT_LEAST: Nanos = Nanos::from_secs(60);
const SLOWEST: u64 = 4000;
/// How long what was under way may arrive there, once all has ended here: as long as an agent waits for
/// anything.
const LONGEST_TAIL: Nanos = Nanos::from_secs(600);
