//! Options that every measurement with a plan of its own has: what is repeated, where the result goes, what is told.

use std::path::PathBuf;

/// Where a result comes from and goes to, and what is told meanwhile.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct ResultArgs {
    /// Repeat what a plan.toml says
    #[arg(long, value_name = "FILE", conflicts_with = "resume", help_heading = "Effort")]
    pub(crate) plan: Option<PathBuf>,
    /// Where the result goes; must be empty or not exist [default: btu-results/TIME-WHAT]
    #[arg(long, value_name = "DIR", conflicts_with = "resume", help_heading = "Result")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with a measurement that was cut short; what it measured is not repeated
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    pub(crate) resume: Option<PathBuf>,
    /// A note that goes into the result
    #[arg(long, value_name = "TEXT", conflicts_with = "resume", help_heading = "Result")]
    pub(crate) note: Option<String>,
    /// Print the plan and what it takes, and measure nothing
    #[arg(long, help_heading = "Result")]
    pub(crate) dry_run: bool,
    /// No progress on stderr
    #[arg(long, help_heading = "Result")]
    pub(crate) quiet: bool,
    /// Write exactly one JSON document (the result) to stdout
    #[arg(long, help_heading = "Result")]
    pub(crate) json: bool,
}
