//! The command line: one variant per verb, each verb's options in its own file.

use clap::Parser;
use clap::Subcommand;

/// BTU, "bits to the user": what this host really delivers to its applications over a network,
/// while it is busy and while the network delays and drops packets.
///
/// Start with `btu run`: it needs no root, no other machine and no options.
#[derive(Debug, Parser)]
#[command(name = "btu", version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs, in alphabetical order.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Say what this machine can and cannot do for BTU, each line with its remedy
    Doctor(crate::doctor::DoctorArgs),
    /// Run a command behind an emulated link: delay, rate, queue, drops, without root
    Link(Box<crate::link::LinkArgs>),
    /// List cases, applications, activities, transports, link elements, backends, rules, formats
    List(crate::list::ListArgs),
    /// Render a stored result again: text, Markdown, HTML, CSV or JSON
    Report(crate::report::ReportArgs),
    /// Measure the BTU score of this machine
    Run(Box<crate::run::RunArgs>),
    /// Compute BTU and penalties from a table of cells that somebody else measured
    Score(crate::score::ScoreArgs),
}
