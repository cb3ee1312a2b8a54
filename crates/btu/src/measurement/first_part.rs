//! What must be as it was before a result is gone on with: half of it from one host, disk or set of CPUs
//! and half from another is no result.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use anyhow::anyhow;
use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_engine::probe::drift;

use crate::exit::Failure;

/// Half a run on one host and half on another is no result.
pub(crate) fn same_host(stored: &Disclosure, here: &Disclosure) -> Result<(), Failure> {
    let mut changed = changed_facts(IDENTITY.into_iter(), stored, here);
    let [was, is] = [stored, here].map(|one| one.tool.get("hash"));
    if was != is {
        changed.push(change("the program's hash", was, is));
    }
    if changed.is_empty() {
        return Ok(());
    }
    let cause = anyhow!("resume: not the host of the first part: {}", changed.join("; "));
    Err(Failure::usage(cause).hint("start a new one, without --resume"))
}

/// Black boxes are part of what was measured.
pub(crate) fn same_agents(stored: &Disclosure, here: &Disclosure) -> Result<(), Failure> {
    for role in ["active", "passive"] {
        let identity = |of: &'_ Disclosure| {
            let fact = of.hosts.get(role)?.get("agent")?.get("identity");
            fact.cloned()
        };
        let [was, is] = [stored, here].map(identity);
        if was != is {
            let changed = change(&format!("--{role}"), was.as_ref(), is.as_ref());
            let cause = anyhow!("resume: not the agents of the first part: {changed}");
            return Err(Failure::usage(cause).hint("name the agents of the first part"));
        }
    }
    Ok(())
}

/// The settings that make one run invalid where they change beside it: what the report says of them, it
/// says of all runs.
pub(crate) fn same_settings(stored: &Disclosure, here: &Disclosure) -> Result<(), Failure> {
    as_before(&changed_facts(drift::disclosed(), stored, here))
}

/// Where roles, emulator and files are, and what the agents are held to.
pub(crate) fn same_placement(stored: &Disclosure, here: &Disclosure) -> Result<(), Failure> {
    placed_as_before(&stored.placement, &here.placement)
}

/// The same of these facts alone.
pub(crate) fn placed_as_before(
    was: &BTreeMap<String, Fact>,
    is: &BTreeMap<String, Fact>,
) -> Result<(), Failure> {
    let both = [was, is];
    let names: BTreeSet<&String> = both.into_iter().flat_map(BTreeMap::keys).collect();
    let changed =
        names.into_iter().filter(|name| !PASSING.contains(&name.as_str())).filter_map(|name| {
            let [was, is] = both.map(|facts| facts.get(name));
            is_other(was, is).then(|| change(name, was, is))
        });
    as_before(&changed.collect::<Vec<String>>())
}

fn as_before(changed: &[String]) -> Result<(), Failure> {
    if changed.is_empty() {
        return Ok(());
    }
    let cause = anyhow!("not as in the first part: {}", changed.join("; "));
    Err(Failure::usage(cause).hint("set it back, or start a new one, without --resume"))
}

/// Where `io` worked in the first part, and whether that is in memory.
pub(crate) fn io_directory(stored: &Disclosure) -> Option<(PathBuf, bool)> {
    let value = |name: &str| stored.placement.get(name)?.value.as_ref();
    let directory = Path::new(value("io_directory")?.as_str()?).to_owned();
    Some((directory, value("io_in_memory").and_then(serde_json::Value::as_bool) == Some(true)))
}

/// Those of these facts of the host under test that are not what they were, with both values.
fn changed_facts(
    names: impl Iterator<Item = (&'static str, &'static str)>,
    stored: &Disclosure,
    here: &Disclosure,
) -> Vec<String> {
    let changed = names.filter_map(|(group, name)| {
        let [was, is] = [stored, here].map(|one| one.hosts.get("test")?.get(group)?.get(name));
        is_other(was, is).then(|| change(&format!("{group}.{name}"), was, is))
    });
    changed.collect()
}

/// What is not known for another reason than before is as little known.
fn is_other(was: Option<&Fact>, is: Option<&Fact>) -> bool {
    let [was, is] = [was, is].map(|fact| fact.and_then(|fact| fact.value.as_ref()));
    was != is
}

fn change(name: &str, was: Option<&Fact>, is: Option<&Fact>) -> String {
    format!("{name} was {} and is {}", said(was), said(is))
}

fn said(fact: Option<&Fact>) -> String {
    match fact.and_then(|fact| fact.value.as_ref()) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => {
            let reason = fact.and_then(|fact| fact.reason.as_deref());
            reason.map_or_else(|| "not known".to_owned(), |reason| format!("not known ({reason})"))
        }
    }
}

/// What makes a host this one and no other.
const IDENTITY: [(&str, &str); 3] =
    [("cpu", "model"), ("system", "host_name"), ("system", "kernel")];

/// Of the placement, what is measured anew each time: step and cost of the clock of a ping-pong, the room on
/// the disk of `io`.
const PASSING: [&str; 3] = ["clock_read_ns", "clock_step_ns", "io_free_bytes"];

#[cfg(test)]
mod tests {
    use super::*;

    fn disclosure(settings: &[(&str, &str, &str)], placement: &[(&str, &str)]) -> Disclosure {
        let mut made = Disclosure::default();
        for (group, name, value) in settings {
            let host = made.hosts.entry("test".to_owned()).or_default();
            let group = host.entry((*group).to_owned()).or_default();
            group.insert((*name).to_owned(), Fact::known(*value));
        }
        for (name, value) in placement {
            made.placement.insert((*name).to_owned(), Fact::known(*value));
        }
        made
    }

    fn told(refused: Result<(), Failure>) -> String {
        refused.unwrap_err().cause.to_string()
    }

    #[test]
    fn a_changed_setting_is_refused_with_both_values() {
        let governor = |value| disclosure(&[("cpu_power", "governor", value)], &[]);
        assert!(same_settings(&governor("performance"), &governor("performance")).is_ok());
        assert_eq!(
            told(same_settings(&governor("performance"), &governor("powersave"))),
            "not as in the first part: cpu_power.governor was performance and is powersave"
        );
        let uptime = |value| disclosure(&[("pressure", "uptime_s", value)], &[]);
        assert!(same_settings(&uptime("1"), &uptime("2")).is_ok());
    }

    #[test]
    fn another_host_program_or_agent_is_refused_with_both_values() {
        let kernel = |value| disclosure(&[("system", "kernel", value)], &[]);
        let program = |hash: &str| {
            let tool = [("hash".to_owned(), Fact::known(hash))].into();
            Disclosure { tool, ..Disclosure::default() }
        };
        let refused = told(same_host(&kernel("6.1"), &kernel("6.2")));
        assert!(refused.ends_with("system.kernel was 6.1 and is 6.2"), "{refused}");
        let refused = told(same_host(&program("ab"), &program("cd")));
        assert!(refused.ends_with("the program's hash was ab and is cd"), "{refused}");
        let agent = |identity| {
            let facts = [("identity".to_owned(), Fact::known(identity))].into();
            let host = [("agent".to_owned(), facts)].into();
            let hosts = [("passive".to_owned(), host)].into();
            Disclosure { hosts, ..Disclosure::default() }
        };
        let refused = told(same_agents(&agent("1f"), &agent("2e")));
        assert!(refused.ends_with("--passive was 1f and is 2e"), "{refused}");
        let refused = told(same_agents(&agent("1f"), &Disclosure::default()));
        assert!(refused.ends_with("--passive was 1f and is not known"), "{refused}");
    }

    #[test]
    fn another_placement_is_refused_and_another_step_of_the_clock_is_not() {
        let placed = |facts: &[(&str, &str)]| disclosure(&[], facts);
        let (disk, memory) = (("io_directory", "/nvme"), ("io_directory", "/dev/shm"));
        let refused = told(same_placement(&placed(&[disk]), &placed(&[memory])));
        assert!(refused.ends_with("io_directory was /nvme and is /dev/shm"), "{refused}");
        let refused = told(same_placement(&placed(&[disk, ("cpus_test", "0")]), &placed(&[disk])));
        assert!(refused.ends_with("cpus_test was 0 and is not known"), "{refused}");
        for passing in PASSING {
            let now = |value| placed(&[(passing, value)]);
            assert!(same_placement(&now("20"), &now("21")).is_ok(), "{passing}");
        }
    }

    /// The report says of all runs what the first part was told of emulators and sharing.
    #[test]
    fn an_agent_that_has_another_emulator_or_is_shared_by_others_is_refused() {
        let placed = |name: &str, fact: Fact| {
            let placement = [(name.to_owned(), fact)].into();
            Disclosure { placement, ..Disclosure::default() }
        };
        let front = |fact| placed("emulator_active", fact);
        let [relay, netem] = ["10.0.0.9", "10.0.0.9 by netem"].map(|at| front(Fact::known(at)));
        let refused = told(same_placement(&relay, &netem));
        assert!(refused.ends_with("was 10.0.0.9 and is 10.0.0.9 by netem"), "{refused}");
        let refused = told(same_placement(&relay, &front(Fact::unavailable("no [front]"))));
        assert!(refused.ends_with("was 10.0.0.9 and is not known (no [front])"), "{refused}");
        let none = |why| front(Fact::unavailable(why));
        assert!(same_placement(&none("no [front]"), &none("it ended")).is_ok());
        let shared = |number: u32| placed("shared_active", Fact::known(number));
        let refused = told(same_placement(&shared(1), &shared(2)));
        assert!(refused.ends_with("shared_active was 1 and is 2"), "{refused}");
    }
}
