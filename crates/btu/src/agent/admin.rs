//! `btu agent status`, `stop-all` and `resume`: questions and orders to the agent on this machine, or to
//! that of a host which gave this one the right.

use std::io::Read;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use anyhow::anyhow;
use btu_control::client::Fault;
use btu_control::frame;
use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::message::Answer;
use btu_control::message::Bounded;
use btu_control::message::Request;
use btu_control::message::Status;
use btu_core::disclosure::Fact;

use super::StateArgs;
use super::start::SOCKET;
use super::start::STOPPED;
use crate::conductor;
use crate::conductor::NamedAgent;
use crate::conductor::PeerLink;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::state::StateDir;

/// Options of `btu agent status`, `stop-all` and `resume`.
#[derive(Debug, clap::Args)]
pub(super) struct AdminArgs {
    /// Ask that agent, as btu pair named it, instead of the one on this machine: stop-all and resume need
    /// an invitation with --rights admin
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    state: StateArgs,
    /// Write one JSON document to stdout
    #[arg(long)]
    json: bool,
}

/// Says how the agent is.
pub(super) fn status(args: &AdminArgs) -> Result<Exit, Failure> {
    let state = StateDir::of_agent(&args.state)?;
    if let Some(name) = &args.agent {
        return show(args, &ask_peer(&state, name, Request::Status {})?);
    }
    if let Some(status) = ask(&state, &Request::Status {})? {
        return show(args, &status);
    }
    let cause = anyhow!("no agent runs with the state directory {}", state.file("").display());
    Err(Failure::environment(cause).hint("start one with btu agent"))
}

/// Ends all work; where no agent runs, the next one starts without work.
pub(super) fn stop_all(args: &AdminArgs) -> Result<Exit, Failure> {
    change(args, Request::StopAll {}, true)
}

/// Allows work again.
pub(super) fn resume(args: &AdminArgs) -> Result<Exit, Failure> {
    change(args, Request::Resume {}, false)
}

fn change(args: &AdminArgs, request: Request, stopped: bool) -> Result<Exit, Failure> {
    let state = StateDir::of_agent(&args.state)?;
    if let Some(name) = &args.agent {
        return show(args, &ask_peer(&state, name, request)?);
    }
    if let Some(status) = ask(&state, &request)? {
        return show(args, &status);
    }
    state.write(STOPPED, &stopped)?;
    if args.json {
        output::json(&serde_json::json!({ "running": false, "stopped": stopped }))?;
    } else {
        let next = if stopped { "refuses all work" } else { "works" };
        output::result(&format!("no agent runs; the next one {next}\n"))?;
    }
    Ok(Exit::Done)
}

fn show(args: &AdminArgs, status: &Status) -> Result<Exit, Failure> {
    if args.json {
        let value = serde_json::to_value(status).map_err(Failure::environment)?;
        output::json(&value)?;
    } else {
        output::result(&output::shown(&text(status)))?;
    }
    Ok(Exit::Done)
}

fn text(status: &Status) -> String {
    let names =
        |names: &[String]| if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
    let work = if status.stopped { "stopped (btu agent resume allows it)" } else { "allowed" };
    let mut lines = vec![
        format!("agent        {}", status.agent),
        format!("version      {}", status.build),
        format!("work         {work}"),
        format!("works for    {} (at most {} at once)", names(&status.working_for), status.shared),
        format!("waiting      {}", names(&status.waiting)),
        format!("connections  {}", status.connections),
        format!("payload      {} bytes in 24 hours", status.bytes_today.count()),
    ];
    lines.extend(status.confinement.iter().map(bound));
    lines.extend(status.last_refusals.iter().map(|reason| format!("refused      {reason}")));
    lines.join("\n") + "\n"
}

/// One bound of the agent's process, or why this kernel lacks it.
fn bound((name, fact): (&String, &Fact)) -> String {
    let found = fact.value.as_ref().map(ToString::to_string);
    let reason = || format!("not bounded ({})", fact.reason.as_deref().unwrap_or("unknown"));
    format!("confinement  {name}: {}", found.unwrap_or_else(reason))
}

/// The agent's answer; `None` where none runs.
fn ask(state: &StateDir, request: &Request) -> Result<Option<Status>, Failure> {
    let Ok(stream) = UnixStream::connect(state.file(SOCKET)) else { return Ok(None) };
    let answered = dialogue(stream, request).context("ask the agent on this machine");
    answered.map(Some).map_err(Failure::environment)
}

/// The answer of an agent on another host, which decides by the rights of this one.
fn ask_peer(state: &StateDir, name: &str, request: Request) -> Result<Status, Failure> {
    let agent = NamedAgent::find(state, "--agent", name)?;
    let failed = |fault| conductor::failure(&agent, fault);
    let link = PeerLink::connect(&agent, &state.identity()?, &Arc::default(), &mut |_| ());
    let reply = link.map_err(failed)?.ask(request, PATIENCE.into(), &mut |_| ());
    match reply.map_err(failed)?.answer {
        Answer::Status(status) => Ok(*status),
        Answer::Refused { reason } => {
            Err(Failure::agent(anyhow!("agent {}: {reason}", agent.name)).hint(
                "on its host: btu agent invite --rights admin; here: btu pair INVITE --name NAME",
            ))
        }
        _ => Err(failed(Fault::Lied("no answer to a question".to_owned()))),
    }
}

fn dialogue(mut stream: UnixStream, request: &Request) -> anyhow::Result<Status> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&frame::encode(request)?)?;
    let (mut frames, mut space) = (FrameReader::new(FrameLimits::ANSWERS), [0; 4096]);
    loop {
        let count = stream.read(&mut space)?;
        if count == 0 {
            return Err(anyhow!("it closed the connection"));
        }
        frames.push(&space[..count]);
        while let Some(frame) = frames.next_frame()? {
            let Frame::Message(text) = frame else { continue };
            match Answer::parse(&text)? {
                Answer::Status(status) => return Ok(*status),
                Answer::Refused { reason } | Answer::Bye { reason } => return Err(anyhow!(reason)),
                _ => {}
            }
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(10);
