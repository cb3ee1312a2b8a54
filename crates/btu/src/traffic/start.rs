//! What happens before the first run: hosts, disclosure, result directory.

use btu_control::JournalDir;
use btu_core::disclosure::Disclosure;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Line;
use btu_core::units::Nanos;

use super::needs;
use super::options::OutputArgs;
use super::options::TrafficArgs;
use super::path::Hosts;
use super::path::Testbed;
use super::peers::Company;
use super::peers::Peers;
use super::progress::Progress;
use crate::agent::state::StateDir;
use crate::exit::Failure;
use crate::run::Interrupt;
use crate::run::facts;
use crate::run::place;
use crate::run::start;

/// A measurement that is ready for its next run.
pub(super) struct Started {
    pub(super) plan: Plan,
    pub(super) hosts: Hosts,
    pub(super) journal: JournalDir,
    /// Everything that the journal holds so far.
    pub(super) lines: Vec<Line>,
    pub(super) progress: Progress,
}

/// Prepares a new measurement or the rest of an old one.
pub(super) fn start(
    args: &TrafficArgs,
    plan: Plan,
    output: &OutputArgs,
    interrupt: &Interrupt,
) -> Result<Started, Failure> {
    let resumed = args.resumed();
    let mut facts = facts::of_this_host();
    facts.note.clone_from(&output.note);
    let agents = args.agents(&plan)?;
    let hosts = if agents.is_empty() {
        Hosts::Here(Box::new(Testbed::new(&plan)?))
    } else {
        let far = args.far();
        let company = Company {
            agents: &agents,
            state: &StateDir::open(&far.state)?,
            reconnect: Nanos::from_secs(far.reconnect.into()),
            quiet: output.quiet || output.json,
        };
        let needs = needs::of(&plan, interrupt)?;
        let (peers, said) = Peers::begin(&company, &needs, &plan, interrupt)?;
        facts.hosts.extend(said);
        Hosts::Apart(peers)
    };
    facts.placement = hosts.facts();
    let progress = Progress::new(output.quiet || output.json, &plan);
    let (journal, lines) = match resumed {
        Some(directory) => start::go_on(directory, &facts)?,
        None => (fresh(&plan, output, &facts)?, Vec::new()),
    };
    Ok(Started { plan, hosts, journal, lines, progress })
}

fn fresh(plan: &Plan, output: &OutputArgs, facts: &Disclosure) -> Result<JournalDir, Failure> {
    let what = match plan.study {
        Study::Method => "traffic-method",
        Study::Qos => "traffic-qos",
        Study::Scenario => "traffic",
        Study::Sweep => "traffic-sweep",
        Study::Viseum => "traffic-viseum",
    };
    let out = output.out.clone().unwrap_or_else(|| place::named_out(what, jiff::Timestamp::now()));
    start::begin(&out, &plan.to_toml(), facts)
}
