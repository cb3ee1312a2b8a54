//! The verb `doctor`: what this machine can and cannot do for BTU, each line with its remedy.

mod calibration;
mod check;
mod finding;
mod machine;
mod real;
mod text;

use serde_json::Value;
use serde_json::json;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use check::CHECKS;
use finding::Check;
use finding::Finding;
use finding::Status;
use machine::Machine;
use real::ThisMachine;

pub(crate) use check::STOPPED;
pub(crate) use check::is_busy;
pub(crate) use check::quota;

/// Options of `btu doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the verb: exit code 3 where something is missing that every run needs.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    let machine = ThisMachine::enter();
    let answers = examine(&machine);
    if args.json {
        output::json(&document(&answers, &machine))?;
    } else {
        output::result(&text::render(&answers))?;
    }
    Ok(if able(&answers) { Exit::Done } else { Exit::Environment })
}

/// A check with its answer.
type Answer = (&'static Check, Finding);

fn examine(machine: &dyn Machine) -> Vec<Answer> {
    CHECKS.iter().map(|check| (*check, (check.ask)(machine))).collect()
}

/// True where `btu run` and `btu link` work.
fn able(answers: &[Answer]) -> bool {
    !answers.iter().any(|(check, finding)| check.needed && finding.status == Status::Missing)
}

fn document(answers: &[Answer], machine: &dyn Machine) -> Value {
    let checks = answers.iter().map(|(check, finding)| {
        json!({
            "name": check.name,
            "title": check.title,
            "serves": check.serves.to_string(),
            "needed": check.needed,
            "status": finding.status,
            "found": finding.found,
            "cause": finding.cause,
            "remedy": finding.remedy,
        })
    });
    json!({
        "schema_version": 2,
        "able": able(answers),
        "checks": checks.collect::<Vec<_>>(),
        "calibration": machine.calibration().ok(),
        "arrival": machine.arrival().ok(),
    })
}

#[cfg(test)]
mod tests;
