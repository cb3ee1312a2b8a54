//! From the options of `btu mesh` to the plan of what is measured.

use std::path::Path;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::journal::file;
use btu_core::mesh::host_list;
use btu_core::mesh::plan::Plan;

use super::options::MeshArgs;
use super::options::WhatArgs;
use crate::exit::Failure;
use crate::input;

impl MeshArgs {
    /// The plan of these options; nothing but a plan's file is read.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        match (&self.result.plan, &self.result.resume) {
            (Some(file), _) => stored(file),
            (None, Some(directory)) => stored(&directory.join(file::PLAN)),
            (None, None) => self.what.plan(),
        }
    }
}

impl WhatArgs {
    fn plan(&self) -> Result<Plan, Failure> {
        let hosts = host_list::expand(&self.hosts.join(",")).map_err(Failure::usage)?;
        let plan = Plan::new(hosts, self.seed.unwrap_or_else(crate::measurement::fresh_seed));
        let plan = Plan {
            racks: self.racks.clone(),
            partners: self.partners,
            time_ns: self.time,
            flows: self.flows,
            ..plan
        };
        match plan.illegal() {
            Some((key, cause)) => Err(Failure::usage(anyhow!("{}: {cause}", option(key)))),
            None => Ok(plan),
        }
    }
}

fn stored(file: &Path) -> Result<Plan, Failure> {
    let name = file.display().to_string();
    let text = input::text(file).with_context(|| format!("read {name}")).map_err(Failure::usage)?;
    Plan::stored(&name, &text).map_err(Failure::usage)
}

/// The option that a key of the plan has.
fn option(key: &'static str) -> &'static str {
    match key {
        "hosts" => "AGENT",
        "racks" => "--racks",
        "partners" => "--partners",
        "time_ns" => "--time",
        "flows" => "--flows",
        other => other,
    }
}
