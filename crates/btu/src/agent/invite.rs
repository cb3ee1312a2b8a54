//! `btu agent invite`: one line to paste on the host that shall use this agent.

use anyhow::anyhow;
use btu_control::invite::Invite;
use btu_control::invite::OpenInvite;
use btu_control::invite::Rights;
use btu_control::invite::Secret;
use serde_json::json;

use super::StateArgs;
use super::start::LISTENING;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::state::StateDir;
use crate::state::unix_seconds;

/// Options of `btu agent invite`.
#[derive(Debug, clap::Args)]
pub(super) struct InviteArgs {
    /// Where the other host reaches this agent [default: where the agent listens]
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    address: Option<String>,
    /// What the other host may do: observer (ask), runner (run), admin (stop all work, too)
    #[arg(long, value_name = "RIGHTS", default_value = "runner", value_parser = rights)]
    rights: Rights,
    #[command(flatten)]
    state: StateArgs,
    /// Write one JSON document to stdout
    #[arg(long)]
    json: bool,
}

/// Makes an invitation and prints it.
pub(super) fn invite(args: &InviteArgs) -> Result<Exit, Failure> {
    let state = StateDir::open(&args.state)?;
    let agent = state.identity()?.id();
    let secret = Secret::random().map_err(Failure::environment)?;
    let address = match &args.address {
        Some(address) => address.clone(),
        None => listening(&state)?,
    };
    let expires_unix_s = unix_seconds() + LIFETIME_S;
    state.invite(OpenInvite { secret, rights: args.rights, expires_unix_s, tries: TRIES })?;
    let text = Invite { agent, secret, address }.to_string();
    if args.json {
        output::json(
            &json!({ "invite": text, "agent": agent.to_string(), "expires_in_s": LIFETIME_S }),
        )?;
    } else {
        output::result(&format!("{text}\n"))?;
        output::message("within 10 minutes, on the other host: btu pair INVITE --name NAME");
    }
    Ok(Exit::Done)
}

/// Where the agent listened when it was started last.
fn listening(state: &StateDir) -> Result<String, Failure> {
    let listening: Vec<std::net::SocketAddr> = state.read(LISTENING)?;
    match listening.first() {
        None => Ok(format!("127.0.0.1:{}", super::PORT)),
        Some(address) if address.ip().is_unspecified() => {
            let cause = anyhow!("the agent listens on all addresses ({address}): say which to use");
            Err(Failure::usage(cause).hint("--address HOST:PORT, as the other host reaches it"))
        }
        Some(address) => Ok(address.to_string()),
    }
}

fn address(text: &str) -> Result<String, String> {
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    let legal = port.is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if legal {
        Ok(text.to_owned())
    } else {
        Err("write HOST:PORT, such as 10.0.4.7:7411".to_owned())
    }
}

fn rights(text: &str) -> Result<Rights, String> {
    match text {
        "observer" => Ok(Rights::Observer),
        "runner" => Ok(Rights::Runner),
        "admin" => Ok(Rights::Admin),
        _ => Err("write observer, runner or admin".to_owned()),
    }
}

const LIFETIME_S: u64 = 600;
const TRIES: u32 = 5;
