//! The emulator in front of an agent, in a process of its own: it makes the devices, gives up its
//! rights, and then starts workers behind them and does what they ask of their link.

use std::io;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::net::UnixListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::ChildStdin;
use std::process::ChildStdout;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use anyhow::anyhow;
use btu_control::line::hear;
use btu_control::line::hear_next;
use btu_control::line::say;
use btu_control::message::LinkOrder;
use btu_control::message::MOST_PACKETS;
use btu_control::message::Offer;
use btu_control::policy;
use btu_control::policy::Mechanism;
use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::sample::CapturePoint;
use btu_core::sample::DirectionSample;
use btu_sys::namespace::NetNs;
use btu_sys::process;
use btu_testbed::backend;
use btu_testbed::backend::Backend;
use btu_testbed::backend::BackendError;
use btu_testbed::backend::LinkPorts;
use btu_testbed::backend::Settings;
use btu_testbed::backend::relay::RelayBackend;
use btu_testbed::capture::End;
use btu_testbed::front;
use btu_testbed::front::FrontError;
use btu_testbed::front::Site;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::confine;
use super::keeper::Kept;
use super::listener;
use super::ordered::Ordered;
use super::ordered::STARTING;
use super::worker::doorway::Ends;
use super::workers::Allowed;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::state::StateDir;

/// What the agent tells its front when it starts it.
#[derive(Debug, clap::Args)]
pub(super) struct FrontArgs {
    /// The process that started it
    #[arg(long)]
    parent: u32,
    /// The device that leads to the test host
    #[arg(long)]
    device: String,
    /// The front's own address in that network
    #[arg(long)]
    address: IpAddr,
    /// Length of that network's prefix
    #[arg(long)]
    prefix: u8,
    /// Let the kernel's netem emulate the link
    #[arg(long)]
    netem: bool,
    /// Where its workers find the agent
    #[arg(long)]
    socket: PathBuf,
}

/// The whole list of what an agent can ask of its front.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Order {
    /// End the worker, if there is one.
    End {},
    /// Start a worker behind the emulator.
    Start {
        /// What the policy allows it.
        allowed: Allowed,
    },
}

/// The whole list of what a worker can ask of the emulator.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Wish {
    /// Give the link these elements.
    Configure { link: LinkOrder },
    /// Hand over what was recorded of these connections, as one end of the link saw it.
    Packets { connections: Vec<Ends>, seen_at: CapturePoint },
    /// Record what passes the link.
    Record {},
    /// Say what the link did.
    Samples {},
}

/// What a front says of itself, once.
type Made = Result<(), String>;

/// The agent's side: the front's process, and where its workers connect.
pub(super) struct Front {
    process: Ordered,
    offer: Offer,
    listener: UnixListener,
}

/// The worker's side: stdin and stdout lead to the front.
pub(super) struct Emulator {
    input: io::Stdin,
    output: io::Stdout,
}

impl Front {
    /// Starts the front. Where it cannot be made the agent works without, and says why.
    pub(super) fn start(policy: &policy::Front, state: &StateDir) -> Result<Self, Failure> {
        let socket = state.file("front.sock");
        let listener = listen(&socket)?;
        let mut command = Command::new("/proc/self/exe");
        command.args(["agent", "front", "--parent", &std::process::id().to_string()]);
        command.args(["--device", &policy.device, "--address", &policy.address.to_string()]);
        command.args(["--prefix", &policy.prefix.to_string(), "--socket"]).arg(&socket);
        command.args((policy.mechanism == Mechanism::Netem).then_some("--netem"));
        let process = Ordered::start("the front", command).context("start the front");
        let mut process = process.map_err(Failure::environment)?;
        let refused = match process.hear::<Made>() {
            Ok(Ok(())) => None,
            Ok(Err(reason)) => Some(reason),
            Err(error) => Some(error.to_string()),
        };
        if let Some(reason) = &refused {
            output::message(&format!("no emulated links: {reason}"));
        }
        let offer = match (refused, policy.mechanism) {
            (Some(reason), _) => Offer::None(reason),
            (None, Mechanism::Netem) => Offer::ByNetem(policy.address),
            (None, Mechanism::Relay) => Offer::At(policy.address),
        };
        Ok(Self { process, offer, listener })
    }

    /// One whose process is this command, and makes nothing.
    #[cfg(test)]
    pub(super) fn scripted(command: Command, socket: &Path) -> Self {
        let process = Ordered::start("the front", command).unwrap();
        let offer = Offer::At([10, 0, 0, 9].into());
        Self { process, offer, listener: listen(socket).unwrap() }
    }

    /// What conductors are offered.
    pub(super) fn offer(&self) -> Offer {
        self.process.ended().map_or_else(|| self.offer.clone(), Offer::None)
    }

    /// Starts a worker behind the emulator; returns its channel.
    pub(super) fn start_worker(&mut self, allowed: Allowed) -> io::Result<UnixStream> {
        // One that came too late for its reservation is none of this one.
        while self.listener.accept().is_ok() {}
        self.process.order(&Order::Start { allowed }, STARTING)?;
        accept(&self.listener)
    }

    /// Ends the worker; nothing of it runs any more when this returns.
    pub(super) fn end_worker(&mut self) {
        self.process.end(&Order::End {}, "the front");
    }
}

impl Emulator {
    /// The one that this process was started in front of.
    pub(super) fn of_this_process() -> Self {
        Self { input: io::stdin(), output: io::stdout() }
    }

    /// Gives the link its elements.
    pub(super) fn configure(&mut self, link: &LinkOrder) -> Result<(), String> {
        self.ask(&Wish::Configure { link: link.clone() })
    }

    /// What the link did since then.
    pub(super) fn samples(&mut self) -> Result<Vec<DirectionSample>, String> {
        self.ask(&Wish::Samples {})
    }

    /// From now on what passes the link is recorded.
    pub(super) fn record(&mut self) -> Result<(), String> {
        self.ask(&Wish::Record {})
    }

    /// What was recorded of these connections, as a file.
    pub(super) fn packets(
        &mut self,
        connections: Vec<Ends>,
        seen_at: CapturePoint,
    ) -> Result<Vec<u8>, String> {
        let length = self.ask(&Wish::Packets { connections, seen_at })?;
        let mut packets = vec![0; length];
        let gone = |error| format!("the emulator is gone: {error}");
        self.input.lock().read_exact(&mut packets).map_err(gone)?;
        Ok(packets)
    }

    fn ask<T: DeserializeOwned>(&mut self, wish: &Wish) -> Result<T, String> {
        let gone = |error: &dyn std::fmt::Display| format!("the emulator is gone: {error}");
        say(&mut self.output, wish).map_err(|error| gone(&error))?;
        let said = hear::<Result<T, String>>(&mut self.input.lock());
        said.unwrap_or_else(|error| Err(gone(&error)))
    }
}

/// Makes the front and does what it is told, until the agent is gone.
pub(super) fn front(args: &FrontArgs) -> Result<Exit, Failure> {
    let made = make(args);
    let told = made.as_ref().map(|_| ()).map_err(|error| format!("{error:#}"));
    say(&mut io::stdout(), &told).map_err(Failure::environment)?;
    let Ok(front) = made else { return Ok(Exit::Done) };
    let mut worker: Option<Child> = None;
    let mut input = io::stdin().lock();
    while let Some(order) =
        hear_next::<Order>(&mut input).context("hear the agent").map_err(Failure::environment)?
    {
        // The last worker ends in any case.
        if let Some(mut last) = worker.take() {
            let _ = last.kill();
            let _ = last.wait();
        }
        let started = match order {
            Order::End {} => Ok(()),
            Order::Start { allowed } => {
                start(args, &front, allowed).map(|child| worker = Some(child))
            }
        };
        let told = started.map_err(|error| format!("{error:#}"));
        say(&mut io::stdout(), &told).map_err(Failure::environment)?;
    }
    Ok(Exit::Done)
}

/// Devices first, then no rights any more, and only then anything from outside.
fn make(args: &FrontArgs) -> anyhow::Result<Arc<front::Front>> {
    process::die_with_parent(args.parent).context("bind the front to its agent")?;
    let site = Site { device: &args.device, address: args.address, prefix: args.prefix };
    let starter = if args.netem { by_netem } else { by_relay };
    let made = front::Front::make(&site, &starter)?;
    made.enter()?;
    confine::front().context("confine the front")?;
    Ok(Arc::new(made))
}

/// The emulator's threads are of this process, and need their rights once.
fn by_relay(wire: &NetNs, link: LinkPorts) -> Result<Box<dyn backend::Emulator>, BackendError> {
    let give_up: Option<fn() -> io::Result<()>> = Some(confine::front_thread);
    let settings = Settings { shared_cpus: true, give_up, ..Settings::default() };
    RelayBackend.start(wire, &[link], &settings)
}

/// The kernel is the emulator, and a process of its own tells it what to do.
fn by_netem(wire: &NetNs, _link: LinkPorts) -> Result<Box<dyn backend::Emulator>, BackendError> {
    Ok(Box::new(Kept::start(wire)?))
}

/// A worker behind the emulator, and a thread that does what it wishes.
fn start(args: &FrontArgs, front: &Arc<front::Front>, allowed: Allowed) -> anyhow::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    command.args(["agent", "worker", "--parent", &std::process::id().to_string()]);
    command.args(["--address", &args.address.to_string(), "--connect"]).arg(&args.socket);
    allowed.tell(&mut command);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (input, output) = pipes.ok_or_else(|| anyhow!("a worker without pipes"))?;
    let front = Arc::clone(front);
    std::thread::Builder::new()
        .name("front".to_owned())
        .spawn(move || serve(&front, input, output))?;
    Ok(child)
}

/// Until the worker is gone.
fn serve(front: &front::Front, mut input: ChildStdin, output: ChildStdout) {
    // What another worker left behind is not for this one.
    drop(front.recorded());
    let mut output = BufReader::new(output);
    while let Ok(wish) = hear::<Wish>(&mut output) {
        let said = match wish {
            Wish::Configure { link } => say(&mut input, &configure(front, &link)),
            Wish::Packets { connections, seen_at } => {
                let packets = packets(front, &connections, seen_at);
                say(&mut input, &packets.as_ref().map(Vec::len))
                    .and_then(|()| input.write_all(&packets.unwrap_or_default()))
            }
            Wish::Record {} => say(&mut input, &front.record(MOST_PACKETS).map_err(told)),
            Wish::Samples {} => say(&mut input, &front.samples().map_err(told)),
        };
        if said.is_err() {
            return;
        }
    }
}

/// What was recorded of these connections, as a file.
fn packets(
    front: &front::Front,
    connections: &[Ends],
    seen_at: CapturePoint,
) -> Result<Vec<u8>, String> {
    let capture = front.recorded().map_err(told)?;
    let end = if seen_at == CapturePoint::Test { End::Near } else { End::Far };
    listener::file(capture, connections, end).map_err(|error| error.to_string())
}

fn told(error: FrontError) -> String {
    format!("{:#}", anyhow::Error::new(error))
}

fn configure(front: &front::Front, link: &LinkOrder) -> Result<(), String> {
    let chain = |texts: &[String]| {
        ChainSpec::as_given(texts, &Reader::PLAN).map_err(|error| error.to_string())
    };
    let (up, down) = (chain(&link.up)?, chain(&link.down)?);
    front.impair(up, down, link.seed).map_err(told)
}

/// Where processes of this agent, started by others of them, connect.
pub(super) fn listen(socket: &Path) -> Result<UnixListener, Failure> {
    drop(std::fs::remove_file(socket));
    UnixListener::bind(socket)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .with_context(|| format!("listen on {}", socket.display()))
        .map_err(Failure::environment)
}

/// The process that was just started.
pub(super) fn accept(listener: &UnixListener) -> io::Result<UnixStream> {
    let end = std::time::Instant::now() + STARTING;
    loop {
        match listener.accept() {
            Ok((stream, _)) => return Ok(stream),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Err(error) if std::time::Instant::now() >= end => return Err(error),
            Err(_) => std::thread::park_timeout(SLICE),
        }
    }
}

const SLICE: Duration = Duration::from_millis(2);
