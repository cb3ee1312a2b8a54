//! The verb `pingpong`: blocks there and back over any transport, from plan to report.

mod choices;
mod export;
mod finish;
mod import;
mod measure;
mod options;
mod path;
mod peer;
mod planning;
mod progress;
mod room;
mod search;
mod start;

use btu_core::pingpong::sample::Line;
use btu_core::words::several;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::output;
use crate::progress::span;

pub(crate) use options::PingPongArgs;

/// Runs the verb.
pub(crate) fn pingpong(args: &PingPongArgs) -> Result<Exit, Failure> {
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
    let mut started = start::start(args, &interrupt).map_err(|failure| interrupt.or(failure))?;
    let ending = measure::measure(&mut started, &interrupt)?;
    started.sessions.close();
    finish::finish(args, &mut started.journal, ending, &interrupt)
}

/// Prints what would be measured. Refuses what the run would refuse before it measures.
fn dry_run(args: &PingPongArgs) -> Result<Exit, Failure> {
    let plan = args.plan()?;
    import::lines(&args.import)?;
    path::named(&plan)?;
    args.peer.as_deref().map(|name| peer::named(args, name)).transpose()?;
    let (sweep, search) = plan.estimate();
    if args.result.json {
        output::json(&serde_json::json!({
            "plan": plan,
            "points": plan.points().len(),
            "estimate_ns": sweep,
            "most_for_chasms_ns": search,
        }))?;
        return Ok(Exit::Done);
    }
    let (points, curves) = (plan.points().len(), plan.configurations.len());
    let more = if plan.chasms.is_some() {
        format!(
            "; to confirm and explain chasms, where there are any, at most {} more",
            span(search)
        )
    } else {
        String::new()
    };
    output::result(&format!(
        "{}\n# {} of {} in {}, about {}{more}\n",
        plan.to_toml(),
        several(points, "size"),
        several(curves, "configuration"),
        several(plan.rounds, "round"),
        span(sweep)
    ))?;
    Ok(Exit::Done)
}
