//! A file service at work: clients of one host and servers of the other, released together and watched.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::file::sample::Operation;
use btu_core::file::sample::Trial;
use btu_core::file::sample::TrialSample;
use btu_core::units::Nanos;

use crate::error::EngineError;
use crate::path::PathSettings;
use crate::place::Party;

/// Two hosts, each of which can have the servers and the clients of a trial.
#[derive(Debug)]
pub struct Service {
    a: Party,
    b: Party,
    /// How long to wait for a connection, and how long nothing may move of what a client does.
    patience: Nanos,
    /// Set by whoever wants everything to end now.
    stop: Arc<AtomicBool>,
    /// How the path is set; `None` where it cannot be.
    pub path: Option<Box<dyn PathSettings>>,
    directory: Option<PathBuf>,
}

impl Service {
    /// Between the test host `a` and another one; nothing is served yet.
    pub fn between(a: Party, b: Party, patience: Nanos, stop: Arc<AtomicBool>) -> Self {
        Self { a, b, patience, stop, path: None, directory: None }
    }

    /// Makes files that are cold or warm in this directory, on the disk of both hosts' servers.
    pub fn keep_files_in(&mut self, directory: PathBuf) {
        self.directory = Some(directory);
    }

    /// Whether a protocol is there and has this operation: once, between the two hosts.
    ///
    /// # Errors
    /// What the machine or the protocol lacks.
    pub fn try_out(&mut self, protocol: &str, operation: Operation) -> Result<(), EngineError> {
        Err(EngineError::Refused(format!("{protocol}: {operation:?} is not there")))
    }

    /// Makes a trial. Whatever happens is in the sample, whose round, position, warm-up and start are the caller's.
    pub fn trial(&mut self, trial: &Trial) -> TrialSample {
        TrialSample {
            trial: trial.clone(),
            round: 0,
            position: 0,
            warm_up: false,
            started_at: String::new(),
            clients: Vec::new(),
            servers: Vec::new(),
            host: None,
            path_mtu_bytes: None,
            offload: None,
            flags: Vec::new(),
        }
    }
}
