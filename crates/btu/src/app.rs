//! The verb `app`: parallel applications over message layers, from plan to report.

mod finish;
mod math;
mod measure;
mod options;
mod path;
mod planning;
mod progress;
mod rank;
mod room;
mod start;

use btu_core::app::plan::Plan;
use btu_core::app::sample::Line;
use btu_core::words::several;
use clap::Subcommand;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::output;
use math::MathArgs;
use options::RunArgs;
use rank::RankArgs;

/// Options of `btu app`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct AppArgs {
    #[command(subcommand)]
    command: AppCommand,
}

/// What is done with applications.
#[derive(Debug, Subcommand)]
enum AppCommand {
    /// Compare mathematical libraries: time per call, largest error
    Math(MathArgs),
    /// Launch kernels over each message layer: times, where they go, what is passed, verified
    Run(Box<RunArgs>),
    /// Be one rank of a launch; started by the launcher of its message layer
    #[command(hide = true)]
    Rank(RankArgs),
}

const AFTER: &str = "\
Examples:
  btu app run                 every kernel over every layer, class S
  btu app run --json          the same, as exactly one JSON document
  btu app run --dry-run       what it would launch
  btu app math                what floor, log, exp and others cost in each library";

/// Runs the verb.
pub(crate) fn app(args: &AppArgs) -> Result<Exit, Failure> {
    match &args.command {
        AppCommand::Math(args) => math::math(args),
        AppCommand::Run(args) => run(args),
        AppCommand::Rank(args) => rank::rank(args),
    }
}

fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let planned = args.planned()?;
    if args.result.dry_run {
        return dry_run(&planned.plan, args.result.json);
    }
    if let Some(directory) = &args.result.resume
        && let Some(journal) = closing::done::<Line>(directory)?
    {
        return finish::shown_again(args, &journal);
    }
    room::for_plan(&planned.plan)?;
    let interrupt = Interrupt::listen().map_err(Failure::environment)?;
    let mut started = start::start(args, planned, &interrupt)?;
    let ending = measure::measure(&mut started, &interrupt)?;
    finish::finish(args, &mut started.journal, ending, &interrupt)
}

/// Prints what would be launched.
fn dry_run(plan: &Plan, json: bool) -> Result<Exit, Failure> {
    let (jobs, launches) = (plan.jobs().len(), plan.order().len());
    if json {
        output::json(&serde_json::json!({
            "plan": plan,
            "jobs": jobs,
            "launches": launches,
            "cap_ns": plan.cap_ns,
        }))?;
        return Ok(Exit::Done);
    }
    let (jobs, rounds) = (several(jobs, "job"), several(plan.launches, "round"));
    output::result(&format!(
        "{}\n# {} of {jobs} in {rounds}, each at most {}\n",
        plan.to_toml(),
        several(launches, "launch"),
        plan.cap_ns
    ))?;
    Ok(Exit::Done)
}
