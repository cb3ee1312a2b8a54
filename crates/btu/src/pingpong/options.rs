//! What `btu pingpong` can be asked for.

use std::path::PathBuf;

use btu_core::pingpong::schedule::POINT_TIME;
use btu_core::pingpong::statistic::Statistic;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::CpuSet;

use super::choices::ModeWord;
use super::choices::Offsets;
use super::choices::OrderWord;
use super::choices::PathWord;
use super::choices::PlacementWord;
use super::choices::PlantWord;
use super::choices::SocketSwitch;
use super::choices::Switch;
use super::choices::WaitWord;
use crate::measurement::options::ResultArgs;

/// Options of `btu pingpong`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct PingPongArgs {
    #[command(flatten)]
    pub(super) what: WhatArgs,
    /// Between this host and a paired one: its name (btu pair) or an invitation; btu agent runs there
    #[arg(long, value_name = "AGENT", conflicts_with = "on", help_heading = "Hosts")]
    pub(super) peer: Option<String>,
    /// How long a lost agent is waited for, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "peer",
        default_value_t = 60,
        value_parser = crate::cli::seconds,
        allow_hyphen_values = true,
        help_heading = "Hosts"
    )]
    pub(super) reconnect: u32,
    #[command(flatten)]
    pub(super) state: crate::agent::StateArgs,
    /// Lay a curve from elsewhere over ours: np.out, OSU, IMB, perftest, or a result's directory; repeatable
    #[arg(long, value_name = "FILE|DIR", conflicts_with = "resume", help_heading = "Result")]
    pub(super) import: Vec<PathBuf>,
    /// Write the curve as an np.out of `NetPIPE` (several curves: one file each, FILE.CURVE)
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub(super) export: Option<PathBuf>,
    #[command(flatten)]
    pub(super) result: ResultArgs,
}

/// What is measured and how it is read: all that a plan says.
#[derive(Debug, clap::Args)]
#[group(id = "what", multiple = true, conflicts_with_all = ["plan", "resume"])]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[expect(clippy::doc_markdown, reason = "the help text of an option is plain text")]
pub(crate) struct WhatArgs {
    /// Transports by name, or `all` that this machine has (see btu list pingpong-transports); one named
    /// twice is measured twice, in turn [default: tcp]
    #[arg(value_name = "TRANSPORT")]
    pub(super) transports: Vec<String>,
    /// Smallest block
    #[arg(long, value_name = "BYTES", default_value = "1B", help_heading = "Sizes")]
    pub(super) start: Bytes,
    /// Largest block
    #[arg(long, value_name = "BYTES", default_value = "8MiB", help_heading = "Sizes")]
    pub(super) end: Bytes,
    /// How far around each size to look, because round sizes are treated differently; 0B for not
    #[arg(long, value_name = "BYTES", default_value = "3B", help_heading = "Sizes")]
    pub(super) perturbation: Bytes,
    /// A dense zoom: this step between all sizes (drawn on a linear axis)
    #[arg(long, value_name = "BYTES", help_heading = "Sizes")]
    pub(super) increment: Option<Bytes>,
    /// Powers of two alone, without those in between and around them
    #[arg(long, help_heading = "Sizes", conflicts_with_all = ["increment", "perturbation", "table"])]
    pub(super) powers_of_two: bool,
    /// These sizes alone, separated by commas
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', help_heading = "Sizes", conflicts_with_all = ["start", "end", "increment", "powers_of_two", "table"])]
    pub(super) sizes: Vec<Bytes>,
    /// Transport by way to wait and by placement at 8 B, 1400 B and 64 KiB: what waiting costs, what the
    /// protocol, what a second CPU
    #[arg(long, help_heading = "Sizes", conflicts_with_all = ["wait", "start", "end", "increment"])]
    pub(super) table: bool,
    /// What one timed exchange is
    #[arg(
        long,
        value_name = "MODE",
        value_enum,
        default_value = "ping-pong",
        help_heading = "Exchange"
    )]
    pub(super) mode: ModeWord,
    /// How the ends wait; several, separated by commas, are compared
    #[arg(
        long,
        value_name = "WAIT,...",
        value_enum,
        value_delimiter = ',',
        default_value = "block",
        help_heading = "Exchange"
    )]
    pub(super) wait: Vec<WaitWord>,
    /// Distance of the buffers from a page boundary; repeatable, then compared
    #[arg(long = "offset", value_name = "SEND[,RECEIVE]", help_heading = "Exchange")]
    pub(super) offsets: Vec<Offsets>,
    /// Send each block from memory that is not in the cache
    #[arg(long, help_heading = "Exchange")]
    pub(super) cold: bool,
    /// Send a header of this size and the rest in two calls, as many protocols do
    #[arg(long, value_name = "BYTES", help_heading = "Exchange")]
    pub(super) header: Option<Bytes>,
    /// A new connection for every visit of a size
    #[arg(long, help_heading = "Exchange")]
    pub(super) reset: bool,
    /// Check every byte of every block instead of timing it
    #[arg(long, help_heading = "Exchange", conflicts_with = "table")]
    pub(super) verify: bool,
    /// Let the far end do something wrong, to see that it is noticed; without --verify it can close,
    /// fall silent or send too little, from the second round on
    #[arg(long, value_name = "FAULT", value_enum, help_heading = "Exchange")]
    pub(super) plant: Option<PlantWord>,
    /// TCP_NODELAY
    #[arg(long, value_enum, value_name = "SWITCH", default_value = "on", help_heading = "Sockets")]
    pub(super) nodelay: SocketSwitch,
    /// TCP_QUICKACK, set before each wait
    #[arg(
        long,
        value_enum,
        value_name = "SWITCH",
        default_value = "system",
        help_heading = "Sockets"
    )]
    pub(super) quick_ack: SocketSwitch,
    /// SO_SNDBUF (Linux doubles it)
    #[arg(long, value_name = "BYTES", help_heading = "Sockets")]
    pub(super) send_buffer: Option<Bytes>,
    /// SO_RCVBUF (Linux doubles it)
    #[arg(long, value_name = "BYTES", help_heading = "Sockets")]
    pub(super) receive_buffer: Option<Bytes>,
    /// TCP_MAXSEG (timestamps take 12 bytes off it)
    #[arg(long, value_name = "BYTES", help_heading = "Sockets")]
    pub(super) mss: Option<Bytes>,
    /// MTU of the link
    #[arg(long, value_name = "BYTES", help_heading = "Sockets")]
    pub(super) mtu: Option<Bytes>,
    /// Segmentation offload of the link
    #[arg(
        long,
        value_enum,
        value_name = "SWITCH",
        default_value = "system",
        help_heading = "Sockets"
    )]
    pub(super) offload: SocketSwitch,
    /// Between which hosts
    #[arg(long, value_enum, value_name = "PATH", default_value = "direct", help_heading = "Hosts")]
    pub(super) on: PathWord,
    /// On which CPUs the two ends run; several, separated by commas, are compared [default: split; with
    /// --table on one machine split,same]
    #[arg(
        long,
        value_enum,
        value_name = "PLACEMENT,...",
        value_delimiter = ',',
        help_heading = "Hosts"
    )]
    pub(super) placement: Vec<PlacementWord>,
    /// CPUs of the near and of the far end, such as 0/1 or 0-3/4-7
    #[arg(long, value_name = "NEAR/FAR", value_parser = cpus, help_heading = "Hosts")]
    pub(super) cpus: Option<(String, String)>,
    /// In which order the sizes are visited
    #[arg(
        long,
        value_enum,
        value_name = "ORDER",
        default_value = "random",
        help_heading = "Effort"
    )]
    pub(super) order: OrderWord,
    /// How often each point is visited [default: 10; with --verify 1]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Effort")]
    pub(super) rounds: Option<u32>,
    /// Connections of each curve, one after the other
    #[arg(long, value_name = "NUMBER", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Effort")]
    pub(super) connections: u32,
    /// Time of each point, all rounds together
    #[arg(long, value_name = "TIME", default_value_t = POINT_TIME, help_heading = "Effort")]
    pub(super) point_time: Nanos,
    /// The longest that a block may take, one way: larger ones are left out
    #[arg(long, value_name = "TIME", default_value = "1s", help_heading = "Effort")]
    pub(super) block_time: Nanos,
    /// How long a peer may say nothing before its visit is given up; over udp, which nobody counts: how long a
    /// visit may take beyond its share
    #[arg(long, value_name = "TIME", default_value = "5s", help_heading = "Effort")]
    pub(super) patience: Nanos,
    /// Seed of the random order, instead of a fresh one
    #[arg(long, value_parser = crate::cli::seed, allow_hyphen_values = true, value_name = "NUMBER", help_heading = "Effort")]
    pub(super) seed: Option<u64>,
    /// Look for sizes that are too slow, confirm and explain them
    #[arg(long, value_enum, value_name = "SWITCH", default_value = "on", help_heading = "Effort")]
    pub(super) chasms: Switch,
    /// The most time for chasms, for each curve
    #[arg(long, value_name = "TIME", default_value = "120s", help_heading = "Effort")]
    pub(super) chasm_time: Nanos,
    /// How exactly the edges of a chasm are found
    #[arg(long, value_name = "BYTES", default_value = "1B", help_heading = "Effort")]
    pub(super) resolution: Bytes,
    /// Measure copies of memory beside, as the machine's own limit
    #[arg(long, value_enum, value_name = "SWITCH", default_value = "on", help_heading = "Effort")]
    pub(super) reference: Switch,
    /// What the curves are drawn of: typical, min, median, p99, mean, average-of-3000, netpipe
    #[arg(long, value_name = "NAME", default_value = "typical", help_heading = "Result")]
    pub(super) statistic: Statistic,
    /// The transport that costs are counted from [default: the first]
    #[arg(long, value_name = "TRANSPORT", help_heading = "Result")]
    pub(super) base: Option<String>,
}

/// `NEAR/FAR`, each a list of CPUs.
fn cpus(text: &str) -> Result<(String, String), String> {
    let (near, far) = text.split_once('/').ok_or("write NEAR/FAR, such as 0/1 or 0-3/4-7")?;
    for list in [near, far] {
        let set: CpuSet =
            list.parse().map_err(|error: btu_sys::cpu::CpuListError| error.to_string())?;
        if set.is_empty() {
            return Err("write NEAR/FAR, such as 0/1 or 0-3/4-7".to_owned());
        }
    }
    Ok((near.to_owned(), far.to_owned()))
}

const AFTER: &str = "\
Examples:
  btu pingpong                                TCP on the local testbed, 1 B to 8 MiB, in half a minute
  btu pingpong tcp unix shm --wait block,spin several curves, measured in turn
  btu pingpong --table                        what waiting costs, and what the protocol costs
  btu pingpong tcp --start 59kB --end 72kB --increment 100B --offset 0B --offset 1B
  btu pingpong tcp --header 16B --nodelay off the delay of two writes with Nagle's algorithm
  btu pingpong --statistic netpipe --order rising --connections 1 --import np.out
                                              as NetPIPE measures, beside a curve of it
  btu pingpong tcp tcp                        the same twice: what this machine makes of equals
  btu pingpong tcp udp quic --peer lab1       between this host and a paired one
Sizes have units (64KiB, 64kB, 1B), times too (5s, 250ms). Method: docs/pingpong.md";
