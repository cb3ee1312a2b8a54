//! The keeper of a link that the kernel emulates: a process that holds `CAP_NET_ADMIN`, in a namespace
//! that has this link and nothing else, and knows two orders of the front that started it.
//!
//! A relay needs its rights once, to open its sockets. Netem is told its elements before every run,
//! and that takes the right each time: so it stays with a process that no network reaches.

use std::io;
use std::io::BufReader;
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use anyhow::Context;
use btu_control::line::hear_next;
use btu_control::line::say;
use btu_control::message::LinkOrder;
use btu_control::message::LinkWish;
use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::sample::DirectionSample;
use btu_sys::namespace::NetNs;
use btu_sys::process;
use btu_testbed::backend;
use btu_testbed::backend::Backend;
use btu_testbed::backend::BackendError;
use btu_testbed::backend::netem::NetemBackend;
use btu_testbed::capture::Capture;
use btu_testbed::front;

use super::confine;
use super::ordered::Ordered;
use crate::exit::Exit;
use crate::exit::Failure;

/// What a front tells its keeper when it starts it.
#[derive(Debug, clap::Args)]
pub(super) struct KeeperArgs {
    /// The process that started it
    #[arg(long)]
    parent: u32,
}

/// What a keeper says of itself, once.
type Made = Result<(), String>;

/// The front's side.
pub(super) struct Kept {
    keeper: Mutex<Ordered>,
}

impl Kept {
    /// Starts a keeper in the namespace that the calling thread then is in, too.
    pub(super) fn start(wire: &NetNs) -> Result<Self, BackendError> {
        wire.enter()?;
        let mut command = Command::new("/proc/self/exe");
        command.args(["agent", "keeper", "--parent", &std::process::id().to_string()]);
        let started = Ordered::start("the keeper of the link", command).and_then(|mut keeper| {
            let made = keeper.hear::<Made>()?;
            made.map(|()| keeper).map_err(io::Error::other)
        });
        let keeper = started.map_err(|cause| stopped(&cause))?;
        Ok(Self { keeper: Mutex::new(keeper) })
    }

    fn ask<T: serde::de::DeserializeOwned>(&self, wish: &LinkWish) -> Result<T, BackendError> {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        keeper.ask(wish, PATIENCE).map_err(|cause| stopped(&cause))
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Kept")
    }
}

impl backend::Emulator for Kept {
    fn configure(&self, orders: &[backend::Order], seed: u64) -> Result<(), BackendError> {
        let order = orders.first();
        let texts = |chain: fn(&backend::Order) -> &ChainSpec| {
            order.map_or_else(Vec::new, |order| chain(order).texts())
        };
        let link =
            LinkOrder { up: texts(|order| &order.up), down: texts(|order| &order.down), seed };
        self.ask(&LinkWish::Configure { link })
    }

    fn start_capture(&self, _limit: usize) -> Result<(), BackendError> {
        Err(BackendError::NoCapture { backend: "netem" })
    }

    fn end_capture(&self) -> Result<Vec<Capture>, BackendError> {
        Err(BackendError::NoCapture { backend: "netem" })
    }

    fn samples(&self) -> Result<Vec<DirectionSample>, BackendError> {
        self.ask(&LinkWish::Samples {})
    }
}

/// Makes the link and does what it is told, until the front is gone.
pub(super) fn keeper(args: &KeeperArgs) -> Result<Exit, Failure> {
    let made = make(args);
    let told: Made = made.as_ref().map(|_| ()).map_err(|error| format!("{error:#}"));
    say(&mut io::stdout(), &told).map_err(Failure::environment)?;
    let Ok(emulator) = made else { return Ok(Exit::Done) };
    let mut input = BufReader::new(io::stdin());
    // What a front says that is no wish is heard by nobody again: both are of one program.
    while let Some(wish) =
        hear_next(&mut input).context("hear the front").map_err(Failure::environment)?
    {
        let said = match wish {
            LinkWish::Configure { link } => {
                say(&mut io::stdout(), &configure(emulator.as_ref(), &link))
            }
            LinkWish::Samples {} => say(&mut io::stdout(), &emulator.samples().map_err(told_of)),
        };
        if said.is_err() {
            break;
        }
    }
    Ok(Exit::Done)
}

/// Devices first, then no other right any more, and only then an order.
fn make(args: &KeeperArgs) -> anyhow::Result<Box<dyn backend::Emulator>> {
    process::die_with_parent(args.parent).context("bind the keeper to its front")?;
    let wire = NetNs::current()?;
    let emulator = NetemBackend.start(&wire, &[front::ports()], &backend::Settings::default())?;
    confine::keeper().context("confine the keeper")?;
    Ok(emulator)
}

fn configure(emulator: &dyn backend::Emulator, link: &LinkOrder) -> Result<(), String> {
    let chain = |texts: &[String]| {
        ChainSpec::as_given(texts, &Reader::PLAN).map_err(|error| error.to_string())
    };
    let (up, down) = (chain(&link.up)?, chain(&link.down)?);
    let order = backend::Order { link: front::ports().name, up, down };
    emulator.configure(&[order], link.seed).map_err(told_of)
}

fn told_of(error: BackendError) -> String {
    format!("{:#}", anyhow::Error::new(error))
}

fn stopped(cause: &io::Error) -> BackendError {
    BackendError::Stopped { cause: cause.to_string() }
}

/// For what takes some calls of the kernel.
const PATIENCE: Duration = Duration::from_secs(10);
