//! What `btu traffic` can be asked for.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use btu_core::role::Role;
use btu_core::traffic::figures::capacity::Adjustment;
use btu_core::traffic::plan::Plan;
use btu_core::units::Nanos;
use btu_core::units::UnitError;

use super::method;
use super::path;
use super::planning;
use super::qos;
use super::sweep;
use super::viseum;
use crate::conductor::NamedAgent;
use crate::exit::Failure;
use crate::link::ElementArgs;
use crate::state::StateDir;

/// Options of `btu traffic`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = AFTER)]
pub(crate) struct TrafficArgs {
    #[command(subcommand)]
    study: Option<StudyArgs>,
    #[command(flatten)]
    file: FileArgs,
}

/// What is measured by a plan of its own. A file of such a name is written ./NAME.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum StudyArgs {
    /// Print a scenario in its TOML form
    Convert(ConvertArgs),
    /// A standard method under its own name: rfc2544, rfc9004, rfc6349, rfc9097, mlrsearch, responsiveness
    Method(Box<MethodArgs>),
    /// The quality of service of a path for application classes
    Qos(Box<QosArgs>),
    /// Throughput over block size, burst period, sessions or time; finds the knee
    Sweep(Box<SweepArgs>),
    /// The measurements of napier's paper, figure by figure, beside its own numbers
    Viseum(Box<ViseumArgs>),
}

/// A scenario of a file.
#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// A scenario: a script (.ns in `NetSpec`'s units, .btu in ours), its TOML form (.toml), or what its only test sends
    /// from test to active: full, burst, burstq or a model, as 'voice-onoff(codec=g729)'
    #[arg(value_name = "FILE", required_unless_present_any = ["plan", "resume"])]
    pub(super) scenario: Option<PathBuf>,
    /// What carries that test: tcp, udp or quic, with options as in a script [default: tcp]
    #[arg(long, value_name = "PROTOCOL")]
    pub(super) over: Option<String>,
    /// Let a host of the scenario be played by test, active or passive; repeatable
    #[arg(long, value_name = "HOST=ROLE")]
    pub(super) map: Vec<String>,
    /// Let a host of the scenario be played by a paired one: its name (btu pair) or an invitation; repeatable
    #[arg(long, value_name = "HOST=AGENT", help_heading = "Hosts")]
    pub(super) host: Vec<String>,
    /// Where agents send to each other: which of them connects to the others [default: the first that sends to one];
    /// its policy has to say test = true
    #[arg(long, value_name = "AGENT", conflicts_with_all = ["plan", "resume"], help_heading = "Hosts")]
    pub(super) test: Option<String>,
    #[command(flatten)]
    pub(super) far: FarArgs,
    /// Repeat what a plan.toml says
    #[arg(long, value_name = "FILE", conflicts_with = "resume", conflicts_with_all = OF_A_PLAN, help_heading = "Effort")]
    pub(super) plan: Option<PathBuf>,
    /// Go on with a measurement that was cut short; what it measured is not repeated
    #[arg(long, value_name = "DIR", conflicts_with_all = OF_A_PLAN, conflicts_with_all = ["out", "note"], help_heading = "Result")]
    pub(super) resume: Option<PathBuf>,
    /// How often the scenario is run
    #[arg(long, value_name = "NUMBER", default_value_t = 1, help_heading = "Effort",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) passes: u32,
    #[command(flatten)]
    pub(super) path: PathArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// Options of `btu traffic convert`.
#[derive(Debug, clap::Args)]
pub(crate) struct ConvertArgs {
    /// A scenario: .ns, .btu or .toml, or what its only test sends
    #[arg(value_name = "FILE")]
    pub(super) scenario: PathBuf,
    /// Write exactly one JSON document to stdout: the text as `toml`
    #[arg(long)]
    pub(super) json: bool,
}

/// Options of `btu traffic sweep`.
#[derive(Debug, clap::Args)]
pub(crate) struct SweepArgs {
    /// Along which axis
    #[arg(value_name = "AXIS", value_enum, default_value = "period")]
    pub(super) axis: sweep::Axis,
    /// Values of the axis, separated by commas: 64B,1KiB or 20ms,40ms or 1,2,4 or 10s,20s
    #[arg(long, value_name = "VALUE,...", value_delimiter = ',', help_heading = "Effort")]
    pub(super) values: Vec<String>,
    /// Of the axis sessions: the most of them (powers of two above 16) [default: 16]
    #[arg(long, value_name = "NUMBER", conflicts_with = "values", help_heading = "Effort",
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) sessions: Option<u32>,
    /// Time of each run, 50 ms or more
    #[arg(long, value_name = "TIME", default_value = "2s", help_heading = "Effort")]
    pub(super) time: Nanos,
    /// How often each point is run, in a new random order each time
    #[arg(long, value_name = "NUMBER", default_value_t = 5, help_heading = "Effort",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) passes: u32,
    #[command(flatten)]
    pub(super) peer: PeerArgs,
    #[command(flatten)]
    pub(super) path: PathArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// Options of `btu traffic qos`.
#[derive(Debug, clap::Args)]
pub(crate) struct QosArgs {
    /// Application classes, separated by commas [default: all]
    #[arg(value_name = "CLASS,...", value_delimiter = ',')]
    pub(super) classes: Vec<String>,
    /// Time of each load, 50 ms to 12 minutes; the capacity search takes five times as long, which with 40 s
    /// must be within the `max_run` of an agent's policy: 112 s where it says nothing
    #[arg(long, value_name = "TIME", default_value = "2s", help_heading = "Effort")]
    pub(super) time: Nanos,
    /// How often each load is run
    #[arg(long, value_name = "NUMBER", default_value_t = 3, help_heading = "Effort",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) passes: u32,
    /// Sessions of a class at most [default: 1024; towards an agent 64, what its policy allows]
    #[arg(long, value_name = "NUMBER", help_heading = "Effort",
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) sessions: Option<u32>,
    /// Judge a class by another limit: delay or pdv (99th percentile), loss, slowdown, carried or share, or none of it:
    /// voice.delay=200ms, mpeg.loss=1%, web.delay=none; repeatable
    #[arg(long, value_name = "CLASS.LIMIT=VALUE", help_heading = "Effort")]
    pub(super) limit: Vec<String>,
    #[command(flatten)]
    pub(super) peer: PeerArgs,
    #[command(flatten)]
    pub(super) path: PathArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// Options of `btu traffic method`.
#[derive(Debug, clap::Args)]
pub(crate) struct MethodArgs {
    /// Which method; `btu list methods` tells what each finds
    #[arg(value_name = "METHOD")]
    pub(super) method: String,
    /// Short trials and few frame sizes: shows what is to be expected, and says that it is not conformant
    #[arg(long, help_heading = "Effort")]
    pub(super) quick: bool,
    /// Time of a trial, 50 ms to 1 h; with 40 s it must be within the `max_run` of an agent's policy [default:
    /// what the method's text asks for]
    #[arg(long, value_name = "TIME", help_heading = "Effort")]
    pub(super) time: Option<Nanos>,
    /// Frame sizes on Ethernet, 64 to 1518 bytes, separated by commas [default: those of the text]
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', help_heading = "Effort")]
    pub(super) frames: Vec<u32>,
    /// How the rate of rfc9097 follows its receiver: B, or C, which doubles it and tries again, and reacts faster
    /// where the capacity is large or changes meanwhile [default: B]
    #[arg(long, value_name = "B|C", help_heading = "Effort")]
    pub(super) adjustment: Option<Adjustment>,
    /// How often a search is repeated, of mlrsearch each load [default: what the method's text asks for]
    #[arg(long, value_name = "NUMBER", help_heading = "Effort",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) repeats: Option<u32>,
    #[command(flatten)]
    pub(super) peer: PeerArgs,
    #[command(flatten)]
    pub(super) path: PathArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// Options of `btu traffic viseum`.
#[derive(Debug, clap::Args)]
pub(crate) struct ViseumArgs {
    /// Every rate times 10, every time divided by 10, no delay of the path (70 ms): the same utilisations in a tenth of the time
    #[arg(long, help_heading = "Effort")]
    pub(super) quick: bool,
    /// Fewer and shorter cells still: shows that all works, proves little
    #[arg(long, conflicts_with = "quick", help_heading = "Effort")]
    pub(super) smoke: bool,
    /// Seed of everything random, instead of a fresh one
    #[arg(long, value_parser = crate::cli::seed, allow_hyphen_values = true, value_name = "NUMBER", help_heading = "Effort")]
    pub(super) seed: Option<u64>,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// The other host of a study.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Hosts")]
pub(crate) struct PeerArgs {
    /// Between this host and a paired one: its name (btu pair) or an invitation; btu agent runs there
    #[arg(long, value_name = "AGENT")]
    pub(super) peer: Option<String>,
    /// Between that host and another paired one, in the place of this one: its name; its policy has to say test = true
    #[arg(long, value_name = "AGENT", requires = "peer")]
    pub(super) test: Option<String>,
    #[command(flatten)]
    pub(super) far: FarArgs,
}

/// What holds for every agent.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Hosts")]
pub(crate) struct FarArgs {
    /// How long a lost agent is waited for, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = crate::cli::seconds, allow_hyphen_values = true)]
    pub(super) reconnect: u32,
    #[command(flatten)]
    pub(super) state: crate::agent::StateArgs,
}

/// What lies between the hosts, and chance.
#[derive(Debug, clap::Args)]
pub(crate) struct PathArgs {
    #[command(flatten)]
    pub(super) elements: ElementArgs,
    /// Overhead that counts against a rate: ethernet, ip or atm
    #[arg(
        long,
        value_name = "LAYER",
        default_value = "ethernet",
        help_heading = "Link elements, both directions alike"
    )]
    pub(super) wire: String,
    /// How long nothing may move before a run is given up, 200 ms to 1 h: TCP itself may pause for ten
    /// seconds and more where many sessions share a slow link
    #[arg(long, value_name = "TIME", default_value = "30s", help_heading = "Effort", value_parser = stall)]
    pub(super) stall: Nanos,
    /// Seed of everything random, instead of a fresh one
    #[arg(long, value_parser = crate::cli::seed, allow_hyphen_values = true, value_name = "NUMBER", help_heading = "Effort")]
    pub(super) seed: Option<u64>,
}

/// Where the result goes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Result")]
pub(crate) struct OutputArgs {
    /// Where the result goes; must be empty or not exist [default: btu-results/TIME-traffic-...]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// A note that goes into the result
    #[arg(long, value_name = "TEXT")]
    pub(super) note: Option<String>,
    /// Print the plan and its time estimate, where that is known before, and send nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// No progress on stderr
    #[arg(long)]
    pub(super) quiet: bool,
    /// Write exactly one JSON document (the result) to stdout
    #[arg(long)]
    pub(super) json: bool,
}

/// Within the least time after which TCP sends again, one lost packet would end a run.
fn stall(text: &str) -> Result<Nanos, String> {
    let time: Nanos = text.parse().map_err(|cause: UnitError| cause.to_string())?;
    let legal = Nanos::from_millis(200)..=Nanos::from_secs(3600);
    if legal.contains(&time) { Ok(time) } else { Err("write 200ms to 1 hour".to_owned()) }
}

impl TrafficArgs {
    /// The options of `convert`, where that is asked for.
    pub(super) fn convert(&self) -> Option<&ConvertArgs> {
        match &self.study {
            Some(StudyArgs::Convert(convert)) => Some(convert),
            _ => None,
        }
    }

    /// The directory of a measurement that is gone on with.
    pub(super) fn resumed(&self) -> Option<&Path> {
        let of_file = self.study.is_none().then_some(self.file.resume.as_ref());
        of_file.flatten().map(PathBuf::as_path)
    }

    /// The file of a scenario.
    pub(super) fn scenario(&self) -> Option<&Path> {
        self.study.is_none().then_some(self.file.scenario.as_deref()).flatten()
    }

    /// The plan of these options; nothing but files is read.
    pub(super) fn plan(&self) -> Result<(Plan, &OutputArgs), Failure> {
        let (plan, output) = match &self.study {
            Some(StudyArgs::Method(args)) => (method::plan(args)?, &args.output),
            Some(StudyArgs::Qos(args)) => (qos::plan(args)?, &args.output),
            Some(StudyArgs::Sweep(args)) => (sweep::plan(args)?, &args.output),
            Some(StudyArgs::Viseum(args)) => (viseum::plan(args), &args.output),
            Some(StudyArgs::Convert(_)) | None => (planning::plan(&self.file)?, &self.file.output),
        };
        let plan = match self.peer() {
            Some(peer) => planning::towards(plan, peer)?,
            None => plan,
        };
        if !plan.agents.is_empty() && plan.has_link() {
            return Err(path::no_link());
        }
        Ok((plan, output))
    }

    /// The agents of a plan, as this host knows them.
    pub(super) fn agents(&self, plan: &Plan) -> Result<BTreeMap<Role, NamedAgent>, Failure> {
        if plan.agents.is_empty() {
            return Ok(BTreeMap::new());
        }
        let state = StateDir::open(&self.far().state)?;
        let hosts = self.file.host.iter().filter_map(|wish| wish.split_once('='));
        let hosts = hosts.map(|(_, agent)| ("--host", agent));
        let peer = self.peer().and_then(|p| p.peer.as_deref()).map(|agent| ("--peer", agent));
        let test = self.peer().and_then(|p| p.test.as_deref()).map(|agent| ("--test", agent));
        let given: Result<Vec<NamedAgent>, Failure> = hosts
            .chain(peer)
            .chain(test)
            .map(|(option, agent)| NamedAgent::find(&state, option, agent))
            .collect();
        let given = given?;
        let mut agents = BTreeMap::new();
        for (role, name) in &plan.agents {
            let known = given.iter().find(|agent| agent.name == *name).cloned();
            let found = || NamedAgent::find(&state, "plan.toml: agents:", name);
            agents.insert(*role, known.map_or_else(found, Ok)?);
        }
        Ok(agents)
    }

    /// What holds for every agent.
    pub(super) fn far(&self) -> &FarArgs {
        self.peer().map_or(&self.file.far, |peer| &peer.far)
    }

    fn peer(&self) -> Option<&PeerArgs> {
        match &self.study {
            Some(StudyArgs::Method(args)) => Some(&args.peer),
            Some(StudyArgs::Qos(args)) => Some(&args.peer),
            Some(StudyArgs::Sweep(args)) => Some(&args.peer),
            Some(StudyArgs::Convert(_) | StudyArgs::Viseum(_)) | None => None,
        }
    }
}

/// What stands in a plan: nobody chooses it beside one.
const OF_A_PLAN: [&str; 22] = [
    "scenario",
    "over",
    "map",
    "passes",
    "wire",
    "stall",
    "seed",
    "delay",
    "rtt",
    "rate",
    "trace",
    "queue",
    "drop",
    "loss",
    "duplicate",
    "corrupt",
    "hold",
    "jitter",
    "reorder",
    "up",
    "down",
    "chain",
];

const AFTER: &str = "\
Examples:
  btu traffic script.ns                       a NetSpec script as it is, on the local testbed
  btu traffic script.ns --rate 1.7Mbit/s      the same over a slow line
  btu traffic script.ns --host vasari=lab1    between this host and a paired one
  btu traffic 'voice-onoff(codec=g729)' --over udp   one model, without a file
  btu traffic sweep period --rate 10Mbit/s    throughput over burst period, and the knee
  btu traffic sweep sessions --sessions 64    how the path scales with sessions
  btu traffic qos voice,bulk --rate 10Mbit/s  what the path is good for
  btu traffic qos --peer lab1                 what the path to a paired host is good for
  btu traffic qos --test lab1 --peer lab2     what the path between two paired hosts is good for
  btu traffic method rfc2544 --quick --rate 10Mbit/s   throughput by frame size
  btu traffic viseum --quick                  the paper's measurements again, in minutes
Method: docs/traffic.md";
