//! `btu traffic convert`: a scenario in its TOML form.

use super::options::ConvertArgs;
use super::scenario;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

pub(super) fn convert(args: &ConvertArgs) -> Result<Exit, Failure> {
    let scenario = scenario::read(&args.scenario)?;
    output::result(&btu_core::traffic::to_toml(&scenario))?;
    Ok(Exit::Done)
}
