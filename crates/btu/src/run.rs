//! The verb `run`: the BTU score of this machine, from plan to report.

mod caution;
mod congestion;
mod elsewhere;
mod finish;
mod local;
mod options;
pub(crate) mod ordered;
mod orders;
mod price;
mod remote;
mod second;
pub(crate) mod start;
mod watch;

use btu_control::Conductor;
use btu_control::JournalDir;
use btu_control::Watcher;
use btu_control::drive;
use btu_core::journal::EventRecord;
use btu_core::manifest::Signature;
use btu_core::run::plan::Plan;

use self::start::Start;
use self::start::Started;
use self::watch::Progressing;
use crate::conductor::NamedAgent;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing::Ending;
use crate::measurement::journal;
use crate::measurement::place;
use crate::output;
use crate::progress::span;
use crate::state::StateDir;

pub(crate) use caution::shared_emulator;
pub(crate) use local::not_made;
pub(crate) use options::RunArgs;

/// Runs the verb.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    if args.dry_run {
        return dry_run(args);
    }
    let interrupt = Interrupt::listen().map_err(Failure::environment)?;
    if let Some(test) = &args.test {
        return elsewhere::run(args, test, &interrupt);
    }
    let started = match start::start(args, &interrupt).map_err(|failure| interrupt.or(failure))? {
        Start::Finished(journal) => return finish::shown_again(args, &journal),
        Start::Ready(started) => *started,
    };
    let mut watcher = Progressing::new(args.quiet || args.json);
    let done = carry_out(args, started, &mut watcher);
    watcher.finish();
    finish::finish(args, done?, &interrupt)
}

/// A run whose last step is over.
struct Done {
    journal: JournalDir,
    ending: Ending,
    /// Of the other hosts, over what they measured.
    signatures: Vec<Signature>,
}

/// Every step of a run, and the signatures of those who took part.
fn carry_out(args: &RunArgs, started: Started, watcher: &mut dyn Watcher) -> Result<Done, Failure> {
    let Started { plan, mut journal, records, mut runner, loss } = started;
    let mut conductor = Conductor::new(plan, records, watcher.now());
    let ending = drive(&mut conductor, &mut *runner, &mut journal, watcher);
    let ending = finish::ending(ending.map_err(journal::journal_failure)?, loss.told());
    if ending == Ending::Complete {
        for cell in conductor.not_run_again() {
            let detail = format!("{}: the time for second runs was over", cell.id());
            journal::note(&mut journal, EventRecord::NOT_RUN_AGAIN, &detail)?;
        }
    }
    let signatures = match ending {
        // Who goes on later signs then.
        Ending::Interrupted | Ending::Lost(_) => Vec::new(),
        _ => finish::signatures(args, &mut journal, &mut *runner)?,
    };
    Ok(Done { journal, ending, signatures })
}

/// The plan, where the hosts that are named are known here and enough for it.
fn of_named_hosts(args: &RunArgs, plan: Plan) -> Result<Plan, Failure> {
    if args.is_remote() || args.test.is_some() {
        let state = StateDir::open(&args.state)?;
        if let Some(name) = &args.test {
            NamedAgent::find(&state, "--test", name)?;
        }
        remote::hosts::chosen(&state, args, &plan)?;
    }
    Ok(plan)
}

/// What the run itself would refuse of the directories that are named.
fn places_named(args: &RunArgs, plan: &Plan) -> Result<(), Failure> {
    args.out.as_deref().map_or(Ok(()), place::free)?;
    if args.io_dir.is_some() {
        local::activities::directory(args, plan, None)?;
    }
    Ok(())
}

/// Prints what would be run.
fn dry_run(args: &RunArgs) -> Result<Exit, Failure> {
    let plan = match &args.resume {
        Some(dir) => start::stored_plan(dir)?,
        None => of_named_hosts(args, args.plan()?.plan)?,
    };
    places_named(args, &plan)?;
    if args.json {
        output::json(&serde_json::json!({
            "plan": plan,
            "steps_per_pass": plan.pass_order(1).len(),
            "estimate_ns": plan.estimate(),
            "estimate_max_ns": plan.estimate_max(),
        }))?;
    } else {
        output::result(&format!("{}\n{}\n", plan.to_toml(), outlook(&plan)))?;
    }
    start::warn(args, &plan);
    Ok(Exit::Done)
}

/// `# 123 steps in each of 2 to 5 passes, 35 s to 80 s`
fn outlook(plan: &Plan) -> String {
    let steps = plan.pass_order(1).len();
    let (min, max) = (plan.passes.min, plan.passes.max);
    let passes = match (min, max) {
        (1, 1) => "1 pass".to_owned(),
        _ if min == max => format!("each of {min} passes"),
        _ => format!("each of {min} to {max} passes"),
    };
    let (sure, most) = (span(plan.estimate()), span(plan.estimate_max()));
    format!("# {steps} steps in {passes}, {sure} to {most}")
}
