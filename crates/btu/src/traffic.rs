//! The verb `traffic`: scenarios of flows over a path, from plan to report.

mod call;
mod checked;
mod congestion;
mod convert;
pub(crate) mod expand;
mod finish;
mod gauge;
mod joined;
mod measure;
mod method;
mod options;
mod path;
mod planning;
mod progress;
mod qos;
pub(crate) mod remote;
pub(crate) mod scenario;
mod seen;
mod start;
mod sweep;
mod viseum;

use std::collections::BTreeSet;

use btu_core::role::Role;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::sample::Line;
use btu_core::words::several;

use self::joined::Two;
use self::start::Wanted;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::output;

pub(crate) use options::TrafficArgs;

/// Runs the verb.
pub(crate) fn traffic(args: &TrafficArgs) -> Result<Exit, Failure> {
    if let Some(convert) = args.convert() {
        return convert::convert(convert);
    }
    let (plan, output) = args.plan()?;
    if output.dry_run {
        checked::check(&plan, args.scenario())?;
        return dry_run(&plan, output.json);
    }
    let is_elsewhere = plan.agents.contains_key(&Role::Test);
    // The host that measured signs there, or nobody does.
    let ended = if is_elsewhere { closing::finished::<Line> } else { closing::done::<Line> };
    if let Some(journal) = args.resumed().map(ended).transpose()?.flatten() {
        return finish::shown_again(output, &journal);
    }
    if plan.agents.is_empty() {
        checked::check(&plan, args.scenario())?;
        congestion::there(&plan)?;
    }
    let interrupt = Interrupt::listen().map_err(Failure::environment)?;
    if is_elsewhere {
        return remote::elsewhere::run(args, &plan, output, &interrupt);
    }
    let wanted = Wanted {
        agents: args.agents(&plan)?,
        plan,
        scenario: args.scenario(),
        output,
        resumed: args.resumed(),
        state: &args.far().state,
        reconnect: args.far().reconnect,
        ordered: None,
    };
    let mut started = start::start(wanted, &interrupt).map_err(|failure| interrupt.or(failure))?;
    let ending = measure::measure(&mut started, &interrupt)?;
    finish::finish((output, &args.far().state), &mut started, ending, &interrupt)
}

/// Prints what would be run.
fn dry_run(plan: &Plan, json: bool) -> Result<Exit, Failure> {
    let estimate = scenario::estimate(plan)?;
    let (joined, runs) = (joined::pairs(plan)?, plan.runs().len());
    if plan.course.is_some() {
        return decided_on_the_way(plan, &joined, json);
    }
    if json {
        output::json(&serde_json::json!({
            "schema_version": DRY_RUN_VERSION,
            "plan": plan,
            "joined": joined,
            "runs": runs,
            "estimate_ns": estimate,
        }))?;
        return Ok(Exit::Done);
    }
    let time = crate::progress::span(estimate);
    let (runs, cells) = (several(runs, "run"), several(plan.cells.len(), "cell"));
    let joined = joined::in_words(&joined);
    let told = format!("# {runs} of {cells}, about {time}\n# connections: {joined}\n");
    output::result(&format!("{}\n{told}", plan.to_toml()))?;
    Ok(Exit::Done)
}

/// What is known before of a plan whose cells are decided on the way.
fn decided_on_the_way(plan: &Plan, joined: &BTreeSet<Two>, json: bool) -> Result<Exit, Failure> {
    let told = "what is measured decides how many runs there are, and how long they take";
    if json {
        let nothing = serde_json::Value::Null;
        output::json(&serde_json::json!({
            "schema_version": DRY_RUN_VERSION,
            "plan": plan,
            "joined": joined,
            "runs": nothing,
            "runs_reason": told,
            "estimate_ns": nothing,
            "estimate_ns_reason": told,
        }))?;
    } else {
        let joined = joined::in_words(joined);
        output::result(&format!("{}\n# {told}\n# connections: {joined}\n", plan.to_toml()))?;
    }
    Ok(Exit::Done)
}

/// Of the document of a dry run, which came to say why figures are null, and then which hosts are joined.
const DRY_RUN_VERSION: &str = "1.2.0";
