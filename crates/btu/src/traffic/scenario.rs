//! Scenarios of files: read, their hosts given roles, written in one form.

use std::path::Path;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::role::Role;
use btu_core::traffic;
use btu_core::traffic::Dialect;
use btu_core::traffic::FileText;
use btu_core::traffic::Reading;
use btu_core::traffic::Scenario;
use btu_core::traffic::ScenarioError;
use btu_core::traffic::Vocabulary;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Plan;
use btu_core::units::Nanos;

use super::call;
use crate::exit::Failure;
use crate::input;
use crate::output;

/// What the scenarios of a plan may name.
pub(super) const STORED: Vocabulary<'_> =
    Vocabulary { files: &|name| read_beside(Path::new("."), name) };
/// What a word is that is no file.
const NO_FILE: &str = "write a scenario's FILE, what a test sends ('voice-onoff(codec=g729)'; btu model list), or one of \
                       sweep, method, qos, viseum, convert";

/// The scenario of a file, by the ending of its name, or of what its only test sends; tells what was assumed. `over` is
/// what carries that test.
pub(super) fn read(file: &Path, over: Option<&str>) -> Result<Scenario, Failure> {
    let reading = match (call::of(file), over) {
        (Some(call), _) => call::reading(call, over)?,
        (None, None) => reading(file)?,
        (None, Some(over)) => {
            let cause =
                anyhow!("--over {over}: the tests of {} say what carries them", file.display());
            return Err(Failure::usage(cause).hint("write it there as protocol or transport"));
        }
    };
    for warning in &reading.warnings {
        output::message(&format!("btu: warning: {}:{warning}", file.display()));
    }
    Ok(reading.scenario)
}

/// The same, with where its tests are written.
pub(super) fn reading(file: &Path) -> Result<Reading, Failure> {
    let name = file.display().to_string();
    let text = input::text(file)
        .with_context(|| format!("read {name}"))
        .map_err(|cause| Failure::usage(cause).hint(NO_FILE))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    parsed(&name, &text, ending, &|other| read_beside(folder, other))
}

/// The scenario that another host tells; files are its own business.
pub(crate) fn told(text: &str) -> Result<Scenario, Failure> {
    let none = |_: &str| Err("an agent reads no files".to_owned());
    parsed("scenario", text, "toml", &none).map(|reading| reading.scenario)
}

/// The scenario of a cell.
pub(super) fn stored(cell: &Cell) -> Result<Scenario, Failure> {
    cell.read(&STORED).map_err(Failure::usage)
}

/// How long all runs of a plan take, what is drained left out.
pub(super) fn estimate(plan: &Plan) -> Result<Nanos, Failure> {
    plan.estimate(&STORED).map_err(Failure::usage)
}

pub(super) fn parsed(
    name: &str,
    text: &str,
    ending: &str,
    files: &dyn Fn(&str) -> Result<FileText, String>,
) -> Result<Reading, Failure> {
    let words = Vocabulary { files };
    let read: Result<Reading, ScenarioError> = match ending {
        "ns" => traffic::read_script(name, text, Dialect::NetSpec, &words),
        "btu" => traffic::read_script(name, text, Dialect::Btu, &words),
        "toml" => traffic::read_toml(name, text, &words),
        other => {
            let cause = anyhow!("{name}: unknown ending \"{other}\"; write .ns, .btu or .toml");
            return Err(Failure::usage(cause).hint("to repeat a plan.toml use --plan FILE"));
        }
    };
    read.map_err(Failure::usage)
}

pub(super) fn read_beside(folder: &Path, name: &str) -> Result<FileText, String> {
    let bytes = input::bytes(&folder.join(name)).map_err(|cause| cause.to_string())?;
    traffic::text_of_file(bytes)
}

/// Gives every host of a scenario a role: its own name, what `--map` says, else the next free one in
/// order of appearance, test first. Tells what was chosen.
pub(super) fn cast(scenario: &mut Scenario, maps: &[String]) -> Result<Vec<String>, Failure> {
    let mut chosen: Vec<(String, Role)> = Vec::new();
    for map in maps {
        let (host, role) = map
            .split_once('=')
            .ok_or_else(|| Failure::usage(anyhow!("--map {map}: write HOST=ROLE")))?;
        let role = role_of(role).ok_or_else(|| {
            Failure::usage(anyhow!("--map {map}: unknown role; write test, active or passive"))
        })?;
        let host = host.to_lowercase();
        if !scenario.hosts.contains(&host) {
            let hosts = scenario.hosts.join(", ");
            let cause = anyhow!("--map {map}: no host of the scenario; it has {hosts}");
            return Err(Failure::usage(cause));
        }
        chosen.push((host, role));
    }
    let mut told = Vec::new();
    for host in &scenario.hosts {
        if role_of(host).is_some() || chosen.iter().any(|(known, _)| known == host) {
            continue;
        }
        let free = Role::ALL.into_iter().find(|role| {
            let named = scenario.hosts.iter().any(|host| role_of(host) == Some(*role));
            !named && !chosen.iter().any(|(_, taken)| taken == role)
        });
        let Some(role) = free else {
            let cause = anyhow!("host {host}: the local testbed has three roles, all taken");
            return Err(Failure::usage(cause).hint("let two hosts share one with --map HOST=ROLE"));
        };
        told.push(format!("{host} is played by {role}"));
        chosen.push((host.clone(), role));
    }
    let played = |host: &str| {
        let found = chosen.iter().find(|(known, _)| known == host);
        found.map_or_else(|| host.to_owned(), |(_, role)| role.to_string())
    };
    scenario.rename_hosts(&played);
    Ok(told)
}

/// A role by its name.
pub(super) fn role_of(name: &str) -> Option<Role> {
    Role::ALL.into_iter().find(|role| role.to_string() == name)
}
