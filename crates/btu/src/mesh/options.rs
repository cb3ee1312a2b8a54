//! What `btu mesh` can be asked for.

use btu_core::units::Nanos;

use crate::agent::StateArgs;
use crate::measurement::options::ResultArgs;

/// Options of `btu mesh`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct MeshArgs {
    #[command(flatten)]
    pub(super) what: WhatArgs,
    #[command(flatten)]
    pub(super) state: StateArgs,
    #[command(flatten)]
    pub(super) result: ResultArgs,
}

/// What is measured: all that a plan says.
#[derive(Debug, clap::Args)]
#[group(id = "mesh-what", multiple = true, conflicts_with_all = ["plan", "resume"])]
pub(crate) struct WhatArgs {
    /// Agents by the names under which this host is paired with them; n[1-4,7] is n1 to n4 and n7
    #[arg(value_name = "AGENT")]
    pub(super) hosts: Vec<String>,
    /// The rack of each host, in their order; slow racks are then told from slow hosts
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Pairs")]
    pub(super) racks: Vec<String>,
    /// Each host meets so many others, drawn by chance [default: all of them]
    #[arg(long, value_name = "N", help_heading = "Pairs")]
    pub(super) partners: Option<usize>,
    /// How long each direction of a pair is measured
    #[arg(long, value_name = "TIME", default_value = "500ms", help_heading = "Effort")]
    pub(super) time: Nanos,
    /// Connections at once in each direction; several may take several paths
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Effort")]
    pub(super) flows: u32,
    /// Seed of every random choice [default: another each time]
    #[arg(long, value_name = "NUMBER", value_parser = crate::cli::seed, allow_hyphen_values = true, help_heading = "Effort")]
    pub(super) seed: Option<u64>,
}

const AFTER: &str = "\
Every agent needs test = true in its policy for this host: see docs/mesh.md.

Examples:
  btu mesh n[01-16]                               all pairs, each host in one at a time
  btu mesh n[01-64] --partners 8                  a quick look: eight partners for each
  btu mesh a1 a2 b1 b2 --racks a,a,b,b            tells a rack's uplink from a host

Exit codes: 0 nothing is slow, 1 something was confirmed to be, 4 a host is missing.";
