//! What happens before the first launch: hosts, layers that are there, disclosure, result directory.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use anyhow::anyhow;
use btu_control::JournalDir;
use btu_core::app::plan::Plan;
use btu_core::app::sample::Line;
use btu_core::disclosure::Fact;
use btu_engine::EngineError;
use btu_engine::app::attempt;
use btu_engine::message;
use btu_engine::message::RanksAre;

use super::options::RunArgs;
use super::path::Hosts;
use super::planning;
use super::planning::LeftOut;
use super::planning::Planned;
use super::progress::Progress;
use super::rank;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::facts;
use crate::measurement::journal;
use crate::measurement::notes;
use crate::measurement::place;
use crate::output;

/// A measurement that is ready for its next launch.
pub(super) struct Started {
    pub(super) plan: Plan,
    pub(super) journal: JournalDir,
    /// Everything that the journal holds so far.
    pub(super) lines: Vec<Line>,
    pub(super) hosts: Hosts,
    pub(super) progress: Progress,
}

/// Prepares a new measurement or the rest of an old one.
pub(super) fn start(
    args: &RunArgs,
    mut planned: Planned,
    interrupt: &Interrupt,
) -> Result<Started, Failure> {
    if let Some(out) = &args.result.out {
        place::free(out)?;
    }
    let is_quiet = args.result.quiet || args.result.json;
    if !is_quiet {
        notes::tell_of_this_host();
    }
    let mut disclosure = facts::of_this_host();
    disclosure.note.clone_from(&args.result.note);
    let hosts = Hosts::of(planned.plan.path)?;
    disclosure.placement = facts::placed(hosts.facts.clone());
    let tried = try_layers(&mut planned, &hosts, interrupt);
    // What an interrupt ended says nothing of a layer.
    if interrupt.flag().load(Relaxed) {
        return Err(interrupt.before_all());
    }
    disclosure.placement.extend(tried?);
    if let Some(told) = planning::told(&planned.left_out).filter(|_| !is_quiet) {
        output::message(&told);
    }
    if planned.takes_what_is_there
        && !is_quiet
        && let Some(told) = planning::told_of_others()
    {
        output::message(&told);
    }
    let Planned { plan, left_out, .. } = planned;
    let (journal, lines) = if let Some(directory) = &args.result.resume {
        journal::go_on(directory, &disclosure)?
    } else {
        let (named, text) = (args.result.out.as_deref(), plan.to_toml());
        let mut journal = journal::begin(named, || default_out(&plan), &text, &disclosure)?;
        let missing = left_out.into_iter();
        let lines: Vec<Line> =
            missing.map(|LeftOut { what, reason }| Line::AppMissing { what, reason }).collect();
        for line in &lines {
            journal.keep(line).map_err(journal::journal_failure)?;
        }
        (journal, lines)
    };
    Ok(Started { plan, journal, lines, hosts, progress: Progress::new(is_quiet) })
}

/// Joins two ranks over each layer, so that what cannot be is known before anything is launched. Where all were asked
/// for, those are taken that are there. Gives what is to be said of libraries of others, by their layers.
fn try_layers(
    planned: &mut Planned,
    hosts: &Hosts,
    interrupt: &Interrupt,
) -> Result<BTreeMap<String, Fact>, Failure> {
    let (seats, wait, program) = (hosts.seats(2), planned.plan.wait, rank::program());
    let try_layer = |name: &str| attempt(name, wait, &seats, interrupt.flag(), &program);
    let (mut there, mut last, mut facts) = (Vec::new(), None, BTreeMap::new());
    for name in std::mem::take(&mut planned.plan.layers) {
        match try_layer(&name) {
            Ok(library) => {
                facts.extend(disclosed(&name, library));
                there.push(name);
            }
            Err(cause) if planned.takes_what_is_there => {
                let (what, reason) = (name.clone(), cause.sentence());
                planned.left_out.push(LeftOut { what, reason });
                last = Some(not_there(&name, &cause));
            }
            Err(cause) => return Err(not_there(&name, &cause)),
        }
    }
    planned.plan.layers = there;
    match last {
        Some(none) if planned.plan.layers.is_empty() => Err(none),
        _ => Ok(facts),
    }
}

/// Nothing of a layer of this program.
fn disclosed(name: &str, library: Option<String>) -> Option<(String, Fact)> {
    let RanksAre::Processes(layer) = message::by_name(name)?.ranks() else { return None };
    Some((name.to_owned(), Fact::known(format!("{}, {}", library?, layer.disclosed()))))
}

fn not_there(layer: &str, cause: &EngineError) -> Failure {
    Failure::environment(anyhow!("{layer}: {}", cause.sentence())).hint(
        "btu doctor tells more; --layers all, of a new measurement, leaves out what is not there",
    )
}

/// `btu-results/20261121T203303Z-app-S`
fn default_out(plan: &Plan) -> std::path::PathBuf {
    let what = match plan.programs.as_slice() {
        [only] => format!("app-{}-{}", only.kernel, plan.class),
        _ => format!("app-{}", plan.class),
    };
    place::named_out(&what, SystemTime::now())
}
