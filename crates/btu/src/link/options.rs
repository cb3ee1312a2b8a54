//! The options of `btu link`, as written.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;

/// Options of `btu link`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    pub(crate) elements: ElementArgs,
    /// What a packet takes of a rate: ethernet (with framing), ip (without) or atm (in cells) [default: ethernet]
    #[arg(long, value_name = "LAYER", help_heading = "Link")]
    pub(crate) wire: Option<String>,
    /// Seed of everything random; equal seeds give equal fates [default: 1]
    #[arg(long, value_parser = crate::cli::seed, allow_hyphen_values = true, value_name = "N", help_heading = "Link")]
    pub(crate) seed: Option<u64>,
    /// Largest packet in bytes, from the IP header on; below 1280 there is no IPv6
    #[arg(long, value_name = "BYTES", default_value_t = 1500, help_heading = "Link",
          value_parser = clap::value_parser!(u32).range(576..=65535))]
    pub(crate) mtu: u32,
    #[command(flatten)]
    pub(crate) surroundings: SurroundingArgs,
    #[command(flatten)]
    pub(crate) emulator: EmulatorArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// The command and its arguments; $SHELL where none is given on a terminal
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// What the link does to packets: one option per link element.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Link elements, both directions alike")]
pub(crate) struct ElementArgs {
    /// Hold every packet this long, each way: 10ms
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) delay: Option<String>,
    /// Add this to the round trip, half each way: 80ms
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) rtt: Option<String>,
    /// Serial line: 10Mbit/s (also tc's 10Mbit)
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) rate: Option<String>,
    /// Mahimahi trace of delivery opportunities instead of a rate
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<String>,
    /// Queue of the rate or trace: 100ms, 50pkt, 64kB; "50ms codel"
    #[arg(long, value_name = "QUEUE", allow_hyphen_values = true)]
    pub(crate) queue: Option<String>,
    /// Drop by counter (1@200,3@400/400), by chance (1%), by model (ge 1% 30%), by size (above 1400B), by list (list FILE)
    #[arg(long, value_name = "DROPS", allow_hyphen_values = true)]
    pub(crate) drop: Vec<String>,
    /// As others call it; of its own, so that messages name what was written
    #[arg(long, hide = true, allow_hyphen_values = true, conflicts_with = "drop")]
    pub(crate) loss: Vec<String>,
    /// Send a packet twice: 0.1% or a counter pattern
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) duplicate: Option<String>,
    /// Flip one bit of a packet: 0.1% or a counter pattern
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) corrupt: Option<String>,
    /// Hold only packets of a counter pattern: "3@100/100 10ms"
    #[arg(long, value_name = "HOLD", allow_hyphen_values = true)]
    pub(crate) hold: Option<String>,
    /// Random delay that keeps the order: a distribution
    #[arg(long, value_name = "DIST", allow_hyphen_values = true)]
    pub(crate) jitter: Option<String>,
    /// Let packets fall behind others: "1% after 3pkt"
    #[arg(long, value_name = "REORDER", allow_hyphen_values = true)]
    pub(crate) reorder: Option<String>,
    /// An element towards the far end only: "rate 2Mbit/s"; may be repeated
    #[arg(long, value_name = "ELEMENT", help_heading = "Link elements, one direction")]
    pub(crate) up: Vec<String>,
    /// An element towards this end only, that of the command or the host under test: "rate 20Mbit/s queue 50ms codel"; may be repeated
    #[arg(long, value_name = "ELEMENT", help_heading = "Link elements, one direction")]
    pub(crate) down: Vec<String>,
    /// Elements in exactly this order, both ways: "drop 1%; delay 10ms"
    #[arg(long, value_name = "ELEMENTS", help_heading = "Link elements, one direction")]
    pub(crate) chain: Option<String>,
}

/// What lies beyond the link, and what the command may do.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Surroundings")]
pub(crate) struct SurroundingArgs {
    /// Run this shell command at the far end, as a server for CMD; ends with the link
    #[arg(long, value_name = "CMD")]
    pub(crate) far: Option<String>,
    /// What the far end is joined to
    #[arg(long, value_enum, default_value_t = Net::Far)]
    pub(crate) net: Net,
    /// Let CMD reach this TCP service of the outside; TCP ends at the far end. May be repeated
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) reach: Vec<String>,
    /// Give CMD no capabilities; it cannot nest another link then
    #[arg(long)]
    pub(crate) plain: bool,
}

/// How packets are moved.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Emulator")]
pub(crate) struct EmulatorArgs {
    /// What moves the packets
    #[arg(long, value_enum, default_value_t = Backend::Relay)]
    pub(crate) backend: Backend,
    /// How the relay waits for the due time of a packet [default: auto]
    #[arg(long, value_enum)]
    pub(crate) wait: Option<Wait>,
    /// CPUs of the relay: 1 or 2-3,6
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
}

/// What is told of the link.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write exactly one JSON document to stdout; CMD's stdout goes to stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the same document to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) stats: Option<PathBuf>,
    /// Write the headers of the packets that CMD's end sent and received to a file
    #[arg(long, value_name = "FILE.pcapng")]
    pub(crate) capture: Option<PathBuf>,
    /// Exit with 1 where the link was not what was asked, whatever CMD's status; the cause is told even with --quiet
    #[arg(long)]
    pub(crate) strict: bool,
    /// Say nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What the far end is joined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Net {
    /// Nothing: only --far, --reach and an enclosing link are beyond it
    Far,
    /// The host's network, end to end, through a masquerade of the kernel (root only)
    Nat,
    /// The host's network, through the program pasta: of no build yet, so that it is told and not offered
    #[value(hide = true)]
    Pasta,
}

/// What moves the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// User space: packet sockets on the inner ends of two veth pairs
    Relay,
    /// The kernel's own netem, where it has one: delay, drops by chance, a rate; no patterns
    Netem,
}

/// How the emulator waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Wait {
    /// hybrid where the emulator has CPUs of its own, else sleep
    Auto,
    /// Sleep, then spin for the last part
    Hybrid,
    /// Sleep only
    Sleep,
}

const EXAMPLES: &str = "Examples:
  btu link --delay 10ms --rate 10Mbit/s --drop 1@200,3@400/400 -- CMD
  btu link --rtt 80ms --up 'rate 2Mbit/s' --down 'rate 20Mbit/s queue 50ms codel' -- CMD
  btu link --delay 5ms --far 'iperf3 -s' -- sh -c 'iperf3 -c $BTU_LINK_FAR'
  btu link --delay 10ms -- btu link --drop 1% -- CMD

Elements act in the order drop, duplicate, corrupt, rate or trace, delay, hold, jitter, reorder,
however they are written; --chain has its own. CMD finds the far end in $BTU_LINK_FAR, its
IPv6 address in $BTU_LINK_FAR6, its own in $BTU_LINK_NEAR and $BTU_LINK_NEAR6, and how many links
it is inside in $BTU_LINK_DEPTH. The exit status is CMD's (128 + n for signal n), or 2 or 3 where
CMD never ran; also 3 where CMD ended with 0 and its statistics or packets could not be written.";
