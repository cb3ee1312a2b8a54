//! A file service at work: clients of one host and servers of the other, released together and watched.

mod client;
mod crew;
mod gate;
mod posted;
mod stage;
mod surroundings;
mod way;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::file::sample::Direction;
use btu_core::file::sample::Held;
use btu_core::file::sample::Operation;
use btu_core::file::sample::Trial;
use btu_core::file::sample::TrialSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use self::crew::Crew;
use self::crew::Terms;
use self::posted::Posted;
use self::stage::Prop;
use self::stage::Stage;
use self::surroundings::Surroundings;
use self::way::Way;
use super::Errand;
use super::FileProtocol;
use super::Offer;
use super::Tenure;
use super::by_name;
use super::site::Lodging;
use crate::error::EngineError;
use crate::path::PathSettings;
use crate::place::Party;
use crate::time::now;

/// Two hosts, each of which can have the servers and the clients of a trial.
#[derive(Debug)]
pub struct Service {
    a: Party,
    b: Party,
    /// How long nothing may move of what a client waits for.
    patience: Nanos,
    /// Set by whoever wants everything to end now.
    stop: Arc<AtomicBool>,
    /// This program, for protocols whose servers and clients are processes of their own; `None` where they cannot be.
    pub program: Option<PathBuf>,
    /// How the path is set; `None` where it cannot be.
    pub path: Option<Box<dyn PathSettings>>,
    /// The largest packet that the path was set to.
    mtu: Option<Bytes>,
    /// Where files are on a disk; `None` where they cannot be.
    stage: Option<Stage>,
    /// Servers that stay for the next trial of their place.
    standing: Vec<Posted>,
    /// Where the files of a server of others are, which then stands for host `b`.
    lodging: Option<Lodging>,
}

impl Service {
    /// Between the test host `a` and another one; nothing is served yet.
    pub fn between(a: Party, b: Party, patience: Nanos, stop: Arc<AtomicBool>) -> Self {
        Self {
            a,
            b,
            patience,
            stop,
            program: None,
            path: None,
            mtu: None,
            stage: None,
            standing: Vec::new(),
            lodging: None,
        }
    }

    /// Between this host and a server that somebody else runs. Files that clients retrieve are there before the first trial.
    pub fn abroad(a: Party, lodging: Lodging, patience: Nanos, stop: Arc<AtomicBool>) -> Self {
        let address = lodging.site.address.ip();
        let b = Party { address, ..a.clone() };
        let mut service = Self::between(a, b, patience, stop);
        service.lodging = Some(lodging);
        service
    }

    /// Makes files that are cold or warm below this directory, for the servers of both hosts. They are removed with
    /// the service.
    ///
    /// # Errors
    /// Nothing can be made below it.
    pub fn keep_files_in(&mut self, directory: PathBuf) -> Result<(), EngineError> {
        self.stage = Some(Stage::below(directory)?);
        Ok(())
    }

    /// Whether a protocol is there and has this operation: once, from `a` to `b`.
    ///
    /// # Errors
    /// What the machine or the protocol lacks.
    pub fn try_out(&mut self, protocol: &str, operation: Operation) -> Result<(), EngineError> {
        let seen = self.trial(&Trial { operation, ..small(protocol) });
        let failure = seen.clients.into_iter().find_map(|client| client.failure);
        failure.map_or(Ok(()), |why| Err(EngineError::Refused(why)))
    }

    /// Makes a trial. Whatever happens is in the sample, whose round, position, warm-up and start are the caller's.
    pub fn trial(&mut self, trial: &Trial) -> TrialSample {
        match by_name(&trial.protocol) {
            Some(protocol) => self.trial_of(protocol, trial),
            None => self.failed(trial, &format!("there is no protocol {:?}", trial.protocol)),
        }
    }

    /// The same with a protocol that no list has.
    pub fn trial_of(&mut self, protocol: &'static dyn FileProtocol, trial: &Trial) -> TrialSample {
        let outcome = self.attempt(protocol, trial);
        outcome.unwrap_or_else(|cause| {
            let is_stopped = self.stop.load(Relaxed);
            let why = if is_stopped { STOPPED.to_owned() } else { cause.sentence() };
            self.failed(trial, &why)
        })
    }

    fn attempt(
        &mut self,
        protocol: &'static dyn FileProtocol,
        trial: &Trial,
    ) -> Result<TrialSample, EngineError> {
        refuse_what_cannot_be(protocol, trial)?;
        self.set_mtu(trial.mtu_bytes)?;
        let mut prop = self.prop(trial)?;
        let errand = Errand {
            operation: trial.operation,
            size: trial.size_bytes,
            count: trial.count,
            files: prop.as_ref().map(|prop| prop.names.clone()).unwrap_or_default(),
        };
        let ways = Way::all_of(trial, &self.a, &self.b);
        let posted = self.post(protocol, trial, &ways)?;
        let (program, lodging) = (self.program.as_deref(), self.lodging.as_ref());
        let (patience, stop) = (self.patience, &self.stop);
        let terms = Terms { protocol, errand, program, patience, lodging, stop };
        let mut crew = Crew::hire(&terms, trial.clients, &ways, &posted)?;
        crew.await_sessions();
        if let Some(prop) = &mut prop {
            prop.set(&posted)?;
        }
        let mut sample = self.watch(trial, &mut crew, &posted)?;
        if let Some(host) = sample.host.as_mut().filter(|_| protocol.has_processes()) {
            host.foreign_cpu_ns = None;
        }
        crew.dismiss();
        let (clients, remarks) = crew.told();
        sample.clients = clients;
        sample.flags.extend(remarks);
        sample.flags.extend(prop.and_then(|prop| prop.doubt(&sample.servers)));
        drop(crew);
        if protocol.tenure() == Tenure::WholeService {
            self.standing.extend(posted);
        }
        Ok(sample)
    }

    /// Lets the clients work, and reads what changes meanwhile.
    fn watch(
        &self,
        trial: &Trial,
        crew: &mut Crew<'_>,
        posted: &[Posted],
    ) -> Result<TrialSample, EngineError> {
        let around = Surroundings::before(&self.a, self.b.address, trial.direction)?;
        let before: Vec<_> = posted.iter().map(Posted::usage).collect();
        let released = now();
        let elapsed_ns = crew.work(released).since(released);
        let servers = posted.iter().zip(&before);
        let servers =
            servers.map(|(one, before)| one.sample(before.as_ref(), elapsed_ns)).collect();
        let seen = TrialSample { servers, ..blank(trial) };
        around.after(&self.a, seen)
    }

    /// A server for each way: that of others, one that stayed, or a new one.
    fn post(
        &mut self,
        protocol: &'static dyn FileProtocol,
        trial: &Trial,
        ways: &[Way],
    ) -> Result<Vec<Posted>, EngineError> {
        let lodging = self.lodging.clone();
        let post = |way: &Way| match (&lodging, self.stands(protocol, way)) {
            (Some(lodging), _) => Ok(Posted::of_others(lodging.site.address, way.host)),
            (None, Some(posted)) => Ok(posted),
            (None, None) => self.start(protocol, trial, way),
        };
        ways.iter().map(post).collect()
    }

    fn stands(&mut self, protocol: &dyn FileProtocol, way: &Way) -> Option<Posted> {
        let address = way.server.address.to_canonical();
        let is_it = |one: &Posted| one.serves(protocol.name(), way.host, address);
        let at = self.standing.iter().position(is_it)?;
        Some(self.standing.swap_remove(at))
    }

    fn start(
        &self,
        protocol: &'static dyn FileProtocol,
        trial: &Trial,
        way: &Way,
    ) -> Result<Posted, EngineError> {
        let offer = Offer {
            place: way.server.place.clone(),
            address: way.server.address,
            settings: way.server.sockets.clone(),
            directory: self.stage.as_ref().map(Stage::directory),
            clients: usize::try_from(trial.clients).unwrap_or(usize::MAX),
            program: self.program.clone(),
        };
        Ok(Posted::own(protocol.serve(&offer)?, protocol.name(), way.host))
    }

    /// The files of a trial that has any.
    fn prop(&mut self, trial: &Trial) -> Result<Option<Prop>, EngineError> {
        if !trial.held.is_on_disk() {
            return Ok(None);
        }
        let nowhere = || EngineError::Refused("no directory for files was named".to_owned());
        self.stage.as_mut().ok_or_else(nowhere)?.prop(trial, &self.stop).map(Some)
    }

    fn set_mtu(&mut self, wanted: Option<Bytes>) -> Result<(), EngineError> {
        if wanted == self.mtu {
            return Ok(());
        }
        let fixed = || EngineError::Refused("the MTU of this path cannot be set".to_owned());
        let path = self.path.as_ref().ok_or_else(fixed)?;
        let set = path.set_mtu(wanted);
        self.mtu = wanted.filter(|_| set.is_ok());
        if set.is_err() {
            // One end may have it: the next trial is to find the path as it was.
            let _ = path.set_mtu(None);
        }
        set
    }

    /// A trial that did not begin, for this reason.
    fn failed(&self, trial: &Trial, reason: &str) -> TrialSample {
        let ways = Way::all_of(trial, &self.a, &self.b);
        let clients = crew::absent(trial, &ways, reason);
        TrialSample { clients, ..blank(trial) }
    }
}

impl Drop for Service {
    /// Leaves the path as it was. Where that fails now, it fails for whoever uses it next, who is told.
    fn drop(&mut self) {
        let _ = self.set_mtu(None);
    }
}

fn refuse_what_cannot_be(protocol: &dyn FileProtocol, trial: &Trial) -> Result<(), EngineError> {
    let (name, operation) = (protocol.name(), trial.operation);
    let reason = if !protocol.operations().contains(&operation) {
        format!("{name} has no operation {operation:?}").to_lowercase()
    } else if trial.clients == 0 || trial.count == 0 || trial.size_bytes.is_empty() {
        "a trial without clients, files or bytes measures nothing".to_owned()
    } else if operation != Operation::Stream && times(trial) > MOST_TIMES {
        format!("more than {MOST_TIMES} files or calls of all clients are kept nowhere")
    } else if trial.held.is_on_disk() && operation != Operation::Get {
        "only a file that is retrieved is on a disk".to_owned()
    } else {
        return Ok(());
    };
    Err(EngineError::Refused(reason))
}

fn times(trial: &Trial) -> u64 {
    u64::from(trial.count) * u64::from(trial.clients)
}

/// Each file and call has its time in the sample.
const MOST_TIMES: u64 = 10_000_000;

/// Why a trial has nothing to tell that somebody ended.
const STOPPED: &str = "stopped";

/// A trial of which nothing is known yet.
fn blank(trial: &Trial) -> TrialSample {
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

/// The least that shows whether a protocol works.
fn small(protocol: &str) -> Trial {
    Trial {
        protocol: protocol.to_owned(),
        operation: Operation::Get,
        // Where most files come from: a server that stays is there for them.
        direction: Direction::BToA,
        size_bytes: Bytes::new(1024),
        count: 1,
        clients: 1,
        mtu_bytes: None,
        held: Held::Nowhere,
    }
}
