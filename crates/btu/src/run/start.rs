//! What happens before the first cell: plan, disclosure, testbed, result directory.

use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Context;
use btu_control::JournalDir;
use btu_control::Runner;
use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::journal::Record;
use btu_core::journal::file;
use btu_core::run::plan::Plan;

use super::caution::caution;
use super::caution::short_budget;
use super::congestion;
use super::local::LocalRunner;
use super::local::activities;
use super::options;
use super::options::RunArgs;
use super::remote::Loss;
use super::remote::RemoteRunner;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::facts;
use crate::measurement::first_part::same_agents;
use crate::measurement::first_part::same_host;
use crate::measurement::first_part::same_placement;
use crate::measurement::first_part::same_settings;
use crate::measurement::journal;
use crate::measurement::notes;
use crate::measurement::place;
use crate::output;
use crate::sign;

/// A run that is ready for its first cell.
pub(super) struct Started {
    pub(super) plan: Plan,
    pub(super) journal: JournalDir,
    pub(super) records: Vec<Record>,
    pub(super) runner: Box<dyn Runner>,
    pub(super) loss: Loss,
}

/// The hosts of a run, ready, and what is to be said of them.
struct Made {
    runner: Box<dyn Runner>,
    loss: Loss,
}

/// What there is to do.
pub(super) enum Start {
    /// Nothing: the result of this directory is at its end.
    Finished(JournalDir),
    /// To measure.
    Ready(Box<Started>),
}

/// Prepares a new run or the rest of an old one.
pub(super) fn start(args: &RunArgs, interrupt: &Interrupt) -> Result<Start, Failure> {
    match &args.resume {
        Some(dir) => resume(args, dir, interrupt),
        None => fresh(args, interrupt).map(|started| Start::Ready(Box::new(started))),
    }
}

/// Prepares a new run.
fn fresh(args: &RunArgs, interrupt: &Interrupt) -> Result<Started, Failure> {
    let options::Planned { mut plan, given } = args.plan()?;
    args.out.as_deref().map_or(Ok(()), place::free)?;
    if !args.quiet {
        warn(args, &plan);
        notes::tell_of_this_host();
    }
    let mut hosts = disclosure(args);
    let directory = activities::directory(args, &plan, None)?;
    let Made { runner, loss } = make(args, &mut plan, directory, &mut hosts, (interrupt, None))?;
    let default = || place::default_out(&plan, SystemTime::now());
    let text = plan.to_toml();
    let mut journal = journal::created(args.out.as_deref(), default, |out| {
        JournalDir::create(out, &text, given.as_deref(), &hosts)
    })?;
    journal::begun(&mut journal, NEW, &text)?;
    Ok(Started { plan, journal, records: Vec::new(), runner, loss })
}

/// The runner of these options, whose activity `io` works in `directory`. What it discloses goes to `hosts`; a plan may lose cases that these
/// hosts cannot run.
fn make(
    args: &RunArgs,
    plan: &mut Plan,
    directory: PathBuf,
    hosts: &mut Disclosure,
    (interrupt, stored): (&Interrupt, Option<&Disclosure>),
) -> Result<Made, Failure> {
    let of_first_part =
        |hosts: &Disclosure| stored.map_or(Ok(()), |stored| same_agents(stored, hosts));
    if args.is_remote() {
        let mut runner = RemoteRunner::new(args, plan, directory, interrupt)?;
        hosts.hosts.extend(runner.facts()?);
        hosts.placement = facts::placed(runner.placement());
        of_first_part(hosts)?;
        if stored.is_some() {
            runner.loses_no_case()?;
        }
        let loss = runner.loss();
        return Ok(Made { runner: Box::new(runner), loss });
    }
    of_first_part(hosts)?;
    let runner = LocalRunner::new(plan.clone(), directory, interrupt)?;
    hosts.placement = facts::placed(runner.placement());
    Ok(Made { runner: Box::new(runner), loss: Loss::default() })
}

/// Everything but the placement, read before the process enters a namespace of its own.
fn disclosure(args: &RunArgs) -> Disclosure {
    Disclosure {
        price: args.price.clone(),
        marks: args.marks.clone(),
        note: args.note.clone(),
        ..facts::of_this_host()
    }
}

/// Says on stderr what speaks against this plan on this machine.
pub(super) fn warn(args: &RunArgs, plan: &Plan) {
    let told = [
        caution(plan, notes::cpus()),
        short_budget(plan),
        congestion::unlisted(plan),
        activities::unused(args, plan),
    ];
    for told in told.iter().flatten() {
        output::message(told);
    }
}

fn resume(args: &RunArgs, dir: &Path, interrupt: &Interrupt) -> Result<Start, Failure> {
    let mut plan = stored_plan(dir)?;
    args.fits(&plan)?;
    let mut here = disclosure(args);
    let (mut journal, stored) = journal::reopened(dir)?;
    journal::has_begun(dir, &stored)?;
    // What is signed is only shown: any host and any build can do that.
    if !(stored.is_finished() && sign::is_signed(&journal)) {
        same_host(&stored.hosts, &here)?;
    }
    if stored.is_finished() {
        return Ok(Start::Finished(journal));
    }
    // Before anything is reserved or written.
    same_settings(&stored.hosts, &here)?;
    let directory = activities::directory(args, &plan, Some(&stored.hosts))?;
    let Made { runner, loss } =
        make(args, &mut plan, directory, &mut here, (interrupt, Some(&stored.hosts)))?;
    same_placement(&stored.hosts, &here)?;
    sign::reopen(&journal);
    let torn = stored.torn.as_ref().map(|torn| journal::set_aside(torn, "its run is repeated"));
    let kept = format!("{} records kept", stored.records.len());
    if stored.events.is_empty() {
        journal::begun(&mut journal, NEW, &stored.plan)?;
    }
    let resumed: Vec<String> = std::iter::once(kept).chain(torn.clone()).collect();
    journal::note(&mut journal, EventRecord::RESUMED, &resumed.join("; "))?;
    if let Some(torn) = &torn {
        output::message(torn);
    }
    let records = stored.records;
    Ok(Start::Ready(Box::new(Started { plan, journal, records, runner, loss })))
}

/// The plan of a result directory.
pub(super) fn stored_plan(dir: &Path) -> Result<Plan, Failure> {
    let file = dir.join(file::PLAN);
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("read {}", file.display()))
        .map_err(|error| Failure::usage(error).hint(no_plan(dir)))?;
    if text.trim().is_empty() {
        let cause = anyhow::anyhow!("{}: nothing is in it", file.display());
        return Err(Failure::usage(cause).hint(journal::PUT_BACK));
    }
    let plan = options::stored(&file.display().to_string(), &text);
    plan.map_err(|refused| match options::other_verb(&text) {
        Some(verb) => {
            refused.hint(format!("it is a result of btu {verb}: write btu {verb} --resume"))
        }
        None => refused,
    })
}

/// What begins.
const NEW: &str = "a new run";

/// What to do with a directory that has no plan.
fn no_plan(dir: &Path) -> &'static str {
    if btu_control::is_free(dir).unwrap_or(false) {
        "nothing was measured there yet: start the run again, with --out and this directory"
    } else {
        "--resume wants the directory of a run"
    }
}
