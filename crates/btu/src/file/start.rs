//! What happens before the first trial: plan, hosts, disclosure, result directory.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use anyhow::anyhow;
use btu_control::JournalDir;
use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_core::file::plan::Path;
use btu_core::file::plan::Plan;
use btu_core::file::sample::Line;
use btu_core::file::sample::Operation;
use btu_core::file::sample::Trial;
use btu_engine::EngineError;
use btu_engine::file::service::Service;

use super::options::FileArgs;
use super::planning::needs_files;
use super::progress::Progress;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::ends;
use crate::measurement::ends::Ends;
use crate::measurement::facts;
use crate::measurement::journal;
use crate::measurement::notes;
use crate::measurement::place;

/// A measurement that is ready for its next trial.
pub(super) struct Started {
    pub(super) plan: Plan,
    pub(super) journal: JournalDir,
    /// What the journal holds so far.
    pub(super) lines: Vec<Line>,
    pub(super) service: Service,
    pub(super) absent: Absent,
    pub(super) progress: Progress,
}

/// What protocols cannot do here, with the reason.
#[derive(Debug, Default)]
pub(super) struct Absent(BTreeMap<(String, Operation), String>);

/// Prepares a new measurement or the rest of an old one.
pub(super) fn start(args: &FileArgs, interrupt: &Interrupt) -> Result<Started, Failure> {
    let plan = args.plan()?;
    args.result.out.as_deref().map_or(Ok(()), place::free)?;
    let directory = args.directory()?;
    if !args.result.quiet && !args.result.json {
        notes::tell_of_this_host();
    }
    let mut hosts = facts::of_this_host();
    hosts.note.clone_from(&args.result.note);
    let Ends { near, far, path, facts } = match plan.path {
        Path::Direct => ends::direct()?,
        Path::Loopback => ends::loopback(),
    };
    hosts.placement = facts::placed(facts);
    let mut service = Service::between(near, far, plan.patience_ns, interrupt.flag().clone());
    service.path = path;
    service.program = Some(PROGRAM.into());
    if needs_files(&plan) {
        let named = Fact::known(directory.display().to_string());
        hosts.placement.insert("io_directory".to_owned(), named);
        service.keep_files_in(directory).map_err(unusable)?;
    }
    let absent = Absent::of(&plan, &mut service);
    // What an interrupt ended says nothing of a protocol.
    if interrupt.flag().load(Relaxed) {
        return Err(interrupt.before_all());
    }
    let absent = absent?;
    let (journal, lines) = journal_of(args, &plan, &hosts, &absent)?;
    let progress = Progress::new(args.result.quiet || args.result.json);
    Ok(Started { plan, journal, lines, service, absent, progress })
}

/// This program, whatever became of its file since it was started.
const PROGRAM: &str = "/proc/self/exe";

fn unusable(cause: EngineError) -> Failure {
    let hint = "name a directory on a disk where you may write: --io-dir DIR";
    Failure::environment(cause).hint(hint)
}

/// A new journal or the one that goes on, which says what is not there now.
fn journal_of(
    args: &FileArgs,
    plan: &Plan,
    hosts: &Disclosure,
    absent: &Absent,
) -> Result<(JournalDir, Vec<Line>), Failure> {
    let (mut journal, lines) = if let Some(directory) = &args.result.resume {
        journal::go_on(directory, hosts)?
    } else {
        let (named, out) = (args.result.out.as_deref(), || default_out(plan));
        (journal::begin(named, out, &plan.to_toml(), hosts)?, Vec::new())
    };
    for line in absent.lines().iter().filter(|line| !lines.contains(*line)) {
        journal.keep(line).map_err(journal::journal_failure)?;
    }
    Ok((journal, lines))
}

impl Absent {
    /// Tries every protocol of a plan with every operation that is asked of it.
    fn of(plan: &Plan, service: &mut Service) -> Result<Self, Failure> {
        let (mut absent, mut there) = (Self::default(), 0);
        let trials = plan.trials();
        let asked: BTreeSet<_> = trials.iter().map(|one| (&one.protocol, one.operation)).collect();
        for (protocol, operation) in asked {
            match service.try_out(protocol, operation) {
                Ok(()) => there += 1,
                Err(cause) => {
                    absent.0.insert((protocol.clone(), operation), cause.sentence());
                }
            }
        }
        match absent.0.iter().next() {
            Some(((protocol, operation), reason)) if there == 0 => {
                let cause = anyhow!("{protocol}: {}: {reason}", operation.name());
                Err(Failure::environment(cause)
                    .hint("name others with --protocols; btu list file-protocols"))
            }
            _ => Ok(absent),
        }
    }

    pub(super) fn has(&self, trial: &Trial) -> bool {
        self.0.contains_key(&(trial.protocol.clone(), trial.operation))
    }

    /// A line for each protocol, with all that it cannot do.
    fn lines(&self) -> Vec<Line> {
        let mut reasons: BTreeMap<&String, Vec<String>> = BTreeMap::new();
        for ((protocol, operation), reason) in &self.0 {
            reasons.entry(protocol).or_default().push(format!("{}: {reason}", operation.name()));
        }
        let line = |(protocol, reasons): (&String, Vec<String>)| Line::FileMissing {
            protocol: protocol.clone(),
            reason: reasons.join("; "),
        };
        reasons.into_iter().map(line).collect()
    }
}

/// `btu-results/20261121T203303Z-file-baseline`
fn default_out(plan: &Plan) -> std::path::PathBuf {
    let what = match &plan.experiments[..] {
        [one] => one.clone(),
        more => format!("{}-experiments", more.len()),
    };
    place::named_out(&format!("file-{what}"), SystemTime::now())
}
