//! The verb `agent`: this machine as a black box of somebody's runs, and what is to be said to it.

mod admin;
mod audit;
mod bench;
mod confine;
mod connection;
mod front;
mod given;
mod growth;
mod invite;
mod keeper;
mod listener;
mod ordered;
mod serve;
pub(crate) mod service;
mod start;
mod test;
pub(crate) mod worker;
mod workers;

use std::net::SocketAddr;
use std::path::PathBuf;

use btu_core::words::shell_word;
use clap::Subcommand;

use crate::exit::Exit;
use crate::exit::Failure;

/// Options of `btu agent`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    command: Option<AgentCommand>,
    /// Listen there instead of where the policy says [default: 127.0.0.1:7411]; repeatable
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listening)]
    listen: Vec<SocketAddr>,
    /// What this agent does for whom [default: policy.toml in the state directory, if there is one]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Let so many runs share this machine; each result says so and is not rankable
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=64))]
    shared: Option<u32>,
    #[command(flatten)]
    state: StateArgs,
    /// Write one JSON document to stdout when the agent has ended
    #[arg(long)]
    json: bool,
}

/// Where a host keeps what is its own.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct StateArgs {
    /// Directory of the identity, of peers and invitations [default: ~/.local/state/btu]
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
}

impl StateArgs {
    /// The option as it was given, as a shell takes it; nothing where it was not.
    pub(crate) fn again(&self) -> String {
        let word =
            |state: &PathBuf| format!(" --state {}", shell_word(&state.display().to_string()));
        self.state.as_ref().map_or_else(String::new, word)
    }
}

/// What can be said to an agent on this machine.
#[derive(Debug, Subcommand)]
enum AgentCommand {
    /// Print one line that lets another host pair with this agent
    Invite(invite::InviteArgs),
    /// Say whom an agent works for, who waits, and what it refused
    Status(admin::AdminArgs),
    /// End all work now and refuse new work, also after a restart
    StopAll(admin::AdminArgs),
    /// Allow work again
    Resume(admin::AdminArgs),
    /// Do the work of one reservation; started by the agent
    #[command(hide = true)]
    Worker(worker::WorkerArgs),
    /// Start tests of this host; started by the agent
    #[command(hide = true)]
    Bench(bench::BenchArgs),
    /// Put this host under test; started by the agent's bench
    #[command(hide = true)]
    Test(test::TestArgs),
    /// Record packets of this host's runs; started by the agent
    #[command(hide = true)]
    Listener(listener::ListenerArgs),
    /// Emulate links in front of the agent; started by the agent
    #[command(hide = true)]
    Front(front::FrontArgs),
    /// Have the kernel emulate the link of a front; started by the front
    #[command(hide = true)]
    Keeper(keeper::KeeperArgs),
}

/// Runs the verb.
pub(crate) fn agent(args: &AgentArgs) -> Result<Exit, Failure> {
    match &args.command {
        None => start::start(args),
        Some(AgentCommand::Invite(args)) => invite::invite(args),
        Some(AgentCommand::Status(args)) => admin::status(args),
        Some(AgentCommand::StopAll(args)) => admin::stop_all(args),
        Some(AgentCommand::Resume(args)) => admin::resume(args),
        Some(AgentCommand::Worker(args)) => worker::worker(args),
        Some(AgentCommand::Bench(args)) => bench::bench(args),
        Some(AgentCommand::Test(args)) => test::test(args),
        Some(AgentCommand::Listener(args)) => listener::listener(args),
        Some(AgentCommand::Front(args)) => front::front(args),
        Some(AgentCommand::Keeper(args)) => keeper::keeper(args),
    }
}

/// Where an agent listens: an address of its host.
fn listening(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!("write an address of this host with a port: 10.0.4.7:{PORT}, 0.0.0.0:{PORT} or [::]:{PORT}")
    })
}

/// The port of an agent, unless it is told another.
pub(crate) const PORT: u16 = 7411;
