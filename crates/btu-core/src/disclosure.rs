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
