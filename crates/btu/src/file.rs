//! The verb `file`: what a file service delivers to one and to many clients, from plan to report.

mod finish;
mod guest;
mod measure;
mod night;
mod options;
mod planning;
mod progress;
mod start;

use btu_core::file::sample::Line;
use btu_core::words::several;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::measurement::place;
use crate::output;

pub(crate) use options::FileArgs;

/// Runs the verb.
pub(crate) fn file(args: &FileArgs) -> Result<Exit, Failure> {
    if args.result.dry_run {
        return dry_run(args);
    }
    if let Some(directory) = &args.result.resume {
        args.plan()?;
        if let Some(journal) = closing::done::<Line>(directory)? {
            return finish::shown_again(args, &journal);
        }
    }
    let interrupt = Interrupt::listen().map_err(Failure::environment)?;
    let mut started = start::start(args, &interrupt)?;
    let ending = measure::measure(&mut started, &interrupt);
    started.leave()?;
    let ending = ending?;
    finish::finish(args, &mut started.journal, ending, &interrupt)
}

/// Prints what would be measured. Refuses what the run would refuse before it measures.
fn dry_run(args: &FileArgs) -> Result<Exit, Failure> {
    let plan = args.plan()?;
    args.result.out.as_deref().map_or(Ok(()), place::free)?;
    args.directory()?;
    let (trials, rounds) = (plan.trials().len(), plan.warm_rounds + plan.rounds);
    if args.result.json {
        let all = plan.trials();
        output::json(&serde_json::json!({ "plan": plan, "rounds": rounds, "trials": all }))?;
        return Ok(Exit::Done);
    }
    output::result(&format!(
        "{}\n# {} in each of {}, the first {} to warm up\n",
        plan.to_toml(),
        several(trials, "trial"),
        several(rounds, "round"),
        plan.warm_rounds
    ))?;
    Ok(Exit::Done)
}
