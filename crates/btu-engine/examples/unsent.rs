//! The schedule of many flows with nothing to send: what the machine lets the barest generator do.
//!
//! ```text
//! unsent --flows N --period-us N --seconds N --cpus CPU,CPU
//! ```
//!
//! Each flow has a block in every period, the flows are spread evenly over it, and in turn over one thread for
//! each CPU. A thread sleeps until shortly before a block is due, then watches the clock. Prints one line of
//! JSON: how many flows there were, and how many of them would have been called behind.
#![forbid(unsafe_code)]

use std::error::Error;
use std::thread;

use btu_core::traffic::figures::flow::Figures;
use btu_core::traffic::sending::burst::BlockRecord;
use btu_core::traffic::sending::burst::Fate;
use btu_core::traffic::trace::Trace;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;

/// How long before its time a thread wakes up: what the program's own threads begin with on most machines.
const MARGIN: Nanos = Nanos::from_micros(60);
const SETTLING: Nanos = Nanos::from_millis(100);

/// Flows by their period, and how long they last.
#[derive(Clone, Copy)]
struct Schedule {
    flows: u64,
    period: Nanos,
    duration: Nanos,
}

#[expect(clippy::print_stdout, reason = "the result of this program")]
fn main() -> Result<(), Box<dyn Error>> {
    let schedule = Schedule {
        flows: number("--flows")?.max(1),
        period: Nanos::from_micros(number("--period-us")?.max(1)),
        duration: Nanos::from_secs(number("--seconds")?),
    };
    let cpus = option("--cpus").ok_or("give --cpus")?;
    let cpus = cpus.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
    let begin = Nanos::new(clock::monotonic_ns()) + SETTLING;
    let behind: usize = thread::scope(|scope| {
        let crew = |(turn, cpu): (usize, &u32)| {
            let (flows, cpu) = (schedule.flows_of(turn, cpus.len()), *cpu);
            scope.spawn(move || behind(schedule, begin, &flows, cpu))
        };
        let crews: Vec<_> = cpus.iter().enumerate().map(crew).collect();
        crews
            .into_iter()
            .map(|crew| crew.join().map_err(|_| "a thread broke off"))
            .sum::<Result<_, _>>()
    })?;
    println!("{{\"flows\":{},\"behind\":{behind}}}", schedule.flows);
    Ok(())
}

impl Schedule {
    /// The flows of the thread that has this turn.
    fn flows_of(self, turn: usize, threads: usize) -> Vec<u64> {
        (0..self.flows).skip(turn).step_by(threads).collect()
    }

    fn due(self, flow: u64, block: u64) -> Nanos {
        self.period * block + Nanos::new(self.period.count() * flow / self.flows)
    }

    fn blocks(self) -> u64 {
        self.duration.count() / self.period.count()
    }
}

/// Waits for every block of these flows on one CPU; gives how many flows would be called behind.
fn behind(schedule: Schedule, begin: Nanos, flows: &[u64], on: u32) -> usize {
    // What is not granted shows in the result, as it would in the program's.
    let _ = cpu::pin(&CpuSet::from_iter([on]));
    let _ = cpu::set_timer_slack(1);
    cpu::prefer_latency();
    let _ = cpu::go_first();
    let mut kept = vec![Vec::new(); flows.len()];
    for block in 0..schedule.blocks() {
        for (flow, kept) in flows.iter().zip(&mut kept) {
            let due = schedule.due(*flow, block);
            clock::wait_until((begin + due).count(), MARGIN.count());
            let start = Some(Nanos::new(clock::monotonic_ns()).since(begin));
            kept.push(BlockRecord { due, start, fate: Fate::Sent, ..BlockRecord::default() });
        }
    }
    kept.into_iter().map(|blocks| usize::from(is_behind(schedule.duration, blocks))).sum()
}

/// By the rule of every paced flow.
fn is_behind(duration: Nanos, blocks: Vec<BlockRecord>) -> bool {
    let trace = Trace { duration, blocks, ..Trace::default() };
    Figures::of(&trace).pacing.is_none_or(|pacing| pacing.host_limited)
}

fn number(name: &str) -> Result<u64, Box<dyn Error>> {
    Ok(option(name).ok_or_else(|| format!("give {name}"))?.parse()?)
}

/// The value that follows an option, if it is there.
fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != name).nth(1)
}
