//! `btu traffic sweep`: the cells of a curve along one axis.

use anyhow::anyhow;
use btu_core::traffic::course::KNEE;
use btu_core::traffic::language::recipe;
use btu_core::traffic::language::recipe::BURST;
use btu_core::traffic::language::recipe::STREAM;
use btu_core::traffic::language::recipe::full_over;
use btu_core::traffic::language::recipe::one_test;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Course;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Study;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::options::SweepArgs;
use crate::exit::Failure;

/// Along what throughput is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Axis {
    /// Full streams of rising block size
    BlockSize,
    /// Queued bursts at rising periods: finds the knee
    Period,
    /// Full streams, 1 to --sessions of them at once
    Sessions,
    /// Random bursts for rising times
    Time,
}

/// The plan of a sweep.
pub(super) fn plan(args: &SweepArgs) -> Result<Plan, Failure> {
    if args.time < LEAST {
        return Err(Failure::usage(anyhow!("--time {}: write {LEAST} or more", args.time)));
    }
    if let Some(sessions) = args.sessions.filter(|_| args.axis != Axis::Sessions) {
        let cause = anyhow!("--sessions {sessions}: the axis is not sessions");
        return Err(Failure::usage(cause).hint("write btu traffic sweep sessions"));
    }
    let mut cells = Cells::default();
    let mut course = None;
    let link = args.path.link()?;
    let path = match &args.peer.peer {
        Some(_) => recipe::Path::Network,
        None => recipe::Path::Local(link.as_ref()),
    };
    let tcp = path.tcp();
    let full = |block| full_over(tcp, block, args.time);
    match args.axis {
        Axis::BlockSize => {
            for size in given(&args.values, &BLOCK_SIZES, above_zero)? {
                cells.add(Group::BlockSize, size.to_string(), float(size.count()), &full(size));
            }
        }
        // Which periods tell something, what a full stream gets tells.
        Axis::Period if args.values.is_empty() => {
            let name = KNEE.to_owned();
            course = Some(Course { name, time_ns: args.time, ..Course::default() });
        }
        Axis::Period => {
            cells.add(Group::Capacity, "full stream".to_owned(), 1.0, &full(STREAM));
            for period in given(&args.values, &[], above_zero)? {
                let script = recipe::bursts("burstq", tcp, BURST, period, args.time);
                cells.add(Group::Period, period.to_string(), period.millis(), &script);
            }
        }
        Axis::Sessions => {
            for count in sessions(args)?.into_iter().map(|Sessions(count)| count) {
                cells.add(Group::Sessions, count.to_string(), f64::from(count), &full(STREAM));
                if let Some(cell) = cells.0.last_mut() {
                    cell.sessions = count;
                }
            }
        }
        Axis::Time => {
            cells.add(Group::Capacity, "full stream".to_owned(), 1.0, &full(STREAM));
            for time in given(&args.values, &TIMES, long_enough)? {
                cells.add(Group::Time, time.to_string(), time.seconds(), &vbr(tcp, time, 1));
            }
        }
    }
    let seed = args.path.seed.unwrap_or_else(crate::measurement::fresh_seed);
    let plan = Plan { passes: args.passes, link, course, ..Plan::new(Study::Sweep, cells.0, seed) };
    Ok(Plan { stall_ns: args.path.stall, ..plan })
}

/// Values as written, each once and as `legal` wants it, or those that are measured otherwise.
fn given<T: std::str::FromStr + Copy + PartialEq>(
    written: &[String],
    otherwise: &[T],
    legal: fn(T) -> Result<(), String>,
) -> Result<Vec<T>, Failure>
where
    T::Err: std::fmt::Display,
{
    if written.is_empty() {
        return Ok(otherwise.to_vec());
    }
    let mut values: Vec<T> = Vec::new();
    for text in written {
        let refuse = |why: String| Failure::usage(anyhow!("--values {text}: {why}"));
        let value = text.parse::<T>().map_err(|cause| refuse(cause.to_string()))?;
        legal(value).map_err(refuse)?;
        if values.contains(&value) {
            let hint = "a value is measured as often as --passes says";
            return Err(refuse("it is there twice".to_owned()).hint(hint));
        }
        values.push(value);
    }
    Ok(values)
}

fn above_zero<T: Copy + Default + PartialEq>(value: T) -> Result<(), String> {
    if value == T::default() { Err("write more than zero".to_owned()) } else { Ok(()) }
}

fn long_enough(time: Nanos) -> Result<(), String> {
    if time < LEAST { Err(format!("write {LEAST} or more")) } else { Ok(()) }
}

/// How many flows at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sessions(u32);

impl std::str::FromStr for Sessions {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let count = text.parse().ok().filter(|count| (1..=1024).contains(count));
        count.map(Self).ok_or("write 1 to 1024 sessions")
    }
}

/// Each number up to 16, powers of two beyond.
fn sessions(args: &SweepArgs) -> Result<Vec<Sessions>, Failure> {
    let most = args.sessions.unwrap_or(MOST_SESSIONS);
    let all = (1..=16).chain([32, 64, 128, 256, 512, 1024]).filter(|n| *n <= most);
    given(&args.values, &all.map(Sessions).collect::<Vec<_>>(), |_| Ok(()))
}

/// Cells with numbers from 1.
#[derive(Debug, Default)]
pub(super) struct Cells(pub(super) Vec<Cell>);

impl Cells {
    pub(super) fn add(&mut self, group: Group, label: String, x: f64, scenario: &str) -> &mut Cell {
        let id = u32::try_from(self.0.len() + 1).unwrap_or(u32::MAX);
        let scenario = scenario.to_owned();
        self.0.push(Cell { id, group, label, x, sessions: 1, scenario, ..Cell::default() });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}

/// The variable bit rate of the paper: clamped exponential sizes, uniform periods; `scale` divides
/// the periods.
pub(super) fn vbr(tcp: &str, time: Nanos, scale: u32) -> String {
    let scale = u64::from(scale);
    let traffic = format!(
        "burstq(blocksize=clamp(exp(256258 B), 8 B, 1048586 B), period=uniform({} us, {} us), \
         duration={} ns)",
        20_000 / scale,
        200_000 / scale,
        time.count()
    );
    one_test(&traffic, tcp, "")
}

#[expect(clippy::cast_precision_loss, reason = "sizes of a plan are far below 2^53")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}

const BLOCK_SIZES: [Bytes; 8] = [
    Bytes::new(64),
    Bytes::new(256),
    Bytes::new(1 << 10),
    Bytes::new(4 << 10),
    Bytes::new(16 << 10),
    Bytes::new(64 << 10),
    Bytes::new(256 << 10),
    Bytes::new(1 << 20),
];
const TIMES: [Nanos; 4] =
    [Nanos::from_secs(1), Nanos::from_secs(2), Nanos::from_secs(4), Nanos::from_secs(8)];
/// Shorter runs measure the scheduler.
const LEAST: Nanos = Nanos::from_millis(50);
const MOST_SESSIONS: u32 = 16;
