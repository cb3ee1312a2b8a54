//! What happens before the first cell: plan, disclosure, testbed, result directory.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use btu_control::JournalDir;
use btu_control::JournalError;
use btu_control::Runner;
use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::journal::Record;
use btu_core::journal::codec::TornLine;
use btu_core::plan::Plan;
use serde::de::DeserializeOwned;

use super::caution::caution;
use super::facts;
use super::first_part::same_agents;
use super::first_part::same_host;
use super::first_part::same_placement;
use super::first_part::same_settings;
use super::interrupt::Interrupt;
use super::local::LocalRunner;
use super::local::activities;
use super::options;
use super::options::RunArgs;
use super::place;
use super::remote::Loss;
use super::remote::RemoteRunner;
use crate::exit::Failure;
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
    let out = args.out.clone().unwrap_or_else(|| place::default_out(&plan, jiff::Timestamp::now()));
    place::free(&out)?;
    if !args.quiet {
        warn(&plan);
    }
    let mut hosts = facts::disclosure(args);
    let directory = activities::directory(args, &plan, None)?;
    let Made { runner, loss } = make(args, &mut plan, directory, &mut hosts, (interrupt, None))?;
    let mut journal =
        JournalDir::create(&out, &plan.to_toml(), given.as_deref(), &hosts).map_err(not_created)?;
    note(&mut journal, "started", "a new run")?;
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

/// Says on stderr what speaks against this plan on this machine.
pub(super) fn warn(plan: &Plan) {
    let cpus = btu_sys::cpu::allowed().map_or(usize::MAX, |cpus| cpus.len());
    if let Some(told) = caution(&plan.preset, cpus) {
        output::message(&told);
    }
}

fn resume(args: &RunArgs, dir: &Path, interrupt: &Interrupt) -> Result<Start, Failure> {
    let mut plan = stored_plan(dir)?;
    args.fits(&plan)?;
    let mut here = facts::disclosure(args);
    let (mut journal, stored) = JournalDir::resume(dir).map_err(journal_failure)?;
    same_host(&stored.hosts, &here)?;
    if stored.is_finished() {
        return Ok(Start::Finished(journal));
    }
    // Before anything is reserved or written.
    same_settings(&stored.hosts, &here)?;
    let directory = activities::directory(args, &plan, Some(&stored.hosts))?;
    let Made { runner, loss } =
        make(args, &mut plan, directory, &mut here, (interrupt, Some(&stored.hosts)))?;
    same_placement(&stored.hosts, &here)?;
    sign::unsign(&journal);
    let torn = stored.torn.as_ref().map(set_aside);
    if let Some(torn) = &torn {
        output::message(torn);
    }
    let kept = format!("{} records kept", stored.records.len());
    if stored.events.is_empty() {
        note(&mut journal, "started", "a new run")?;
    }
    let resumed: Vec<String> = std::iter::once(kept).chain(torn).collect();
    note(&mut journal, "resumed", &resumed.join("; "))?;
    let records = stored.records;
    Ok(Start::Ready(Box::new(Started { plan, journal, records, runner, loss })))
}

/// A new journal of another verb, whose plan is this text.
pub(crate) fn begin(out: &Path, plan: &str, hosts: &Disclosure) -> Result<JournalDir, Failure> {
    let mut journal = JournalDir::create(out, plan, None, hosts).map_err(not_created)?;
    note(&mut journal, "started", "a new measurement")?;
    Ok(journal)
}

/// A journal of another verb with the lines that it holds, on the hosts of its first part as they were.
pub(crate) fn go_on<L: DeserializeOwned>(
    directory: &Path,
    here: &Disclosure,
) -> Result<(JournalDir, Vec<L>), Failure> {
    let (mut journal, stored) = JournalDir::resume::<L>(directory).map_err(journal_failure)?;
    same_host(&stored.hosts, here)?;
    same_settings(&stored.hosts, here)?;
    same_agents(&stored.hosts, here)?;
    same_placement(&stored.hosts, here)?;
    sign::unsign(&journal);
    note(&mut journal, "resumed", &format!("{} lines kept", stored.records.len()))?;
    Ok((journal, stored.records))
}

/// What became of a line that a crash cut off.
fn set_aside(torn: &TornLine) -> String {
    let (number, length) = (torn.number, torn.bytes.len());
    format!(
        "samples.jsonl:{number}: torn last line ({length} bytes) moved to samples.torn; \
         its run is repeated"
    )
}

/// The plan of a result directory.
pub(super) fn stored_plan(dir: &Path) -> Result<Plan, Failure> {
    let file = dir.join("plan.toml");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("read {}", file.display()))
        .map_err(|error| Failure::usage(error).hint(no_plan(dir)))?;
    options::stored(&file.display().to_string(), &text)
}

/// What to do with a directory that has no plan.
fn no_plan(dir: &Path) -> &'static str {
    if btu_control::is_free(dir).unwrap_or(false) {
        "nothing was measured there yet: start the run again, with --out and this directory"
    } else {
        "--resume wants the directory of a run"
    }
}

/// Appends an event of the run as a whole.
pub(crate) fn note(journal: &mut JournalDir, event: &str, detail: &str) -> Result<(), Failure> {
    let record =
        EventRecord { at: place::timestamp(), event: event.to_owned(), detail: detail.to_owned() };
    journal.note(&record).map_err(journal_failure)
}

/// Nothing was measured yet, so another directory is all it takes.
fn not_created(error: JournalError) -> Failure {
    match error {
        JournalError::Io { .. } => {
            Failure::environment(error).hint("name another directory with --out")
        }
        other => journal_failure(other),
    }
}

/// A wrong directory is the user's, a full disk is the environment's.
pub(crate) fn journal_failure(error: JournalError) -> Failure {
    match error {
        JournalError::NotEmpty { .. } => Failure::usage(error)
            .hint("name another directory with --out; what was begun goes on with --resume"),
        JournalError::Corrupted { .. } => Failure::usage(error)
            .hint("btu report --salvage shows what can be read; a new run is needed to go on"),
        JournalError::Locked { .. } | JournalError::NotAResult { .. } => Failure::usage(error),
        JournalError::Io { .. } | JournalError::Unreadable { .. } => Failure::environment(error)
            .hint("what was measured so far is kept; go on with --resume and its directory"),
    }
}
