//! From the options of `btu file` to the plan of what is measured.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::file::experiment;
use btu_core::file::experiment::EXPERIMENTS;
use btu_core::file::experiment::Experiment;
use btu_core::file::night::Night;
use btu_core::file::plan::Plan;
use btu_core::file::target::Target;
use btu_core::file::target::TargetError;
use btu_core::journal::file;
use btu_engine::file::FILE_PROTOCOLS;

use super::guest;
use super::options::FileArgs;
use super::options::WhatArgs;
use crate::exit::Failure;
use crate::input;

impl FileArgs {
    /// The plan of these options; nothing but a plan's file is read.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let plan = match (&self.result.plan, &self.result.resume) {
            (Some(file), _) => stored(file)?,
            (None, Some(directory)) => stored(&directory.join(file::PLAN))?,
            (None, None) => self.what.plan()?,
        };
        known(&plan)?;
        Ok(plan)
    }

    /// Where files on a disk are kept. One that was named must be there, even where no file is needed.
    pub(super) fn directory(&self) -> Result<PathBuf, Failure> {
        let Some(named) = &self.io_dir else { return Ok(PathBuf::from(IO_DIRECTORY)) };
        if named.is_dir() {
            return Ok(named.clone());
        }
        let cause = anyhow!("--io-dir {}: not a directory", named.display());
        Err(Failure::usage(cause).hint("name one that is there, on a disk: --io-dir DIR"))
    }
}

impl WhatArgs {
    fn plan(&self) -> Result<Plan, Failure> {
        let plan =
            Plan::new(self.named()?, self.seed.unwrap_or_else(crate::measurement::fresh_seed));
        let plan = match self.target()? {
            Some(target) => plan.against(target, self.object.clone()),
            None => Plan { path: self.path.into(), ..plan },
        };
        let plan = Plan {
            rounds: self.rounds(),
            warm_rounds: self.warm.unwrap_or(if self.every.is_some() {
                0
            } else {
                plan.warm_rounds
            }),
            night: self.every.map(|every_ns| Night { every_ns, from: self.from }),
            protocols: self.protocols.clone(),
            sizes_bytes: self.sizes.clone(),
            clients: self.clients.clone(),
            mtus_bytes: self.mtu.clone(),
            ..plan
        };
        match plan.illegal() {
            Some((key, cause)) => Err(Failure::usage(anyhow!("{}: {cause}", option(key)))),
            None => Ok(plan),
        }
    }

    /// Every slot that is due before the end of the night, or as many as were asked for.
    fn rounds(&self) -> u32 {
        let (Some(every), Some(from), Some(until)) = (self.every, self.from, self.until) else {
            return self.rounds;
        };
        let slots = from.until(until).count().div_ceil(every.count().max(1));
        u32::try_from(slots).unwrap_or(u32::MAX)
    }

    /// Not read by clap, which repeats a value that it refuses, and a password in it.
    fn target(&self) -> Result<Option<Target>, Failure> {
        let read = |url: &String| {
            url.parse().map_err(|cause: TargetError| Failure::usage(anyhow!("--target: {cause}")))
        };
        self.target.as_ref().map(read).transpose()
    }

    /// The experiments in the order of their tables, each once.
    fn named(&self) -> Result<Vec<String>, Failure> {
        let all = self.experiments.iter().any(|name| name == ALL);
        let unknown = self
            .experiments
            .iter()
            .find(|name| *name != ALL && experiment::by_name(name).is_none());
        let legal = || format!("write {ALL}, {}", experiment::names());
        if let Some(unknown) = unknown {
            return Err(Failure::usage(anyhow!("unknown experiment \"{unknown}\"; {}", legal())));
        }
        if self.experiments.is_empty() {
            return Err(Failure::usage(anyhow!("no experiment is named; {}", legal())));
        }
        let is_named =
            |one: &dyn Experiment| self.experiments.iter().any(|name| name == one.name());
        let is_asked = |one: &dyn Experiment| is_named(one) || all && self.left_out(one).is_none();
        let asked = EXPERIMENTS.iter().filter(|one| is_asked(**one));
        Ok(asked.map(|one| one.name().to_owned()).collect())
    }

    /// Why an experiment is none of `all`.
    fn left_out(&self, one: &dyn Experiment) -> Option<&'static str> {
        self.target.as_ref().and_then(|_| one.needs_own_servers())
    }

    /// What is said of the experiments of `all` that are left out.
    pub(super) fn told_of_left_out(&self) -> Option<String> {
        let told =
            |one: &&dyn Experiment| Some(format!("{}: {}", one.name(), self.left_out(*one)?));
        let told: Vec<String> = EXPERIMENTS.iter().filter_map(told).collect();
        let is_all = self.experiments.iter().any(|name| name == ALL);
        (is_all && !told.is_empty())
            .then(|| format!("left out with a server of others: {}", told.join("; ")))
    }
}

fn stored(file: &Path) -> Result<Plan, Failure> {
    let name = file.display().to_string();
    let text = input::text(file).with_context(|| format!("read {name}")).map_err(Failure::usage)?;
    Plan::stored(&name, &text).map_err(Failure::usage)
}

/// Every protocol of a plan is one of this program.
fn known(plan: &Plan) -> Result<(), Failure> {
    plan.target.as_ref().map_or(Ok(()), |target| guest::protocol(target).map(drop))?;
    let is_known = |name: &&String| FILE_PROTOCOLS.iter().any(|one| one.name() == *name);
    let Some(unknown) = plan.protocols.iter().find(|name| !is_known(name)) else { return Ok(()) };
    let names: Vec<&str> = FILE_PROTOCOLS.iter().map(|one| one.name()).collect();
    let cause = anyhow!("unknown file protocol \"{unknown}\"; write {}", names.join(", "));
    Err(Failure::usage(cause))
}

/// The option that a key of the plan has.
fn option(key: &'static str) -> &'static str {
    match key {
        "warm_rounds" => "--warm",
        "rounds" => "--rounds",
        "every" => "--every",
        "clients" => "--clients",
        "sizes_bytes" => "--sizes",
        "mtus_bytes" => "--mtu",
        "protocols" => "--protocols",
        other => other,
    }
}

/// True where a plan needs a disk.
pub(super) fn needs_files(plan: &Plan) -> bool {
    plan.trials().iter().any(|trial| trial.held.is_on_disk())
}

const ALL: &str = "all";
/// On a disk on most machines, which /tmp is not.
const IO_DIRECTORY: &str = "/var/tmp";
