//! `btu traffic convert`: a scenario in its TOML form.

use super::options::ConvertArgs;
use super::scenario;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

pub(super) fn convert(args: &ConvertArgs) -> Result<Exit, Failure> {
    let scenario = scenario::read(&args.scenario, None)?;
    let toml = btu_core::traffic::to_toml(&scenario);
    if args.json {
        output::json(&serde_json::json!({ "toml": toml }))?;
    } else {
        output::result(&toml)?;
    }
    Ok(Exit::Done)
}
