//! What is disclosed of a host: everything that changes what it delivers and that needs no root.
//!
//! One file per group, one line per fact. A fact that this machine does not give stays in the
//! disclosure with its reason, so that two hosts can be compared key by key.

mod cpu;
mod cpu_power;
mod disk;
mod memory;
mod network_stack;
mod nic;
mod pressure;
mod system;

use std::collections::BTreeMap;
use std::io;

use btu_core::disclosure::Fact;
use btu_core::disclosure::HostFacts;

use crate::files::Files;

pub(crate) use network_stack::SYSCTLS;

/// One group of facts.
pub trait Group: Sync {
    /// Its name in `hosts.json`.
    fn name(&self) -> &'static str;
    /// What it tells, in one line for people.
    fn about(&self) -> &'static str;
    /// Every fact of the group, available or not.
    fn facts(&self, files: &Files) -> BTreeMap<String, Fact>;
}

/// Every group, in the order of the report.
pub static GROUPS: &[&dyn Group] = &[
    &system::System,
    &cpu::Cpu,
    &cpu_power::CpuPower,
    &memory::Memory,
    &disk::Disk,
    &network_stack::NetworkStack,
    &nic::Nic,
    &pressure::Pressure,
];

/// The facts of the host whose files are given.
pub fn host_facts(files: &Files) -> HostFacts {
    GROUPS.iter().map(|group| (group.name().to_owned(), group.facts(files))).collect()
}

/// Where a fact comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// All files of a directory.
    Directory(&'static str),
    /// A whole file.
    File(&'static str),
    /// The distinct values of a file of every CPU, below `/sys/devices/system/cpu/cpuN/`.
    PerCpu(&'static str),
    /// A `key: value` line of a file.
    Line(&'static str, char, &'static str),
    /// A kernel setting by its name: `net.core.rmem_max`.
    Sysctl(&'static str),
}

/// The facts of a table of sources.
fn table(files: &Files, rows: &[(&str, Source)]) -> BTreeMap<String, Fact> {
    rows.iter().map(|(name, source)| ((*name).to_owned(), source.read(files))).collect()
}

impl Source {
    pub(crate) fn read(self, files: &Files) -> Fact {
        match self {
            Self::Directory(path) => files.directory(path),
            Self::File(path) => files.fact(path),
            Self::PerCpu(path) => per_cpu(files, path),
            Self::Sysctl(name) => files.fact(&format!("/proc/sys/{}", name.replace('.', "/"))),
            Self::Line(path, separator, key) => match files.pairs(path, separator) {
                Ok(pairs) => pairs.get(key).map_or_else(
                    || Fact::unavailable(format!("{path} has no line \"{key}\"")),
                    |text| crate::files::value(text),
                ),
                Err(error) => crate::files::unavailable(&error),
            },
        }
    }
}

fn per_cpu(files: &Files, path: &str) -> Fact {
    each_cpu(files, |cpu| files.text(&format!("/sys/devices/system/cpu/{cpu}/{path}")))
}

/// One value where all CPUs agree, else the list of values by CPU.
fn each_cpu(files: &Files, read: impl Fn(&str) -> io::Result<String>) -> Fact {
    let cpus = files.names("/sys/devices/system/cpu").into_iter().filter(|name| is_cpu(name));
    let mut values = BTreeMap::new();
    let mut reason = Fact::unavailable("no CPU is listed in /sys/devices/system/cpu");
    for cpu in cpus {
        match read(&cpu) {
            Ok(text) => drop(values.insert(cpu, text)),
            Err(error) => reason = crate::files::unavailable(&error),
        }
    }
    let first = values.values().next().cloned();
    match first {
        None => reason,
        Some(first) if values.values().all(|value| *value == first) => crate::files::value(&first),
        Some(_) => Fact::known(
            values
                .into_iter()
                .map(|(cpu, text)| (cpu, serde_json::Value::String(text)))
                .collect::<serde_json::Map<_, _>>(),
        ),
    }
}

/// `cpu0`, `cpu17`, but not `cpufreq`.
fn is_cpu(name: &str) -> bool {
    let number = name.strip_prefix("cpu").unwrap_or_default();
    !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[(&str, &str)]) -> (tempfile::TempDir, Files) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in entries {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let files = Files::below(dir.path());
        (dir, files)
    }

    /// Only what a device has may be absent where there is no device.
    #[test]
    fn an_empty_machine_gives_every_key_with_a_reason() {
        let (_dir, files) = tree(&[]);
        let empty = host_facts(&files);
        let here = host_facts(&Files::host());
        for (group, facts) in &here {
            let devices = facts.get("devices").and_then(|fact| fact.value.clone());
            let devices = devices.unwrap_or_default();
            let devices: Vec<&str> =
                devices.as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
            let of_a_device = |key: &str| {
                devices
                    .iter()
                    .any(|name| key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
            };
            for key in facts.keys().filter(|key| !of_a_device(key)) {
                let fact = empty[group].get(key);
                let said = fact.is_some_and(|fact| fact.value.is_some() || fact.reason.is_some());
                assert!(said, "{group}.{key}");
            }
            let keys = |facts: &BTreeMap<String, Fact>| facts.keys().cloned().collect::<Vec<_>>();
            let missing: Vec<String> =
                keys(&empty[group]).into_iter().filter(|key| !facts.contains_key(key)).collect();
            assert_eq!(missing, Vec::<String>::new(), "{group}");
        }
        assert!(empty["cpu"]["online"].reason.as_ref().unwrap().starts_with("ENOENT"));
    }

    /// Facts of a device without its name; a device and a disk are there on any machine, or made up.
    #[test]
    fn the_page_explains_every_fact_in_the_section_of_its_group() {
        let (_dir, files) =
            tree(&[("sys/block/vda/size", "8\n"), ("sys/class/net/eth0/mtu", "9\n")]);
        let page = include_str!("../../../docs/disclosure.md");
        for (group, facts) in host_facts(&files).into_iter().chain(host_facts(&Files::host())) {
            let heading = format!("\n## {group}\n");
            let section = page.split(&heading).nth(1).unwrap().split("\n## ").next().unwrap();
            let is_of_devices = facts.contains_key("devices");
            for key in facts.keys() {
                let after_the_name = key.rsplit_once('.').filter(|_| is_of_devices);
                let fact = after_the_name.map_or(key.as_str(), |(_, fact)| fact);
                assert!(section.contains(&format!("`{fact}`")), "{group}: {key}");
            }
        }
    }

    #[test]
    fn cpus_that_agree_are_one_value_and_others_a_list() {
        let governor = |n: u32| format!("sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor");
        let (_dir, files) = tree(&[(&governor(0), "powersave\n"), (&governor(1), "powersave\n")]);
        let power = |files: &Files| host_facts(files)["cpu_power"]["governor"].clone();
        assert_eq!(power(&files), Fact::known("powersave"));
        let (_dir, files) = tree(&[(&governor(0), "powersave\n"), (&governor(1), "performance\n")]);
        assert_eq!(power(&files).value.unwrap()["cpu1"], "performance");
    }

    #[test]
    fn this_host_discloses_its_kernel_and_its_cpus() {
        let facts = host_facts(&Files::host());
        assert!(facts["system"]["kernel"].value.is_some());
        assert!(facts["cpu"]["online"].value.is_some());
        assert!(facts["memory"]["total"].value.is_some());
    }
}
