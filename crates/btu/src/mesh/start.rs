//! What happens before the first round: plan, agents, result directory.

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::anyhow;
use btu_control::Identity;
use btu_control::JournalDir;
use btu_core::mesh::plan::Plan;
use btu_core::mesh::sample::Line;

use super::options::MeshArgs;
use super::progress::Progress;
use crate::conductor::NamedAgent;
use crate::exit::Failure;
use crate::measurement::facts;
use crate::measurement::journal;
use crate::measurement::place;
use crate::state::StateDir;

/// A mesh that is ready for its next round.
pub(super) struct Started {
    pub(super) plan: Plan,
    /// In the order of the plan.
    pub(super) agents: Vec<NamedAgent>,
    /// This host.
    pub(super) own: Identity,
    pub(super) journal: JournalDir,
    /// What the journal holds so far.
    pub(super) lines: Vec<Line>,
    pub(super) progress: Progress,
}

/// Prepares a new mesh or the rest of an old one.
pub(super) fn start(args: &MeshArgs) -> Result<Started, Failure> {
    let plan = args.plan()?;
    args.result.out.as_deref().map_or(Ok(()), place::free)?;
    let state = StateDir::open(&args.state)?;
    let agents = agents(&state, &plan)?;
    let mut hosts = facts::of_this_host();
    hosts.note.clone_from(&args.result.note);
    // Each pair of a round has some of its own.
    btu_sys::limit::raise_descriptors().map_err(Failure::environment)?;
    let (journal, lines) = if let Some(directory) = &args.result.resume {
        journal::go_on(directory, &hosts)?
    } else {
        let out = args.result.out.as_deref();
        (journal::begin(out, default_out, &plan.to_toml(), &hosts)?, Vec::new())
    };
    let progress = Progress::new(args.result.quiet || args.result.json);
    Ok(Started { plan, agents, own: state.identity()?, journal, lines, progress })
}

/// The agents of a plan. Two names of one host would measure its loopback.
fn agents(state: &StateDir, plan: &Plan) -> Result<Vec<NamedAgent>, Failure> {
    let find = |name: &String| NamedAgent::find(state, "AGENT", name);
    let agents: Vec<NamedAgent> = plan.hosts.iter().map(find).collect::<Result<_, _>>()?;
    for (number, agent) in agents.iter().enumerate() {
        if let Some(same) = agents[..number].iter().find(|other| other.id == agent.id) {
            let cause = anyhow!("{} and {} are the same host", same.name, agent.name);
            return Err(Failure::usage(cause).hint("name each host once"));
        }
    }
    Ok(agents)
}

/// `btu-results/20261121T203303Z-mesh`
fn default_out() -> PathBuf {
    place::named_out("mesh", SystemTime::now())
}
