//! `btu app math`: what a mathematical library costs, and how right it is.

mod text;

use anyhow::anyhow;
use btu_core::app::math::Comparison;
use btu_core::app::math::Function;
use btu_core::words::several;
use btu_engine::math::MATH_LIBRARIES;
use btu_engine::math::MathLibrary;
use btu_engine::math::Terms;
use btu_engine::math::by_name;
use btu_engine::math::compare;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

/// Options of `btu app math`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct MathArgs {
    /// Functions, separated by commas [default: floor,ceil,fabs,log10,log,sqrt,exp,pow]
    #[arg(long, value_name = "FUNCTION,...", value_delimiter = ',', value_parser = function)]
    functions: Vec<Function>,
    /// Libraries, separated by commas [default: all, see btu list math-libraries]
    #[arg(long, value_name = "LIBRARY,...", value_delimiter = ',', value_parser = library)]
    libraries: Vec<&'static dyn MathLibrary>,
    /// How often each loop is timed; the least counts
    #[arg(long, value_name = "NUMBER", default_value = "15", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// The CPU of the loops [default: where the scheduler puts them]
    #[arg(long, value_name = "NUMBER")]
    cpu: Option<u32>,
    /// No progress on stderr
    #[arg(long)]
    quiet: bool,
    /// Write exactly one JSON document (the result) to stdout
    #[arg(long)]
    json: bool,
}

/// Compares the libraries.
pub(super) fn math(args: &MathArgs) -> Result<Exit, Failure> {
    if let Some(cpu) = args.cpu {
        stay_on(cpu)?;
    }
    let terms = args.terms()?;
    if !args.quiet {
        output::message(&announcement(&terms));
    }
    let comparison = Comparison { cpu: args.cpu, ..compare(&terms) };
    none_is_there(&comparison)?;
    show(&comparison, args.json)?;
    Ok(Exit::Done)
}

impl MathArgs {
    fn terms(&self) -> Result<Terms, Failure> {
        Ok(Terms {
            functions: asked(&self.functions, &Function::ALL, |function| function.name())?,
            libraries: asked(&self.libraries, MATH_LIBRARIES, |library| library.name())?,
            arguments: ARGUMENTS,
            passes: PASSES,
            repeats: self.repeats,
            seed: SEED,
        })
    }
}

/// What was asked for, each once; all where nothing was.
fn asked<T: Copy>(named: &[T], all: &[T], name: fn(&T) -> &'static str) -> Result<Vec<T>, Failure> {
    let is_again = |place: usize| named[..place].iter().any(|one| name(one) == name(&named[place]));
    if let Some(place) = (0..named.len()).find(|place| is_again(*place)) {
        let name = name(&named[place]);
        return Err(Failure::usage(anyhow!("\"{name}\" is named twice; name each once")));
    }
    Ok(if named.is_empty() { all.to_vec() } else { named.to_vec() })
}

fn stay_on(number: u32) -> Result<(), Failure> {
    let allowed = cpu::allowed().map_err(Failure::environment)?;
    if !allowed.contains(number) {
        let cause = anyhow!("--cpu {number}: this process may not use it; write one of {allowed}");
        return Err(Failure::usage(cause));
    }
    cpu::pin(&CpuSet::of([number])).map_err(Failure::environment)
}

fn announcement(terms: &Terms) -> String {
    format!(
        "btu: {} of {}, {}",
        several(terms.functions.len(), "function"),
        terms.libraries.iter().map(|library| library.name()).collect::<Vec<_>>().join(", "),
        several(terms.repeats, "repeat")
    )
}

/// Fails where every library that was asked for is missing.
fn none_is_there(comparison: &Comparison) -> Result<(), Failure> {
    let reasons = comparison.libraries.iter().map(|library| {
        let reason = library.not_available.as_ref()?;
        Some(format!("{}: not available: {reason}", library.name))
    });
    match reasons.collect::<Option<Vec<String>>>() {
        Some(reasons) => Err(Failure::environment(anyhow!("{}", reasons.join("; ")))),
        None => Ok(()),
    }
}

fn show(comparison: &Comparison, json: bool) -> Result<(), Failure> {
    if !json {
        return output::result(&text::text(comparison));
    }
    let document = serde_json::to_value(comparison).map_err(Failure::usage)?;
    output::json(&document)
}

fn function(text: &str) -> Result<Function, String> {
    let names = || Function::ALL.map(Function::name).join(", ");
    Function::by_name(text).ok_or_else(|| format!("write one of {}", names()))
}

fn library(text: &str) -> Result<&'static dyn MathLibrary, String> {
    let names = || MATH_LIBRARIES.iter().map(|library| library.name()).collect::<Vec<_>>();
    by_name(text).ok_or_else(|| format!("write one of {}", names().join(", ")))
}

/// Fits into a cache of the first level, twice.
const ARGUMENTS: usize = 4096;
/// As long as a few time slices where a call takes 10 ns.
const PASSES: u32 = 50;
/// Nobody needs another order.
const SEED: u64 = 1;

const AFTER: &str = "\
Examples:
  btu app math                                     eight functions of every library
  btu app math --functions floor,ceil --cpu 2      on one CPU
  btu app math --libraries system,rust --repeats 50 --json";
