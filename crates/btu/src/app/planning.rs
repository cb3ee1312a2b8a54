//! From the options of `btu app run` to the plan of what is launched.

use anyhow::Context;
use anyhow::anyhow;
use btu_core::app::class::ProblemClass;
use btu_core::app::kernel;
use btu_core::app::kernel::KERNELS;
use btu_core::app::kernel::Kernel;
use btu_core::app::plan::MOST_RANKS;
use btu_core::app::plan::Path;
use btu_core::app::plan::Plan;
use btu_core::app::plan::Program;
use btu_core::app::plan::Verb;
use btu_core::app::sample::Wait;
use btu_core::journal::file;
use btu_core::units::Nanos;
use btu_core::words::several;
use btu_engine::message;
use btu_engine::message::MESSAGE_LAYERS;
use btu_engine::message::MessageLayer;
use btu_engine::message::ProcessLayer;
use btu_engine::message::RanksAre;

use super::options::ALL;
use super::options::RunArgs;
use super::options::WhatArgs;
use crate::conductor::shown;
use crate::exit::Failure;
use crate::input;
use crate::measurement::fresh_seed;
use crate::measurement::notes;

/// A plan, and what was left out of it.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) plan: Plan,
    /// What was asked for by `all` or among others and cannot be, with the reason.
    pub(super) left_out: Vec<LeftOut>,
    /// Whether a layer that this machine does not have is left out, too.
    pub(super) takes_what_is_there: bool,
}

/// What is not launched.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// `shm`, or `sp with 3 ranks`.
    pub(super) what: String,
    /// What is lacking.
    pub(super) reason: String,
}

impl RunArgs {
    /// The plan of these options; nothing but a plan's file is read.
    pub(super) fn planned(&self) -> Result<Planned, Failure> {
        match (&self.result.plan, &self.result.resume) {
            (Some(file), _) => stored(file),
            (None, Some(directory)) => stored(&directory.join(file::PLAN)),
            (None, None) => self.what.planned(),
        }
    }
}

impl WhatArgs {
    fn planned(&self) -> Result<Planned, Failure> {
        let (programs, mut left_out) = self.programs()?;
        let (layers, without) = self.layers()?;
        left_out.extend(without);
        let plan = Plan {
            verb: Verb::App,
            path: self.path.into(),
            class: self.class,
            layers,
            wait: self.wait.into(),
            launches: self.launches,
            cap_ns: self.cap.map_or_else(|| cap(self.class), |cap| Nanos::from_secs(cap.into())),
            seed: self.seed.unwrap_or_else(fresh_seed),
            programs,
        };
        Ok(Planned { plan, left_out, takes_what_is_there: is_all(&self.layers) })
    }

    /// Each kernel with each number of ranks that it takes, and those that were asked for among others and are not.
    fn programs(&self) -> Result<(Vec<Program>, Vec<LeftOut>), Failure> {
        let (mut programs, mut left_out) = (Vec::new(), Vec::new());
        let is_among_others = self.ranks.len() > 1 || is_all(&self.kernels);
        for kernel in self.kernels()? {
            for ranks in self.ranks_of(kernel) {
                let program = Program { kernel: kernel.name().to_owned(), ranks };
                match refused(&program, kernel) {
                    None if programs.contains(&program) => {}
                    None => programs.push(program),
                    Some(reason) if is_among_others => {
                        left_out.push(LeftOut { what: program.to_string(), reason });
                    }
                    Some(reason) => return Err(not_taken(&program, &reason)),
                }
            }
        }
        match (programs.is_empty(), left_out.first()) {
            (true, Some(LeftOut { what, reason })) => Err(not_taken(what, reason)),
            _ => Ok((programs, left_out)),
        }
    }

    fn kernels(&self) -> Result<Vec<&'static dyn Kernel>, Failure> {
        let named = self.kernels.iter().filter(|name| *name != ALL);
        let named = named.map(|name| kernel_named(&name.to_lowercase()));
        let named = named.collect::<Result<Vec<_>, _>>()?;
        Ok(if is_all(&self.kernels) { KERNELS.to_vec() } else { named })
    }

    fn ranks_of(&self, kernel: &dyn Kernel) -> Vec<u32> {
        if self.ranks.is_empty() {
            vec![usual_ranks(kernel, notes::cpus())]
        } else {
            self.ranks.clone()
        }
    }

    /// The layers that carry messages as they are asked to, and why others are left out of `all`.
    fn layers(&self) -> Result<(Vec<String>, Vec<LeftOut>), Failure> {
        let (path, wait) = (self.path.into(), self.wait.into());
        let lacks = |layer: &'static dyn MessageLayer| (layer, lacking(layer, path, wait));
        let named = self.layers.iter().filter(|name| *name != ALL).map(|name| layer_named(name));
        let named = named.collect::<Result<Vec<_>, _>>()?;
        if is_all(&self.layers) {
            let all = MESSAGE_LAYERS.iter().filter(|layer| library_of(**layer).is_none());
            let all = all.map(|layer| lacks(*layer));
            let (there, not): (Vec<_>, Vec<_>) = all.partition(|(_, lack)| lack.is_none());
            let named = |(layer, lack): (&dyn MessageLayer, Option<String>)| LeftOut {
                what: layer.name().to_owned(),
                reason: lack.unwrap_or_default(),
            };
            let there = there.into_iter().map(|(layer, _)| layer.name().to_owned()).collect();
            return Ok((there, not.into_iter().map(named).collect()));
        }
        let mut layers: Vec<String> = Vec::new();
        for (layer, lack) in named.into_iter().map(lacks) {
            if let Some(lack) = lack {
                return Err(Failure::usage(anyhow!("{}: {lack}", layer.name())));
            }
            if !layers.iter().any(|known| known == layer.name()) {
                layers.push(layer.name().to_owned());
            }
        }
        Ok((layers, Vec::new()))
    }
}

/// What starts the ranks of a layer that is a library of others; nothing of one of this program.
fn library_of(layer: &'static dyn MessageLayer) -> Option<&'static dyn ProcessLayer> {
    match layer.ranks() {
        RanksAre::Processes(library) => Some(library),
        RanksAre::Threads(_) => None,
    }
}

/// Libraries of others that are here and that `all` does not stand for, as a line for people.
pub(super) fn told_of_others() -> Option<String> {
    let is_here = |layer: &&&'static dyn MessageLayer| {
        library_of(**layer).is_some_and(|library| library.is_there().is_ok())
    };
    let here: Vec<&str> = MESSAGE_LAYERS.iter().filter(is_here).map(|layer| layer.name()).collect();
    let here = here.join(", ");
    (!here.is_empty()).then(|| {
        format!("note: here, too, and not among all layers: {here}; name them with --layers")
    })
}

fn is_all(names: &[String]) -> bool {
    names.is_empty() || names.iter().any(|name| name == ALL)
}

/// Why a kernel does not run with so many ranks.
fn refused(program: &Program, kernel: &dyn Kernel) -> Option<String> {
    let takes = usize::try_from(program.ranks).is_ok_and(|ranks| kernel.takes(ranks));
    (!takes).then(|| format!("it takes {}", legal(kernel)))
}

/// `a square number: 1, 4, 9, 16 ...`
fn legal(kernel: &dyn Kernel) -> String {
    let first: Vec<String> = taken(kernel).take(FEW).map(|ranks| ranks.to_string()).collect();
    let more = if taken(kernel).nth(FEW).is_some() { " ..." } else { "" };
    format!("{}: {}{more}", kernel.legal(), first.join(", "))
}

/// So many numbers show the rule.
const FEW: usize = 4;

/// The numbers of ranks that a kernel takes, rising.
fn taken(kernel: &dyn Kernel) -> impl Iterator<Item = u32> {
    (1..=MOST_RANKS).filter(|ranks| usize::try_from(*ranks).is_ok_and(|ranks| kernel.takes(ranks)))
}

/// Two, or the most up to four for which there are CPUs; of a kernel that takes none of these, the fewest.
fn usual_ranks(kernel: &dyn Kernel, cpus: u32) -> u32 {
    let usual = || taken(kernel).take_while(|ranks| *ranks <= cpus.min(USUAL_MOST));
    let two = usual().chain(taken(kernel)).find(|ranks| *ranks == USUAL);
    two.or_else(|| usual().last()).or_else(|| taken(kernel).next()).unwrap_or(USUAL)
}

const USUAL: u32 = 2;
const USUAL_MOST: u32 = 4;

fn not_taken(program: &impl ToString, reason: &str) -> Failure {
    Failure::usage(anyhow!("{}: {reason}", program.to_string())).hint("name others with --ranks")
}

fn kernel_named(name: &str) -> Result<&'static dyn Kernel, Failure> {
    let unknown = || {
        let all: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name()).collect();
        let (name, all) = (shown(name), all.join(", "));
        Failure::usage(anyhow!("unknown kernel \"{name}\"; write {all}, or {ALL}"))
    };
    kernel::by_name(name).ok_or_else(unknown)
}

fn layer_named(name: &str) -> Result<&'static dyn MessageLayer, Failure> {
    let unknown = || {
        let all: Vec<&str> = MESSAGE_LAYERS.iter().map(|layer| layer.name()).collect();
        let (name, all) = (shown(name), all.join(", "));
        Failure::usage(anyhow!("unknown message layer \"{name}\"; write {all}, or {ALL}"))
    };
    message::by_name(name).ok_or_else(unknown)
}

/// What a layer lacks for this path and this way to wait.
fn lacking(layer: &dyn MessageLayer, path: Path, wait: Wait) -> Option<String> {
    if path == Path::Direct && !layer.spans_hosts() {
        return Some("it joins ranks of one host alone, and --path direct has two".to_owned());
    }
    let waits = layer.waits();
    let words: Vec<String> = waits.iter().map(ToString::to_string).collect();
    let words = words.join(" or ");
    (!waits.contains(&wait)).then(|| format!("a rank over it waits by {words}, not by {wait}"))
}

/// Of message-passing benchmarks of one machine: a launch that takes longer hangs, or the machine is too small.
fn cap(class: ProblemClass) -> Nanos {
    Nanos::from_secs(match class {
        ProblemClass::S => 60,
        ProblemClass::W => 180,
        ProblemClass::A => 600,
    })
}

/// A plan's file: everything in it is there, or it is refused.
fn stored(file: &std::path::Path) -> Result<Planned, Failure> {
    let name = file.display().to_string();
    let text =
        input::text(file).with_context(|| format!("read plan {name}")).map_err(Failure::usage)?;
    let plan = Plan::stored(&name, &text).map_err(|cause| {
        Failure::usage(cause).hint("a plan of this verb says verb = \"app\"; see --dry-run")
    })?;
    for program in &plan.programs {
        let kernel = kernel_named(&program.kernel)?;
        if let Some(reason) = refused(program, kernel) {
            return Err(not_taken(program, &reason));
        }
    }
    for layer in &plan.layers {
        if let Some(lack) = lacking(layer_named(layer)?, plan.path, plan.wait) {
            return Err(Failure::usage(anyhow!("{name}: {layer}: {lack}")));
        }
    }
    Ok(Planned { plan, left_out: Vec::new(), takes_what_is_there: false })
}

/// What was left out, as a line for people.
pub(super) fn told(left_out: &[LeftOut]) -> Option<String> {
    let LeftOut { what, reason } = left_out.first()?;
    let more = match left_out.len() - 1 {
        0 => String::new(),
        more => format!(", and {} (see the report)", several(more, "more")),
    };
    Some(format!("note: left out: {what}: {reason}{more}"))
}
