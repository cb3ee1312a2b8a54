//! The running emulator of one link: started from the options, stopped with its record.

use std::thread;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::sample::DirectionSample;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_testbed::around;
use btu_testbed::around::Around;
use btu_testbed::backend;
use btu_testbed::backend::BACKENDS;
use btu_testbed::backend::BackendError;
use btu_testbed::backend::LinkPorts;
use btu_testbed::backend::Order;
use btu_testbed::backend::Settings;
use btu_testbed::backend::WaitChoice;
use btu_testbed::capture::Capture;

use super::elements::Elements;
use super::options::Backend;
use super::options::EmulatorArgs;
use super::options::LinkArgs;
use super::options::Wait;
use crate::exit::Failure;

/// An emulator that carries packets until it is dropped.
#[derive(Debug)]
pub(crate) struct Emulator {
    running: Box<dyn backend::Emulator>,
    captures: bool,
}

/// What an emulator leaves.
#[derive(Debug)]
pub(crate) struct Record {
    /// `up`, then `down`.
    pub(crate) directions: Vec<DirectionSample>,
    /// The packets, where they were asked for.
    pub(crate) capture: Option<Capture>,
}

impl Emulator {
    /// Starts the backend on the devices of `around`, with the elements in force on return.
    pub(crate) fn start(
        args: &LinkArgs,
        elements: &Elements,
        around: &Around,
    ) -> Result<Self, Failure> {
        let name = match args.emulator.backend {
            Backend::Netem => "netem",
            Backend::Relay => "relay",
        };
        let backend = BACKENDS.iter().find(|backend| backend.name() == name);
        let backend = backend
            .ok_or_else(|| Failure::environment(anyhow!("--backend {name}: not in this build")))?;
        let link = format!("depth-{}", around.depth());
        let ports = LinkPorts {
            name: link.clone(),
            near: around::NEAR_PORT.to_owned(),
            far: around::FAR_PORT.to_owned(),
        };
        let settings = settings(&args.emulator, elements)?;
        let running = backend.start(around.wire(), &[ports], &settings).map_err(refused)?;
        let order = Order { link, up: elements.up.clone(), down: elements.down.clone() };
        running.configure(&[order], args.seed.unwrap_or(USUAL_SEED)).map_err(refused)?;
        let captures = args.output.capture.is_some();
        if captures {
            running.start_capture(CAPTURED_PACKETS).map_err(refused)?;
        }
        Ok(Self { running, captures })
    }

    /// Stops it and gives its record.
    ///
    /// Call it when nobody sends any more. What was sent may still wait in a socket of the
    /// emulator: the record is complete once it no longer grows.
    pub(crate) fn stop(self) -> Result<Record, Failure> {
        let mut samples = self.running.samples().map_err(refused)?;
        let mut unchanged = 0;
        let end = Instant::now() + DRAIN_AT_MOST;
        while unchanged < DRAINED && Instant::now() < end {
            thread::sleep(DRAIN_POLL);
            let next = self.running.samples().map_err(refused)?;
            unchanged = if seen(&next) == seen(&samples) { unchanged + 1 } else { 0 };
            samples = next;
        }
        samples.sort_by_key(|sample| sample.direction != "up");
        let capture =
            if self.captures { self.running.end_capture().map_err(refused)?.pop() } else { None };
        Ok(Record { directions: samples, capture })
    }
}

/// How many packets have arrived.
fn seen(samples: &[DirectionSample]) -> u64 {
    samples.iter().map(|sample| sample.packets).sum()
}

fn settings(args: &EmulatorArgs, elements: &Elements) -> Result<Settings, Failure> {
    let wait = match args.wait {
        None | Some(Wait::Auto) => WaitChoice::Auto,
        Some(Wait::Hybrid) => WaitChoice::Hybrid,
        Some(Wait::Sleep) => WaitChoice::Sleep,
    };
    let cpus = cpus(args)?;
    let enough = cpu::allowed().is_ok_and(|allowed| allowed.iter().count() >= SPARE_CPUS);
    Ok(Settings {
        shared_cpus: cpus.is_none() && !enough,
        cpus,
        wait,
        wire: elements.wire,
        ..Settings::default()
    })
}

/// Refuses what the backend does not know: the kernel's emulator draws and waits by itself, on whatever CPU.
pub(crate) fn refuse_what_is_of_the_relay(args: &LinkArgs) -> Result<(), Failure> {
    let given = [
        ("--seed", args.seed.is_some()),
        ("--wait", args.emulator.wait.is_some()),
        ("--cpus", args.emulator.cpus.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) if args.emulator.backend == Backend::Netem => {
            let cause = anyhow!("{option}: --backend netem has no such setting");
            Err(Failure::usage(cause).hint(format!("leave out {option} or --backend netem")))
        }
        _ => Ok(()),
    }
}

/// Checks the options alone, before anything is made.
pub(crate) fn cpus(args: &EmulatorArgs) -> Result<Option<CpuSet>, Failure> {
    args.cpus.as_deref().map(chosen_cpus).transpose()
}

/// The CPUs of `--cpus`, all of which this process may use.
fn chosen_cpus(list: &str) -> Result<CpuSet, Failure> {
    let chosen: CpuSet =
        list.parse().with_context(|| format!("--cpus {list}")).map_err(Failure::usage)?;
    if chosen.is_empty() {
        return Err(Failure::usage(anyhow!("--cpus {list:?}: name at least one CPU, as 2-3 does")));
    }
    let allowed = cpu::allowed().map_err(Failure::environment)?;
    let foreign = chosen.iter().find(|cpu| !allowed.contains(*cpu));
    if let Some(cpu) = foreign {
        let cause = anyhow!("--cpus {list}: this process may not use CPU {cpu}, only {allowed}");
        return Err(Failure::usage(cause));
    }
    Ok(chosen)
}

/// What memory and spelling allow is the user's business, everything else the machine's.
fn refused(cause: BackendError) -> Failure {
    match cause {
        BackendError::Memory { .. } => {
            Failure::environment(cause).hint("ask for a lower rate or a shorter delay")
        }
        BackendError::Link(_) => Failure::usage(cause),
        BackendError::Netem(_) | BackendError::NoCapture { .. } => {
            Failure::usage(cause).hint("leave out --backend netem")
        }
        BackendError::NoNetem(_) => Failure::environment(cause)
            .hint("as root: modprobe sch_netem; or leave out --backend netem"),
        other => Failure::environment(other),
    }
}

/// Of a link that names none.
const USUAL_SEED: u64 = 1;
/// With so many CPUs one may spin without the command missing it.
const SPARE_CPUS: usize = 4;
/// Memory for so many wire packets of each direction, about 120 bytes each.
const CAPTURED_PACKETS: usize = 500_000;
/// So many equal readings in a row mean that no packet is on its way in.
const DRAINED: u32 = 5;
const DRAIN_POLL: Duration = Duration::from_millis(1);
const DRAIN_AT_MOST: Duration = Duration::from_secs(1);
