//! One rank of a launch whose ranks are processes: this program, started by the launcher of a message layer.

use std::ffi::OsString;
use std::path::PathBuf;

use btu_core::app::kernel;
use btu_engine::app::live;

use crate::exit::Exit;
use crate::exit::Failure;

/// Options of `btu app rank`.
#[derive(Debug, clap::Args)]
pub(crate) struct RankArgs {
    /// The file that says what is run
    order: PathBuf,
}

/// Runs the verb.
pub(super) fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    let is_whole = live(&args.order, kernel::by_name).map_err(Failure::environment)?;
    Ok(if is_whole { Exit::Done } else { Exit::Incomplete })
}

/// What each rank executes before the file of its order; nothing where the file of this program cannot be told.
pub(super) fn program() -> Vec<OsString> {
    let words = |own: PathBuf| [own.into_os_string(), "app".into(), "rank".into()].into();
    std::env::current_exe().map(words).unwrap_or_default()
}
