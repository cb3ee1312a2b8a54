//! What `btu file` can be asked for.

use std::path::PathBuf;

use btu_core::file::night::TimeOfDay;
use btu_core::file::plan::Path;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::measurement::options::ResultArgs;

/// Options of `btu file`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct FileArgs {
    #[command(flatten)]
    pub(super) what: WhatArgs,
    /// A directory on a disk for the files of cold and warm reads [default: /var/tmp]
    #[arg(long, value_name = "DIR", help_heading = "Hosts")]
    pub(super) io_dir: Option<PathBuf>,
    /// The password of the target's user, as the first line of a file [default: that of the environment]
    #[arg(long, value_name = "FILE", help_heading = "Hosts")]
    pub(super) password_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) result: ResultArgs,
}

/// What is measured: all that a plan says.
#[derive(Debug, clap::Args)]
#[group(id = "file-what", multiple = true, conflicts_with_all = ["plan", "resume"])]
pub(crate) struct WhatArgs {
    /// Experiments by name, or `all` of them (see btu list file-experiments)
    #[arg(value_name = "EXPERIMENT")]
    pub(super) experiments: Vec<String>,
    /// File protocols, separated by commas (see btu list file-protocols) [default: those of each experiment]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Trials")]
    pub(super) protocols: Vec<String>,
    /// Sizes of files, and of blocks in rpc-sweep [default: those of each experiment]
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', help_heading = "Trials")]
    pub(super) sizes: Vec<Bytes>,
    /// Numbers of clients of cold-read and client-load [default: 1,2 and 15]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Trials")]
    pub(super) clients: Vec<u32>,
    /// MTUs of the path in transfer and rpc-sweep [default: 1500B,4144B,9000B,32767B and 4144B,32767B]
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', help_heading = "Trials")]
    pub(super) mtu: Vec<Bytes>,
    /// Between which hosts
    #[arg(long, value_name = "PATH", value_enum, default_value = "direct", help_heading = "Hosts")]
    pub(super) path: PathWord,
    /// A server that somebody else runs in place of host B, as PROTOCOL://[USER@]HOST[:PORT]/PATH
    #[arg(long, value_name = "URL", conflicts_with = "path", help_heading = "Hosts")]
    pub(super) target: Option<String>,
    /// A file of the target that is retrieved; nothing is stored there then
    #[arg(long, value_name = "PATH", requires = "target", help_heading = "Hosts")]
    pub(super) object: Option<String>,
    /// Rounds before those that count [default: 5; 1 with transfer or rpc-sweep]
    #[arg(long, value_name = "N", help_heading = "Effort")]
    pub(super) warm: Option<u32>,
    /// Rounds that count; with --every, slots
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        conflicts_with = "until",
        help_heading = "Effort"
    )]
    pub(super) rounds: u32,
    /// One round each time, as through a night: 30m
    #[arg(long, value_name = "TIME", conflicts_with = "warm", help_heading = "Effort")]
    pub(super) every: Option<Nanos>,
    /// The first slot is due at this time of the day, UTC: 22:00 [default: at once]
    #[arg(long, value_name = "HH:MM", requires = "every", help_heading = "Effort")]
    pub(super) from: Option<TimeOfDay>,
    /// No slot from this time of the day on, UTC: 06:00
    #[arg(long, value_name = "HH:MM", requires = "from", help_heading = "Effort")]
    pub(super) until: Option<TimeOfDay>,
    /// Seed of every random choice [default: another each time]
    #[arg(long, value_name = "NUMBER", value_parser = crate::cli::seed, allow_hyphen_values = true, help_heading = "Effort")]
    pub(super) seed: Option<u64>,
}

/// Between which hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PathWord {
    /// The test host and the active one of the local testbed
    Direct,
    /// This machine with itself
    Loopback,
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
  btu file all                                    the five experiments, in about a minute
  btu file baseline --path loopback               what this machine passes to itself
  btu file transfer --mtu 1500B --protocols ftp   both directions alone and at once
  btu file cold-read --clients 1,2,4 --io-dir .   reads from the disk of this directory
  btu file all --target ftp://nas.example/up      a server that somebody else runs
  btu file client-load --every 30min --from 22:00 --until 06:00   through the night";
