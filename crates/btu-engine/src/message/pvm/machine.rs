//! A rank in the virtual machine of its launch: which task each of the others is.

use std::env;
use std::path::Path;
use std::time::Duration;

use btu_core::units::Nanos;
use btu_sys::pvm::Encoding;
use btu_sys::pvm::Route;
use btu_sys::pvm::Task;
use btu_sys::pvm::TaskId;

use super::daemon::Daemon;
use crate::error::EngineError;
use crate::message::Start;
use crate::message::Terms;

/// The tasks of a launch, seen from one of them. The task leaves before the daemon ends.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) task: Task,
    pub(super) rank: usize,
    /// By rank.
    pub(super) ranks: Vec<TaskId>,
    /// The first rank's.
    _daemon: Option<Daemon>,
}

impl Machine {
    /// Joins: the first rank starts the daemon and, by it, the others.
    pub(super) fn join(start: &Start, route: Route, terms: &Terms) -> Result<Self, EngineError> {
        if env::var_os(SPAWNED).is_some() {
            return Self::spawned(start.ranks, route, terms.patience);
        }
        let daemon = Daemon::start()?;
        let mut task = Task::enroll(route)?;
        let ranks = spawn(&mut task, start)?;
        for other in &ranks[1..] {
            task.send(*other, TABLE, Encoding::Default, &[&bytes(&ranks)])?;
        }
        Ok(Self { task, rank: 0, ranks, _daemon: Some(daemon) })
    }

    /// In a task that the first rank spawned: it is told who the others are.
    fn spawned(count: usize, route: Route, patience: Nanos) -> Result<Self, EngineError> {
        let mut task = Task::enroll(route)?;
        let first = task.parent()?.ok_or_else(|| refused("no task spawned this one"))?;
        if !task.receive(Some(first), TABLE, Duration::from_nanos(patience.count()))? {
            return Err(refused("the first rank told nothing of the others"));
        }
        let mut table = vec![0; count * TaskId::BYTES];
        task.unpack(&mut table)?;
        let ranks = ids(&table);
        let own = task.id()?;
        let rank = ranks.iter().position(|id| *id == own);
        let rank = rank.ok_or_else(|| refused("the first rank did not count this one"))?;
        Ok(Self { task, rank, ranks, _daemon: None })
    }
}

/// Starts every rank but the first, which is this one.
fn spawn(task: &mut Task, start: &Start) -> Result<Vec<TaskId>, EngineError> {
    let mut ranks = vec![task.id()?];
    if let [program, arguments @ ..] = start.words.as_slice()
        && start.ranks > 1
    {
        ranks.extend(task.spawn(Path::new(program), arguments, start.ranks - 1)?);
    }
    Ok(ranks)
}

fn bytes(ranks: &[TaskId]) -> Vec<u8> {
    ranks.iter().flat_map(|id| id.to_bytes()).collect()
}

fn ids(table: &[u8]) -> Vec<TaskId> {
    let (all, _) = table.as_chunks();
    all.iter().map(|bytes| TaskId::from_bytes(*bytes)).collect()
}

fn refused(why: &str) -> EngineError {
    EngineError::Refused(format!("join the virtual machine: {why}"))
}

/// The daemon tells each task that it starts where it listens.
const SPAWNED: &str = "PVMSOCK";
/// The tag of the table of tasks; those of `end` are others.
const TABLE: u32 = i32::MAX.unsigned_abs();
