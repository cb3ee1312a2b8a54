//! What is disclosed of a host: groups of named facts, each with a value or the reason for none.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

/// `hosts.json`: the facts of every host of a run, and what the user said of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disclosure {
    /// Facts by role (`test`, `active`, `passive`); on the local testbed all are one host: `test`.
    pub hosts: BTreeMap<String, HostFacts>,
    /// The program: version, profile, target, hash of its own file.
    pub tool: BTreeMap<String, Fact>,
    /// `--price`, as written.
    pub price: Option<String>,
    /// `--mark`, as written: `NAME=VALUE@SOURCE`.
    pub marks: Vec<String>,
    /// `--note`.
    pub note: Option<String>,
    /// The placement: CPUs of each role and of the emulator, and what could not be separated.
    pub placement: BTreeMap<String, Fact>,
}

/// The facts of one host, by group (`cpu`, `memory`, `network_stack`) and name.
pub type HostFacts = BTreeMap<String, BTreeMap<String, Fact>>;

/// A value, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What was read; `null` where nothing could be.
    pub value: Option<serde_json::Value>,
    /// Why there is no value: `ENOENT: no such file`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

impl Disclosure {
    /// How the program was built: `release`, `debug`; `None` where that was not kept.
    pub fn build_profile(&self) -> Option<&str> {
        self.tool.get("profile")?.value.as_ref()?.as_str()
    }

    /// How many CPUs the test host has, where it is known.
    pub fn online_cpus(&self) -> Option<u32> {
        let list = self.hosts.get("test")?.get("cpu")?.get("online")?.value.as_ref()?.as_str()?;
        cpus_in(list).and_then(|cpus| u32::try_from(cpus).ok())
    }
}

/// How many CPUs a list of the kernel names: `0-3,6` names 5.
pub fn cpus_in(list: &str) -> Option<u64> {
    list.split(',').map(span).try_fold(0_u64, |sum, span| sum.checked_add(span?))
}

/// How many numbers `6` or `0-3` names.
fn span(text: &str) -> Option<u64> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    last.checked_sub(first)?.checked_add(1)
}

impl Fact {
    /// A fact that was read.
    pub fn known(value: impl Into<serde_json::Value>) -> Self {
        Self { value: Some(value.into()), reason: None }
    }

    /// A fact that this machine does not give.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self { value: None, reason: Some(reason.into()) }
    }
}
