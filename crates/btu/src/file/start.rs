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
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_engine::EngineError;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::file::service::Service;
use btu_sys::socket::Settings;

use super::guest::Guest;
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
use crate::output;

/// A measurement that is ready for its next trial.
pub(super) struct Started {
    pub(super) plan: Plan,
    pub(super) journal: JournalDir,
    /// What the journal holds so far.
    pub(super) lines: Vec<Line>,
    pub(super) service: Service,
    pub(super) absent: Absent,
    /// At a server of others.
    pub(super) guest: Option<Guest>,
    pub(super) progress: Progress,
}

impl Started {
    /// Leaves a server of others as it was.
    pub(super) fn leave(&mut self) -> Result<(), Failure> {
        self.guest.as_ref().map_or(Ok(()), |guest| guest.leave(&mut self.journal))
    }
}

/// What protocols cannot do here, with the reason.
#[derive(Debug, Default)]
pub(super) struct Absent(BTreeMap<(String, Operation), String>);

/// Prepares a new measurement or the rest of an old one.
pub(super) fn start(args: &FileArgs, interrupt: &Interrupt) -> Result<Started, Failure> {
    let mut plan = args.plan()?;
    args.result.out.as_deref().map_or(Ok(()), place::free)?;
    let directory = args.directory()?;
    if !args.result.quiet && !args.result.json {
        notes::tell_of_this_host();
        args.what.told_of_left_out().iter().for_each(|told| output::message(told));
    }
    let password = args.password_file.as_deref();
    let guest = plan.target.as_ref().map(|target| Guest::arrive(&plan, target, password));
    let mut guest = guest.transpose()?;
    guest.as_ref().map_or(Ok(()), |guest| has_size(&mut plan, guest.object))?;
    let mut hosts = facts::of_this_host();
    hosts.note.clone_from(&args.result.note);
    hosts.hosts.extend(guest.as_ref().map(|guest| ("active".to_owned(), guest.facts())));
    let (mut service, facts) = service(&plan, guest.as_ref(), interrupt)?;
    hosts.placement = facts::placed(facts);
    if needs_files(&plan) {
        let named = Fact::known(directory.display().to_string());
        hosts.placement.insert("io_directory".to_owned(), named);
        service.keep_files_in(directory).map_err(unusable)?;
    }
    let tried =
        if guest.is_some() { Ok(Absent::default()) } else { Absent::of(&plan, &mut service) };
    // What an interrupt ended says nothing of a protocol.
    if interrupt.flag().load(Relaxed) {
        return Err(interrupt.before_all());
    }
    let absent = tried?;
    let (mut journal, lines) = journal_of(args, &plan, &hosts, &absent)?;
    guest.as_mut().map_or(Ok(()), |guest| guest.furnish(&plan, &mut journal, &lines))?;
    let progress = Progress::new(args.result.quiet || args.result.json);
    Ok(Started { plan, journal, lines, service, absent, guest, progress })
}

/// The two hosts of a plan, and how they are placed.
fn service(
    plan: &Plan,
    guest: Option<&Guest>,
    interrupt: &Interrupt,
) -> Result<(Service, BTreeMap<String, Fact>), Failure> {
    let stop = || interrupt.flag().clone();
    let Ends { near, far, path, facts } = match (plan.path, guest) {
        (Path::Direct, _) => ends::direct()?,
        (Path::Loopback, _) | (Path::Target, None) => ends::loopback(),
        (Path::Target, Some(guest)) => {
            let here = Party {
                place: Place::here(Role::Test),
                address: guest.lodging.site.address.ip(),
                sockets: Settings::default(),
            };
            let fact = Fact::known("from this host to a server that somebody else runs");
            let service = Service::abroad(here, guest.lodging.clone(), plan.patience_ns, stop());
            return Ok((service, BTreeMap::from([("network".to_owned(), fact)])));
        }
    };
    let mut service = Service::between(near, far, plan.patience_ns, stop());
    service.path = path;
    service.program = Some(PROGRAM.into());
    Ok((service, facts))
}

/// The file that is retrieved has the size that it has.
fn has_size(plan: &mut Plan, object: Option<Bytes>) -> Result<(), Failure> {
    let Some(size) = object else { return Ok(()) };
    if let Some(was) = plan.sizes_bytes.first().filter(|was| **was != size) {
        let cause = anyhow!("the file of the target has {size}, and {was} are asked for");
        return Err(
            Failure::usage(cause).hint("leave --sizes out; a changed file is a new measurement")
        );
    }
    plan.sizes_bytes = vec![size];
    plan.illegal().map_or(Ok(()), |(key, cause)| Err(Failure::usage(anyhow!("{key}: {cause}"))))
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
