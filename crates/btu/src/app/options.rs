//! What `btu app run` can be asked for.

use btu_core::app::class::ProblemClass;
use btu_core::app::plan::MOST_RANKS;
use btu_core::app::plan::Path;
use btu_core::app::sample::Wait;

use crate::measurement::options::ResultArgs;

/// Options of `btu app run`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(super) what: WhatArgs,
    #[command(flatten)]
    pub(super) result: ResultArgs,
}

/// What is launched: all that a plan says.
#[derive(Debug, clap::Args)]
#[group(id = "programs", multiple = true, conflicts_with_all = ["plan", "resume"])]
pub(crate) struct WhatArgs {
    /// Kernels by name, or `all` (see btu list kernels) [default: all]
    #[arg(value_name = "KERNEL")]
    pub(super) kernels: Vec<String>,
    /// How large the problems are: S, W or A
    #[arg(long, value_name = "CLASS", default_value_t, help_heading = "Programs")]
    pub(super) class: ProblemClass,
    /// How many ranks; several, separated by commas, are compared [default: 2; a kernel that takes
    /// no 2 has as many as there are CPUs, at most 4]
    #[arg(long, value_name = "NUMBER,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RANKS)), help_heading = "Programs")]
    pub(super) ranks: Vec<u32>,
    /// Message layers, separated by commas, or `all` of this program that this machine has;
    /// libraries of others only by name (see btu list message-layers)
    #[arg(long, value_name = "LAYER,...", value_delimiter = ',', default_value = ALL, help_heading = "Messages")]
    pub(super) layers: Vec<String>,
    /// How a rank waits for a message
    #[arg(
        long,
        value_name = "WAIT",
        value_enum,
        default_value = "block",
        help_heading = "Messages"
    )]
    pub(super) wait: WaitWord,
    /// On which hosts the ranks are
    #[arg(
        long,
        value_name = "PATH",
        value_enum,
        default_value = "loopback",
        help_heading = "Messages"
    )]
    pub(super) path: PathWord,
    /// How often each program is launched over each layer
    #[arg(long, value_name = "NUMBER", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Effort")]
    pub(super) launches: u32,
    /// The longest that a launch may take [default: 60 of class S, 180 of W, 600 of A]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400), help_heading = "Effort")]
    pub(super) cap: Option<u32>,
    /// Seed of the order of the launches [default: another one each time]
    #[arg(long, value_name = "NUMBER", value_parser = crate::cli::seed, allow_hyphen_values = true, help_heading = "Effort")]
    pub(super) seed: Option<u64>,
}

/// Stands for every kernel, or every layer.
pub(super) const ALL: &str = "all";

/// How a rank waits for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum WaitWord {
    /// In the kernel: its CPU does something else meanwhile
    Block,
    /// It asks again and again, and never sleeps
    Spin,
}

/// On which hosts the ranks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PathWord {
    /// In turn on two hosts of the local testbed
    Direct,
    /// All on this machine
    Loopback,
}

impl From<WaitWord> for Wait {
    fn from(word: WaitWord) -> Self {
        match word {
            WaitWord::Block => Self::Block,
            WaitWord::Spin => Self::Spin,
        }
    }
}

impl From<PathWord> for Path {
    fn from(word: PathWord) -> Self {
        match word {
            PathWord::Direct => Self::Direct,
            PathWord::Loopback => Self::Loopback,
        }
    }
}

const AFTER: &str = "\
Examples:
  btu app run                              every kernel over every layer, class S
  btu app run cg lu --class W --ranks 2,4  two kernels, larger, with 2 ranks and with 4
  btu app run mg --layers tcp,shm --launches 20
  btu app run --layers tcp,shm,openmpi     beside a library of MPI
  btu app run --path direct --layers tcp   ranks on two hosts of the local testbed";
