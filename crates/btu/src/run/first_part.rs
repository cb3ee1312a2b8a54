//! What must be as it was before a result is gone on with: half of it from one host, disk or set of CPUs
//! and half from another is no result.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use anyhow::anyhow;
use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;

use crate::exit::Failure;

/// Half a run on one host and half on another is no result.
pub(super) fn same_host(stored: &Disclosure, here: &Disclosure) -> Result<(), Failure> {
    let mut changed: Vec<String> = changed_facts(&IDENTITY, stored, here)
        .into_iter()
        .map(|(group, name, _)| format!("{group}.{name}"))
        .collect();
    if stored.tool.get("hash") != here.tool.get("hash") {
        changed.push("the program itself".to_owned());
    }
    if changed.is_empty() {
        return Ok(());
    }
    let cause = anyhow!("resume: not the host of the first part: {} changed", changed.join(", "));
    Err(Failure::usage(cause).hint("start a new one, without --resume"))
}

/// Black boxes are part of what was measured.
pub(super) fn same_agents(stored: &Disclosure, here: &Disclosure) -> Result<(), Failure> {
    let identity = |hosts: &Disclosure, role| {
        let facts = hosts.hosts.get(role)?.get("agent")?;
        facts.get("identity").cloned()
    };
    for role in ["active", "passive"] {
        if identity(stored, role) != identity(here, role) {
            let cause = anyhow!("resume: another agent is --{role} than in the first part");
            return Err(Failure::usage(cause).hint("name the agents of the first part"));
        }
    }
    Ok(())
}

/// The settings that make one run invalid where they change beside it, and where roles, emulator and
/// files are: what the report says of them, it says of all runs.
pub(super) fn same_conditions(stored: &Disclosure, here: &Disclosure) -> Result<(), Failure> {
    let settings = changed_facts(&SETTINGS, stored, here);
    let settings = settings.into_iter().map(|(group, name, values)| {
        let [was, is] = values.map(said);
        format!("{group}.{name} was {was} and is {is}")
    });
    let both = [&stored.placement, &here.placement];
    let names: BTreeSet<&String> = both.into_iter().flat_map(BTreeMap::keys).collect();
    let lasting = |name: &&String| !PASSING.iter().any(|prefix| name.starts_with(prefix));
    let placed = names.into_iter().filter(lasting).filter_map(|name| {
        let [was, is] = both.map(|facts| facts.get(name));
        (was != is).then(|| format!("{name} was {} and is {}", said(was), said(is)))
    });
    let changed: Vec<String> = placed.chain(settings).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let cause = anyhow!("resume: not as in the first part: {}", changed.join("; "));
    Err(Failure::usage(cause).hint("set it back, or start a new one, without --resume"))
}

/// Where `io` worked in the first part, and whether that is in memory.
pub(super) fn io_directory(stored: &Disclosure) -> Option<(PathBuf, bool)> {
    let value = |name: &str| stored.placement.get(name)?.value.as_ref();
    let directory = Path::new(value("io_directory")?.as_str()?).to_owned();
    Some((directory, value("io_in_memory").and_then(serde_json::Value::as_bool) == Some(true)))
}

/// Those of these facts of the host under test that are not what they were, with both values.
fn changed_facts<'d>(
    names: &[(&'static str, &'static str)],
    stored: &'d Disclosure,
    here: &'d Disclosure,
) -> Vec<(&'static str, &'static str, [Option<&'d Fact>; 2])> {
    let of = |disclosure: &'d Disclosure, group: &str, name: &str| {
        disclosure.hosts.get("test")?.get(group)?.get(name)
    };
    let both = names
        .iter()
        .map(|(group, name)| (*group, *name, [of(stored, group, name), of(here, group, name)]));
    both.filter(|(_, _, [was, is])| was != is).collect()
}

fn said(fact: Option<&Fact>) -> String {
    match fact.and_then(|fact| fact.value.as_ref()) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "not known".to_owned(),
    }
}

/// What must be equal for both parts of a resumed run.
const IDENTITY: [(&str, &str); 4] =
    [("cpu", "model"), ("cpu", "online"), ("system", "host_name"), ("system", "kernel")];

/// Of the disclosure, the settings that the probe `drift` guards within a run.
const SETTINGS: [(&str, &str); 9] = [
    ("cpu_power", "governor"),
    ("cpu_power", "turbo_boost"),
    ("cpu_power", "turbo_off"),
    ("network_stack", "net.core.rmem_max"),
    ("network_stack", "net.core.wmem_max"),
    ("network_stack", "net.ipv4.tcp_congestion_control"),
    ("network_stack", "net.ipv4.tcp_rmem"),
    ("network_stack", "net.ipv4.tcp_wmem"),
    ("system", "clock_source"),
];

/// Facts that an agent may have otherwise each time: the ports of its emulator, and who shares it.
const PASSING: [&str; 2] = ["emulator_", "shared_"];

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

    fn refused(stored: &Disclosure, here: &Disclosure) -> String {
        same_conditions(stored, here).unwrap_err().cause.to_string()
    }

    #[test]
    fn a_changed_setting_is_refused_with_both_values() {
        let governor = |value| disclosure(&[("cpu_power", "governor", value)], &[]);
        assert!(same_conditions(&governor("performance"), &governor("performance")).is_ok());
        assert_eq!(
            refused(&governor("performance"), &governor("powersave")),
            "resume: not as in the first part: cpu_power.governor was performance and is powersave"
        );
        let uptime = |value| disclosure(&[("pressure", "uptime_s", value)], &[]);
        assert!(same_conditions(&uptime("1"), &uptime("2")).is_ok());
    }

    #[test]
    fn another_placement_is_refused_and_another_port_of_an_agent_is_not() {
        let placed = |facts: &[(&str, &str)]| disclosure(&[], facts);
        let (disk, memory) = (("io_directory", "/nvme"), ("io_directory", "/dev/shm"));
        let told = refused(&placed(&[disk]), &placed(&[memory]));
        assert!(told.ends_with("io_directory was /nvme and is /dev/shm"), "{told}");
        let told = refused(&placed(&[disk, ("cpus_test", "0")]), &placed(&[disk]));
        assert!(told.ends_with("cpus_test was 0 and is not known"), "{told}");
        let [one, other] = ["10.0.0.2:4001", "10.0.0.2:4002"];
        let fronts = [one, other].map(|at| placed(&[("emulator_active", at)]));
        assert!(same_conditions(&fronts[0], &fronts[1]).is_ok());
    }
}
