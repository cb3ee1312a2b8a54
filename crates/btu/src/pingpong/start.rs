//! What happens before the first visit: plan, hosts, disclosure, result directory.

use std::time::SystemTime;

use anyhow::anyhow;
use btu_control::JournalDir;
use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::REFERENCE;
use btu_core::pingpong::configuration::labels;
use btu_core::pingpong::plan::Plan;
use btu_core::pingpong::sample::ConfigurationId;
use btu_core::pingpong::sample::Line;
use btu_core::pingpong::sizes::LARGEST;
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::is_of_threads;
use btu_engine::pingpong::Sessions;
use btu_engine::pingpong::transport;
use btu_sys::clock;
use btu_sys::limit;

use super::import;
use super::options::PingPongArgs;
use super::path;
use super::path::Hosts;
use super::planning;
use super::progress::Progress;
use super::room;
use crate::exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::facts;
use crate::measurement::journal;
use crate::measurement::notes;
use crate::measurement::place;

/// A ping-pong that is ready for its next visit.
pub(super) struct Started {
    pub(super) plan: Plan,
    pub(super) journal: JournalDir,
    /// Everything that the journal holds so far.
    pub(super) lines: Vec<Line>,
    pub(super) sessions: Sessions,
    pub(super) clock_step: Nanos,
    pub(super) progress: Progress,
}

/// Prepares a new measurement or the rest of an old one.
pub(super) fn start(args: &PingPongArgs, interrupt: &Interrupt) -> Result<Started, Failure> {
    let plan = args.plan()?;
    room::for_plan(&plan)?;
    if let Some(out) = &args.result.out {
        place::free(out)?;
    }
    if !args.result.quiet && !args.result.json {
        notes::tell_of_this_host();
    }
    let mut hosts = facts::of_this_host();
    hosts.note.clone_from(&args.result.note);
    let imports = import::lines(&args.import)?;
    let Hosts { mut sessions, facts, far } = path::hosts(args, &plan, interrupt)?;
    hosts.hosts.extend(far.map(|far| (Role::Active.name().to_owned(), far)));
    sessions.plant = planning::plant(&plan)?;
    // Visits tell of a clock that stands still.
    let step = Nanos::new(clock::step_ns().unwrap_or(1));
    hosts.placement = facts::placed(facts);
    hosts.placement.insert("clock_step_ns".to_owned(), Fact::known(step.count()));
    let reading = clock::read_ns().map(|cost| Fact::known((cost * 10.0).round() / 10.0));
    hosts.placement.extend(reading.map(|cost| ("clock_read_ns".to_owned(), cost)));
    let progress = Progress::new(args.result.quiet || args.result.json);
    let (journal, lines) = if let Some(directory) = &args.result.resume {
        journal::go_on(directory, &hosts)?
    } else {
        let lines = declare(args, &plan, &mut sessions)?;
        fresh(args, &plan, &hosts, lines.into_iter().chain(imports).collect())?
    };
    Ok(Started { plan, journal, lines, sessions, clock_step: step, progress })
}

/// A new journal with its first lines.
fn fresh(
    args: &PingPongArgs,
    plan: &Plan,
    hosts: &Disclosure,
    lines: Vec<Line>,
) -> Result<(JournalDir, Vec<Line>), Failure> {
    let mut journal =
        journal::begin(args.result.out.as_deref(), || default_out(plan), &plan.to_toml(), hosts)?;
    for line in &lines {
        journal.keep(line).map_err(journal::journal_failure)?;
    }
    Ok((journal, lines))
}

/// What is measured, and what is not there. One connection of each configuration is tried, so that
/// what cannot be is known before anything is measured. One that was merely not made in time is measured
/// beside others all the same: each of its visits then ends with the reason.
fn declare(
    args: &PingPongArgs,
    plan: &Plan,
    sessions: &mut Sessions,
) -> Result<Vec<Line>, Failure> {
    let (mut lines, mut there, mut first) = (Vec::new(), 0, None);
    let numbered = plan.numbered();
    let all: Vec<Configuration> = numbered.iter().map(|(_, one)| one.clone()).collect();
    for ((id, configuration), label) in numbered.into_iter().zip(labels(&all)) {
        let tried = try_one(sessions, &configuration);
        let largest_bytes = largest(&configuration);
        match tried {
            Ok(()) => there += usize::from(configuration.transport != REFERENCE),
            Err(cause) if cause.is_late() => {
                first.get_or_insert_with(|| not_there(&label, &cause));
            }
            Err(cause) if args.takes_what_is_there() => {
                let reason = cause.sentence();
                first.get_or_insert_with(|| not_there(&label, &cause));
                lines.push(Line::PingPongMissing { transport: label, reason });
                continue;
            }
            Err(cause) => return Err(not_there(&label, &cause)),
        }
        lines.push(Line::PingPongConfiguration { id, configuration, largest_bytes });
    }
    sessions.close();
    match first.filter(|_| there == 0) {
        Some(none) => Err(none),
        None => carries_a_size(plan, &lines).map(|()| lines),
    }
}

/// A plan whose every size is too large for every transport would measure nothing.
fn carries_a_size(plan: &Plan, lines: &[Line]) -> Result<(), Failure> {
    let declared = declared(lines);
    let curves = declared.iter().filter(|(_, one, _)| one.transport != REFERENCE);
    let most = curves.max_by_key(|(.., largest)| *largest);
    let Some((_, configuration, largest)) = most else { return Ok(()) };
    match plan.points().into_iter().min() {
        Some(least) if least > *largest => {
            let (name, most, least) = (&configuration.transport, largest.count(), least.count());
            let cause =
                anyhow!("{name} carries up to {most} B, and the smallest block is {least} B");
            Err(Failure::usage(cause).hint("write smaller --sizes, or name another transport"))
        }
        _ => Ok(()),
    }
}

/// Makes a connection of a configuration, where it is one that needs any.
fn try_one(sessions: &mut Sessions, configuration: &Configuration) -> Result<(), EngineError> {
    if configuration.transport == REFERENCE { Ok(()) } else { sessions.try_out(configuration) }
}

/// The largest block of a configuration.
fn largest(configuration: &Configuration) -> Bytes {
    if configuration.transport == REFERENCE {
        return LARGEST;
    }
    let found = transport::by_name(&configuration.transport);
    found.map_or(Bytes::ZERO, |transport| transport.largest_with(configuration))
}

fn not_there(name: &str, cause: &EngineError) -> Failure {
    let hint = if is_of_threads(cause) {
        exit::against_no_thread(limit::address_space())
    } else {
        "btu pingpong all leaves out what this machine does not have; btu doctor tells more"
    };
    Failure::environment(anyhow!("{name}: {}", cause.sentence())).hint(hint)
}

/// `btu-results/20261121T203303Z-pingpong-tcp`
fn default_out(plan: &Plan) -> std::path::PathBuf {
    let mut names: Vec<&str> = Vec::new();
    for configuration in &plan.configurations {
        if !names.contains(&configuration.transport.as_str()) {
            names.push(&configuration.transport);
        }
    }
    let what =
        if names.len() > 3 { format!("{}-transports", names.len()) } else { names.join("-") };
    place::named_out(&format!("pingpong-{what}"), SystemTime::now())
}

/// The configurations of the journal with what they carry, the reference apart.
pub(super) fn declared(lines: &[Line]) -> Vec<(ConfigurationId, Configuration, Bytes)> {
    let declared = lines.iter().filter_map(|line| match line {
        Line::PingPongConfiguration { id, configuration, largest_bytes } => {
            Some((*id, configuration.clone(), *largest_bytes))
        }
        _ => None,
    });
    declared.collect()
}
