//! What happens before the first run: hosts, disclosure, result directory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use btu_control::JournalDir;
use btu_control::message::Limits;
use btu_core::disclosure::Disclosure;
use btu_core::role::Role;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Line;
use btu_core::units::Nanos;

use super::options::OutputArgs;
use super::path::Hosts;
use super::path::Testbed;
use super::progress::Progress;
use crate::agent::StateArgs;
use crate::conductor::NamedAgent;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::Told;
use crate::measurement::facts;
use crate::measurement::journal;
use crate::measurement::notes;
use crate::measurement::place;
use crate::state::StateDir;
use crate::traffic::remote::bounds::Bounds;
use crate::traffic::remote::needs;
use crate::traffic::remote::peers::Company;
use crate::traffic::remote::peers::Peers;

/// A measurement that is ready for its next run.
pub(super) struct Started {
    pub(super) plan: Plan,
    pub(super) hosts: Hosts,
    pub(super) journal: JournalDir,
    /// Everything that the journal holds so far.
    pub(super) lines: Vec<Line>,
    pub(super) progress: Progress,
}

/// What is to be started.
pub(super) struct Wanted<'a> {
    pub(super) plan: Plan,
    /// The file of its scenario, where it is of one.
    pub(super) scenario: Option<&'a Path>,
    pub(super) output: &'a OutputArgs,
    /// The directory of a measurement that is gone on with.
    pub(super) resumed: Option<&'a Path>,
    /// The other hosts, where there are some.
    pub(super) agents: BTreeMap<Role, NamedAgent>,
    pub(super) state: &'a StateArgs,
    /// How long a lost agent is waited for, in seconds.
    pub(super) reconnect: u32,
    /// Where another host ordered it: what the policy of this one leaves, and who hears how it goes.
    pub(super) ordered: Option<(Limits, Told)>,
}

/// Prepares a new measurement or the rest of an old one.
pub(super) fn start(wanted: Wanted<'_>, interrupt: &Interrupt) -> Result<Started, Failure> {
    let Wanted { plan, scenario, output, resumed, agents, state, reconnect, ordered } = wanted;
    if let Some(out) = &output.out {
        place::free(out)?;
    }
    let quiet = output.quiet || output.json;
    if !quiet && ordered.is_none() {
        notes::tell_of_this_host();
    }
    let mut facts = facts::of_this_host();
    facts.note.clone_from(&output.note);
    let hosts = if agents.is_empty() {
        Hosts::Here(Box::new(Testbed::new(&plan)?))
    } else {
        let needs = needs::of(&plan, scenario, interrupt)?;
        let bounds =
            ordered.as_ref().map(|(limits, told)| Bounds::new(limits.clone(), needs, told.clone()));
        let bounds = bounds.transpose()?;
        let company = Company {
            agents: &agents,
            state: &StateDir::open(state)?,
            reconnect: Nanos::from_secs(reconnect.into()),
            quiet,
            bounds: bounds.map(Arc::new),
        };
        let (peers, said) = Peers::begin(&company, &needs, &plan, interrupt)?;
        facts.hosts.extend(said);
        Hosts::Apart(peers)
    };
    facts.placement = facts::placed(hosts.facts());
    let told = ordered.map(|(_, told)| told);
    let progress = Progress::told_to(told, quiet, &plan);
    let (journal, lines) = match resumed {
        Some(directory) => journal::go_on(directory, &facts)?,
        None => (fresh(&plan, output, &facts)?, Vec::new()),
    };
    Ok(Started { plan, hosts, journal, lines, progress })
}

fn fresh(plan: &Plan, output: &OutputArgs, facts: &Disclosure) -> Result<JournalDir, Failure> {
    journal::begin(output.out.as_deref(), || default_out(plan), &plan.to_toml(), facts)
}

/// Where a result goes that nobody named a place for.
pub(super) fn default_out(plan: &Plan) -> std::path::PathBuf {
    let what = match plan.study {
        Study::Method => "traffic-method",
        Study::Qos => "traffic-qos",
        Study::Scenario => "traffic",
        Study::Sweep => "traffic-sweep",
        Study::Viseum => "traffic-viseum",
    };
    place::named_out(what, SystemTime::now())
}
