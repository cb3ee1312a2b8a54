//! Layers whose ranks are processes: a launcher of the layer's own starts them.

use std::ffi::OsString;
use std::fmt::Debug;
use std::path::PathBuf;
use std::process::Command;

use btu_core::app::endpoint::Endpoint;
use serde::Deserialize;
use serde::Serialize;

use super::Terms;
use crate::error::EngineError;

/// A layer whose ranks are processes, each of which executes this program again.
///
/// The launching side asks for the command of the launcher, runs it, and waits for what each rank leaves in a directory
/// (`app::processes`). When the time is up, every process that executes the words of the start is ended, whoever started
/// it, and so is the launcher with its group. In each rank `end` is called once, before anything else of the layer.
pub trait ProcessLayer: Debug + Sync {
    /// Finds out whether ranks can be started here; nothing is started.
    ///
    /// # Errors
    /// What is lacking, and how to get it.
    fn is_there(&self) -> Result<(), EngineError>;

    /// How its ranks are started here, for readers of results: programs, and variables that are set for them.
    fn disclosed(&self) -> String;

    /// The launcher with its arguments: it executes the words of the start once for each rank, and ends after the last
    /// of them. Standard streams and group of processes are set by whoever runs it.
    ///
    /// # Errors
    /// There is none.
    fn launcher(&self, start: &Start) -> Result<Command, EngineError>;

    /// In a rank: its end of the layer. Dropped after the kernel came to its end, never after a failure: what an end does
    /// then may wait for ranks that are gone.
    ///
    /// # Errors
    /// The library is not there, or this process was not started by its launcher.
    fn end(&self, start: &Start, terms: &Terms) -> Result<Entered, EngineError>;
}

/// A process that became a rank.
#[derive(Debug)]
pub struct Entered {
    /// Its end of the layer.
    pub end: Box<dyn Endpoint>,
    /// Which library carries the messages, with its version.
    pub library: String,
}

/// Programs of this name in the directories of `PATH`.
pub(super) fn on_path(name: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&path).map(|directory| directory.join(name));
    all.filter(|program| program.is_file()).collect()
}

/// The start of a launch whose ranks are processes, the same for every rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// What each rank executes: the program, its verb, and the file of its order, in which no other launch has a part.
    pub words: Vec<OsString>,
    /// How many ranks.
    pub ranks: usize,
    /// True where some rank has no CPU of its own.
    pub is_crowded: bool,
}
