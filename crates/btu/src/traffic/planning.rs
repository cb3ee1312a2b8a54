//! From the options of `btu traffic FILE` to the plan of what is run.

use std::path::Path;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::journal::file;
use btu_core::link::ChainSpec;
use btu_core::link::LinkError;
use btu_core::link::Reader;
use btu_core::role::Role;
use btu_core::traffic::Scenario;
use btu_core::traffic::Test;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Link;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Study;
use btu_core::traffic::to_toml;

use super::call;
use super::options::FileArgs;
use super::options::PathArgs;
use super::options::PeerArgs;
use super::scenario;
use crate::conductor::NamedAgent;
use crate::exit::Failure;
use crate::input;
use crate::link::chains;
use crate::output;
use crate::state::StateDir;
use crate::traffic::remote::casting;
use crate::traffic::remote::casting::Agents;
use crate::traffic::remote::casting::Wishes;

/// The plan of a file's scenario, of a stored plan, or of a measurement that is gone on with.
pub(super) fn plan(args: &FileArgs) -> Result<Plan, Failure> {
    match (&args.plan, &args.resume, &args.scenario) {
        (Some(file), ..) => stored(file),
        (_, Some(directory), _) => stored(&directory.join(file::PLAN)),
        (.., Some(file)) => of_scenario(args, file),
        (None, None, None) => Err(Failure::usage(anyhow!("no scenario; write FILE"))),
    }
}

fn stored(file: &Path) -> Result<Plan, Failure> {
    let name = file.display().to_string();
    let text =
        input::text(file).with_context(|| format!("read plan {name}")).map_err(Failure::usage)?;
    let hint = if Plan::is_in(&text) {
        "with --dry-run this verb prints plans whose every value is legal"
    } else {
        "a plan of this verb says verb = \"traffic\"; see --dry-run"
    };
    let plan = Plan::stored(&name, &text).map_err(|cause| Failure::usage(cause).hint(hint))?;
    let links = plan.cells.iter().filter_map(|cell| cell.link.as_ref()).chain(&plan.link);
    links.flat_map(|link| [&link.up, &link.down]).try_for_each(|texts| held(texts).map(drop))?;
    Ok(plan)
}

/// The chain of a plan, which is all that a measurement of it needs, here, elsewhere and when it is gone on with: no
/// file that an element names goes with it.
fn held<T: AsRef<str>>(texts: &[T]) -> Result<ChainSpec, Failure> {
    ChainSpec::as_given(texts, &Reader::PLAN).map_err(|cause| match cause {
        LinkError::File { text, .. } => {
            let cause = anyhow!("link \"{text}\": a measurement of traffic keeps no file beside its plan");
            Failure::usage(cause).hint(
                "write a rate in the place of a trace, a pattern k@n/P in that of a list; btu link takes the file",
            )
        }
        cause => Failure::usage(anyhow!("link: {cause}")),
    })
}

fn of_scenario(args: &FileArgs, file: &Path) -> Result<Plan, Failure> {
    let mut scenario = scenario::read(file, args.over.as_deref())?;
    let FileArgs { host: hosts, map: maps, far, test, .. } = args;
    let wishes = Wishes { file, hosts, maps, far, test: test.as_deref() };
    let real = casting::apart(&mut scenario, &wishes)?;
    let (agents, told) = match real {
        Some(real) => real,
        None => (Agents::new(), scenario::cast(&mut scenario, &args.map)?),
    };
    for told in told {
        if !args.output.quiet && !args.output.json {
            output::message(&format!("{}: {told}", file.display()));
        }
    }
    let link = args.path.link()?;
    let seed = args.path.seed.or(scenario.seed).unwrap_or_else(crate::measurement::fresh_seed);
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let name = call::of(file).or(stem).unwrap_or("scenario").to_owned();
    let mut cells = Vec::new();
    for (id, variant) in (1..).zip(scenario.variants()) {
        let label =
            if variant.values.is_empty() { name.clone() } else { variant.values.join(", ") };
        let own = own_link(file, &variant.scenario)?;
        if own.is_some() && link.is_some() {
            let cause = anyhow!("{}: a test has a link of its own", file.display());
            return Err(Failure::usage(cause).hint("leave the options of the link away"));
        }
        cells.push(Cell {
            id,
            group: Group::Scenario,
            label,
            x: f64::from(id),
            sessions: 1,
            link: own,
            scenario: to_toml(&variant.scenario),
            ..Cell::default()
        });
    }
    let plan = Plan { passes: args.passes, link, ..Plan::new(Study::Scenario, cells, seed) };
    Ok(Plan { stall_ns: args.path.stall, agents, ..plan })
}

/// The plan of a study, towards a paired host where one is named.
pub(super) fn towards(plan: Plan, peer: &PeerArgs) -> Result<Plan, Failure> {
    let Some(name) = &peer.peer else { return Ok(plan) };
    let state = StateDir::open(&peer.far.state)?;
    let named = [(Role::Active, "--peer", Some(name)), (Role::Test, "--test", peer.test.as_ref())];
    let mut agents = Agents::new();
    for (role, option, name) in named {
        if let Some(name) = name {
            agents.insert(role, NamedAgent::find(&state, option, name)?.name);
        }
    }
    Ok(Plan { agents, ..plan })
}

/// The link that the tests of a scenario name, where they do: all of them, since it lies between each two hosts, whatever
/// passes.
fn own_link(file: &Path, scenario: &Scenario) -> Result<Option<Link>, Failure> {
    let clusters = scenario.clusters();
    let all = || clusters.iter().flat_map(|cluster| &cluster.tests);
    let mut named: Vec<&String> = all().filter_map(|test| test.link.as_ref()).collect();
    named.sort();
    named.dedup();
    let (with, without): (Vec<&Test>, Vec<&Test>) = all().partition(|test| test.link.is_some());
    if let (Some(one), Some(other)) = (with.first(), without.first()) {
        let (one, other) = (&one.name, &other.name);
        let cause = anyhow!(
            "{}: test {one} names a link and test {other} none: the same link lies between each two hosts",
            file.display()
        );
        let hint = "name it in every test, or in none and use the options of the link";
        return Err(Failure::usage(cause).hint(hint));
    }
    match named.as_slice() {
        [] => Ok(None),
        [only] => {
            let parts: Vec<&str> = only.split(';').collect();
            let texts = held(&parts)?.texts();
            let wire = "ethernet".to_owned();
            Ok(Some(Link { up: texts.clone(), down: texts, wire }))
        }
        _ => Err(Failure::usage(anyhow!("two tests name different links; all must name one"))),
    }
}

impl PathArgs {
    /// The link of the options; `None` without an element.
    pub(super) fn link(&self) -> Result<Option<Link>, Failure> {
        let elements = chains(&self.elements, &self.wire)?;
        let [up, down] = [elements.up.texts(), elements.down.texts()];
        held(&up).and_then(|_| held(&down))?;
        let link = Link { up, down, wire: self.wire.clone() };
        Ok((!link.up.is_empty() || !link.down.is_empty()).then_some(link))
    }
}
