//! The verb `mesh`: every pair of some hosts is measured, and what is slow among them is named.

mod finish;
mod measure;
mod options;
mod pair;
mod planning;
mod progress;
mod start;

use btu_core::mesh::course;
use btu_core::mesh::sample::Line;
use btu_core::words::several;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::measurement::place;
use crate::output;

pub(crate) use options::MeshArgs;

/// Runs the verb.
pub(crate) fn mesh(args: &MeshArgs) -> Result<Exit, Failure> {
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
    let mut started = start::start(args)?;
    let ending = measure::measure(&mut started, &interrupt)?;
    finish::finish(args, &mut started.journal, ending, &interrupt)
}

/// Prints what would be measured. Refuses what is wrong with the plan alone: no agent is looked for.
fn dry_run(args: &MeshArgs) -> Result<Exit, Failure> {
    let plan = args.plan()?;
    args.result.out.as_deref().map_or(Ok(()), place::free)?;
    let rounds = course::rounds(&plan);
    if args.result.json {
        output::json(&serde_json::json!({ "plan": plan, "rounds": plan.rounds() }))?;
        return Ok(Exit::Done);
    }
    let pairs: usize = plan.rounds().iter().map(Vec::len).sum();
    output::result(&format!(
        "{}\n# {} in {}, then what is slow in them\n",
        plan.to_toml(),
        several(pairs, "pair"),
        several(rounds, "round")
    ))?;
    Ok(Exit::Done)
}
