//! `btu agent` itself: policy, sockets, rights given up, and then serving until it is told to end.

use std::net::Ipv4Addr;
use std::net::Ipv6Addr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use anyhow::Context;
use anyhow::anyhow;
use btu_control::agent::Agent;
use btu_control::agent::Setup;
use btu_control::message::Offer;
use btu_control::policy::Policy;
use btu_control::tls;
use btu_core::words::shell_word;
use btu_sys::socket;
use btu_sys::socket::Settings;
use serde_json::json;

use super::AgentArgs;
use super::PORT;
use super::StateArgs;
use super::audit::Audit;
use super::bench::Bench;
use super::confine;
use super::front::Front;
use super::listener::Listener;
use super::serve::Parts;
use super::serve::Server;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::output;
use crate::state::StateDir;

/// Serves until a signal ends it.
pub(super) fn start(args: &AgentArgs) -> Result<Exit, Failure> {
    let interrupt = Interrupt::listen().map_err(Failure::environment)?;
    let state = StateDir::open(&args.state)?;
    let _only = only_one(&state)?;
    state.clear_test();
    let mut policy = policy(args, &state)?;
    policy.shared = args.shared.unwrap_or(policy.shared);
    let identity = state.identity()?;
    let roster = state.roster()?;
    let wanted = wanted(args, &policy);
    if roster.peers.is_empty() && roster.invites.is_empty() {
        only_loopback(&wanted, &args.state)?;
    }
    let listeners = listen(&wanted)?;
    let local = local(&state)?;
    let config = tls::server_config(&identity).map_err(Failure::environment)?;
    let front = policy.front.as_ref().map(|front| Front::start(front, &state)).transpose()?;
    let tests = policy.classes.iter().any(|class| class.test);
    let bench = tests.then(|| Bench::start(&state, policy.scratch.as_deref())).transpose()?;
    let listener = Listener::start(&policy)?;
    let confined = confine::agent(&state)?;
    let addresses = addresses(&listeners)?;
    state.write(LISTENING, &addresses)?;
    let setup = Setup {
        id: identity.id(),
        build: env!("CARGO_PKG_VERSION").to_owned(),
        emulation: front.as_ref().map_or_else(no_front, Front::offer),
        stopped: state.read(STOPPED)?,
        measured: state.measured()?,
        policy,
    };
    announce(&setup, &addresses);
    let audit = Audit::open(state.file("audit.ndjson"));
    let mut agent = Agent::new(setup, roster);
    agent.set_confinement(confined);
    let parts = Parts { front, bench, listener };
    let mut server = Server::new(agent, (listeners, local), parts, config, state, audit)?;
    let reservations = server.serve(interrupt.flag())?;
    if args.json {
        output::json(&json!({ "reservations": reservations, "listened": addresses }))?;
    }
    Ok(Exit::Done)
}

/// The policy of these options.
fn policy(args: &AgentArgs, state: &StateDir) -> Result<Policy, Failure> {
    let usual = state.file("policy.toml");
    let path = match &args.policy {
        Some(path) => path.clone(),
        None if usual.is_file() => usual,
        None => return Ok(Policy::default()),
    };
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("read policy {}", path.display()))
        .map_err(Failure::usage)?;
    Policy::parse(&path.display().to_string(), &text).map_err(Failure::usage)
}

/// Two agents of one identity would answer for each other.
fn only_one(state: &StateDir) -> Result<std::fs::File, Failure> {
    let path = state.file(".agent");
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let file = file.with_context(|| format!("open {}", path.display()));
    let file = file.map_err(Failure::environment)?;
    if file.try_lock().is_ok() {
        return Ok(file);
    }
    let cause = anyhow!("{}: another agent runs with this state directory", path.display());
    Err(Failure::usage(cause).hint("btu agent status asks it; --state names another"))
}

fn wanted(args: &AgentArgs, policy: &Policy) -> Vec<SocketAddr> {
    let loopback = [
        SocketAddr::new(Ipv4Addr::LOCALHOST.into(), PORT),
        SocketAddr::new(Ipv6Addr::LOCALHOST.into(), PORT),
    ];
    match (args.listen.is_empty(), policy.listen.is_empty()) {
        (false, _) => args.listen.clone(),
        (true, false) => policy.listen.clone(),
        (true, true) => loopback.to_vec(),
    }
}

/// An agent that nobody may use has no reason to be reached.
fn only_loopback(wanted: &[SocketAddr], state: &StateArgs) -> Result<(), Failure> {
    match wanted.iter().find(|address| !address.ip().is_loopback()) {
        None => Ok(()),
        Some(address) => {
            let cause =
                anyhow!("listen on {address}: no host is paired with this agent or invited");
            let state = state.state.as_ref().map_or_else(String::new, |state| {
                format!(" --state {}", shell_word(&state.display().to_string()))
            });
            let invite = format!("btu agent invite --address {address}{state}");
            Err(Failure::usage(cause).hint(format!("first: {invite}; then start it again")))
        }
    }
}

/// Every address that can be had; a machine without IPv6 has no `[::1]`.
fn listen(wanted: &[SocketAddr]) -> Result<Vec<TcpListener>, Failure> {
    let mut listeners = Vec::new();
    for address in wanted {
        match socket::listen(*address, &Settings::default()) {
            Ok(listener) => {
                listener.set_nonblocking(true).map_err(Failure::environment)?;
                listeners.push(listener);
            }
            Err(_) if address.ip() == Ipv6Addr::LOCALHOST && wanted.len() > 1 => {}
            Err(error) => {
                return Err(Failure::environment(error)
                    .hint("does another agent listen there? choose with --listen"));
            }
        }
    }
    Ok(listeners)
}

fn addresses(listeners: &[TcpListener]) -> Result<Vec<SocketAddr>, Failure> {
    let addresses: Result<Vec<_>, _> = listeners.iter().map(TcpListener::local_addr).collect();
    addresses.map_err(Failure::environment)
}

/// The socket for this host's own questions: in a directory that only its owner may enter.
fn local(state: &StateDir) -> Result<UnixListener, Failure> {
    let path = state.file(SOCKET);
    drop(std::fs::remove_file(&path));
    let listener = UnixListener::bind(&path)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .with_context(|| format!("listen on {}", path.display()))
        .map_err(Failure::environment)?;
    let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, owner_only)
        .with_context(|| format!("protect {}", path.display()))
        .map_err(Failure::environment)?;
    Ok(listener)
}

fn no_front() -> Offer {
    Offer::None("this agent has no emulator in front of it".to_owned())
}

fn announce(setup: &Setup, addresses: &[SocketAddr]) {
    output::message(&format!("btu agent {}", setup.id));
    for address in addresses {
        output::message(&format!("listens on {address}"));
    }
    if setup.stopped {
        output::message("all work is stopped here; btu agent resume allows it");
    }
}

/// Where the agent listened when it was started last.
pub(super) const LISTENING: &str = "listening.json";
/// Whether all work is stopped.
pub(super) const STOPPED: &str = "stopped.json";
/// The socket for this host's own questions.
pub(super) const SOCKET: &str = "agent.sock";
