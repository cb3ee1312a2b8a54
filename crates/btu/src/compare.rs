//! The verb `compare`: two results, or those of many nights: what changed, and whether that is too much.

mod history;
mod paired;
mod run;

use anyhow::anyhow;
use btu_core::comparison::Comparison;
use btu_core::comparison::Condition;
use btu_core::comparison::Outcome;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::rendering::Rendering;
use crate::stored;

/// Options of `btu compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// The result to compare with, of any verb: a directory, a bundle, or NAME= one of them
    #[arg(value_name = "[NAME=]BEFORE", required_unless_present = "history")]
    before: Option<String>,
    /// The result that is compared, of the same verb
    #[arg(value_name = "[NAME=]AFTER", required_unless_present = "history")]
    after: Option<String>,
    /// Exit 1 where this is so: 'btu<-5%', 'application.*.penalty>10%', 'job.*/*/tcp.time>5%'; repeatable
    #[arg(long, value_name = "CONDITION", value_delimiter = ',')]
    fail_if: Vec<Condition>,
    /// Show the figures of results that are not comparable, without any verdict
    #[arg(long, conflicts_with = "fail_if")]
    force: bool,
    #[command(flatten)]
    history: history::HistoryArgs,
    #[command(flatten)]
    rendering: Rendering,
}

/// Runs the verb.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    if let Some(folder) = &args.history.history {
        return history::compare(args, folder);
    }
    let (Some(before), Some(after)) = (&args.before, &args.after) else {
        return Err(Failure::usage(anyhow!("two results are compared")));
    };
    let given = [before.clone(), after.clone()];
    let [before, after] = [stored::read(before)?, stored::read(after)?];
    match [before.1.kind().verb, after.1.kind().verb] {
        ["run", "run"] => run::compare(args, &given),
        [verb, other] if verb == other => paired::compare(args, verb, [before, after]),
        [first, second] => {
            let [before, after] = [before.0, after.0];
            let cause = anyhow!(
                "{before} is of btu {first} and {after} of btu {second}: results of one verb are compared"
            );
            Err(Failure { exit: Exit::Incomparable, cause, hint: None })
        }
    }
}

impl CompareArgs {
    /// What becomes of every condition.
    fn judged(&self, comparison: &Comparison) -> Result<Vec<Outcome>, Failure> {
        let outcomes = self.fail_if.iter().map(|condition| condition.judge(comparison));
        let outcomes: Result<_, _> = outcomes.collect();
        outcomes.map_err(|error| Failure::usage(anyhow::Error::new(error).context("--fail-if")))
    }
}

/// A condition that a bound leaves open did not hold (docs/results.md: 6 before 1).
fn exit(outcomes: &[Outcome]) -> Exit {
    match outcomes {
        all if all.iter().any(|one| one.is_open) => Exit::Incomplete,
        all if all.iter().any(|one| one.met) => Exit::Threshold,
        _ => Exit::Done,
    }
}

const FORCE_HINT: &str = "--force shows the figures all the same, without any verdict";
const ALTERED_HINT: &str = "btu verify names what was altered; without --fail-if the figures are shown all the same, as to be doubted";
