//! The verb `pair`: this host and an agent come to know each other.

use btu_control::invite::Invite;

use crate::agent::StateArgs;
use crate::conductor;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::state::KnownAgent;
use crate::state::StateDir;

/// Options of `btu pair`.
#[derive(Debug, clap::Args)]
pub(crate) struct PairArgs {
    /// What `btu agent invite` printed on the other host; - reads it from stdin
    #[arg(value_name = "INVITE")]
    invite: String,
    /// How this host shall call the agent
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: String,
    #[command(flatten)]
    state: StateArgs,
    /// Write one JSON document to stdout
    #[arg(long)]
    json: bool,
}

/// Joins the agent and keeps its name.
pub(crate) fn pair(args: &PairArgs) -> Result<Exit, Failure> {
    let text = match args.invite.as_str() {
        "-" => std::io::read_to_string(std::io::stdin()).map_err(Failure::environment)?,
        text => text.to_owned(),
    };
    let invite: Invite = text.parse().map_err(Failure::usage)?;
    let state = StateDir::open(&args.state)?;
    let Invite { agent, address, .. } = invite.clone();
    conductor::join(&state, invite)?;
    state.keep_agent(&args.name, KnownAgent { id: agent.to_string(), address: address.clone() })?;
    let name = &args.name;
    if args.json {
        let id = agent.to_string();
        output::json(&serde_json::json!({ "name": name, "agent": id, "address": address }))?;
    } else {
        output::result(&format!("paired with {agent} at {address}, called {name}\n"))?;
    }
    Ok(Exit::Done)
}

/// A name that cannot be taken for an address, an option or an invitation.
fn name(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let fits = text.len() <= 32 && text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if fits && text.chars().all(legal) {
        Ok(text.to_owned())
    } else {
        Err("write up to 32 letters, digits, - and _".to_owned())
    }
}
