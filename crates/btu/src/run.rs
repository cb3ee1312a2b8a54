//! The verb `run`: the BTU score of this machine, from plan to report.

mod caution;
mod elsewhere;
pub(crate) mod facts;
mod finish;
mod first_part;
mod interrupt;
mod local;
pub(crate) mod losses;
mod options;
pub(crate) mod ordered;
pub(crate) mod place;
mod remote;
mod second;
pub(crate) mod start;
mod watch;

use btu_control::Conductor;
use btu_control::Ending;
use btu_control::JournalDir;
use btu_control::Watcher;
use btu_control::drive;
use btu_core::journal::Journal;
use btu_core::manifest::Signature;
use btu_core::plan::Plan;
use btu_core::words::several;

use self::start::Start;
use self::start::Started;
use self::watch::Progressing;
use crate::closing;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::progress::span;

pub(crate) use finish::mismatch;
pub(crate) use interrupt::Interrupt;
pub(crate) use local::not_made;
pub(crate) use options::RunArgs;
pub(crate) use options::fresh_seed;

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
        Start::Finished(journal) => return shown_again(args, &journal),
        Start::Ready(started) => *started,
    };
    let mut watcher = Progressing::new(args.quiet || args.json);
    let done = carry_out(args, started, &mut watcher);
    watcher.finish();
    let done = done?;
    let (ending, lost) = (done.ending.clone(), done.lost.clone());
    let closed = finish::close(done)?;
    finish::show(args, &closed)?;
    let ended = finish::told(args, &closed, &ending, &interrupt);
    first_of(ended, lost.map(|lost| lost_for_good(&lost, &finish::again(args, &closed))))
}

fn lost_for_good(lost: &str, again: &str) -> Failure {
    let cause = anyhow::anyhow!("an agent was lost: {lost}");
    Failure::agent(cause).hint(format!("what was measured is kept; go on with: {again}"))
}

/// What the program ends with: what the environment lacks comes before a lost agent, and that before
/// cells that met their cap (docs/results.md).
fn first_of(ended: Result<Exit, Failure>, lost: Option<Failure>) -> Result<Exit, Failure> {
    match (ended, lost) {
        (Ok(_), Some(lost)) => Err(lost),
        (ended, _) => ended,
    }
}

/// A run that is at its end is not measured again: whoever could, would keep the better score. One that
/// another host measured is signed by that host, or by nobody.
fn shown_again(args: &RunArgs, journal: &JournalDir) -> Result<Exit, Failure> {
    closing::say_finished(journal);
    let elsewhere = args.test.is_some();
    let render = if elsewhere { finish::render_files } else { finish::render_again };
    let closed = render(journal)?;
    finish::show(args, &closed)?;
    Ok(finish::exit(&closed))
}

/// A run whose last step is over.
struct Done {
    journal: JournalDir,
    ending: Ending,
    /// The agent that was lost for good, if one was.
    lost: Option<String>,
    /// Of the other hosts, over what they measured.
    signatures: Vec<Signature>,
}

/// Every step of a run, and the signatures of those who took part.
fn carry_out(args: &RunArgs, started: Started, watcher: &mut dyn Watcher) -> Result<Done, Failure> {
    let Started { plan, mut journal, records, mut runner, loss } = started;
    let mut conductor = Conductor::new(plan, records, watcher.now());
    let ending = drive(&mut conductor, &mut *runner, &mut journal, watcher);
    let lost = loss.told();
    if let Some(lost) = &lost {
        start::note(&mut journal, "agent_lost", lost)?;
    }
    let ending = ending.map_err(start::journal_failure)?;
    if ending == Ending::Complete {
        for cell in conductor.not_run_again() {
            let detail = format!("{}: the time for second runs was over", cell.id());
            start::note(&mut journal, Journal::NOT_RUN_AGAIN, &detail)?;
        }
    }
    let signatures = match ending {
        // Who goes on later signs then.
        Ending::Interrupted => Vec::new(),
        _ => finish::signatures(args, &mut journal, &mut *runner)?,
    };
    Ok(Done { journal, ending, lost, signatures })
}

/// Prints what would be run.
fn dry_run(args: &RunArgs) -> Result<Exit, Failure> {
    let plan = match &args.resume {
        Some(dir) => start::stored_plan(dir)?,
        None => args.plan()?.plan,
    };
    if args.json {
        output::json(&serde_json::json!({
            "plan": plan,
            "steps_per_pass": plan.pass_order(1).len(),
            "estimate_ns": plan.estimate(),
            "estimate_max_ns": plan.estimate_max(),
        }))?;
    } else {
        output::result(&format!("{}\n{}\n", plan.to_toml(), outlook(&plan)))?;
        start::warn(&plan);
    }
    Ok(Exit::Done)
}

/// `# 123 steps in each of 2 to 5 passes, 35 s to 80 s`
fn outlook(plan: &Plan) -> String {
    let steps = plan.pass_order(1).len();
    let (min, max) = (plan.passes.min, plan.passes.max);
    let passes = if min == max { several(min, "pass") } else { format!("{min} to {max} passes") };
    let (sure, most) = (span(plan.estimate()), span(plan.estimate_max()));
    format!("# {steps} steps in each of {passes}, {sure} to {most}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_codes_the_one_that_comes_first_in_the_table_is_the_program_s() {
        let environment = || Err(mismatch("delay"));
        let lost = || Some(lost_for_good("active: silent", "btu run --resume d"));
        let code = |ended, lost| match first_of(ended, lost) {
            Ok(exit) => exit,
            Err(failure) => failure.exit,
        };
        for (ended, lost, exit) in [
            (environment(), lost(), Exit::Environment),
            (environment(), None, Exit::Environment),
            (Ok(Exit::Incomplete), lost(), Exit::Agent),
            (Ok(Exit::Done), lost(), Exit::Agent),
            (Ok(Exit::Incomplete), None, Exit::Incomplete),
            (Ok(Exit::Done), None, Exit::Done),
        ] {
            assert_eq!(code(ended, lost), exit);
        }
    }
}
