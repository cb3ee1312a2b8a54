//! The worker of one reservation: the far ends of its runs and its FTP server, in a process of their
//! own. It holds no key and no capability, and dies with the agent.

mod account;
mod channels;
pub(super) mod doorway;
mod meter;
mod packets;

use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use btu_control::agent::LEASE_MARGIN;
use btu_control::frame;
use btu_control::frame::Chunk;
use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::message::Answer;
use btu_control::message::Bounded;
use btu_control::message::Carried;
use btu_control::message::Preparation;
use btu_control::message::Request;
use btu_control::message::Which;
use btu_control::secret::Hex32;
use btu_core::role::Role;
use btu_core::run::cell::Direction;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_engine::EngineError;
use btu_engine::Place;
use btu_engine::comm;
use btu_engine::comm::FarFlow;
use btu_engine::comm::FarJob;
use btu_engine::comm::FarSide;
use btu_engine::comm::FarToken;
use btu_engine::comm::Pinning;
use btu_engine::comm::Seat;
use btu_engine::comm::Terms;
use btu_engine::file::ftp::Login;
use btu_engine::file::ftp::Server;
use btu_engine::file::ftp::Serving;
use btu_sys::process;
use btu_sys::socket::Settings;

use self::account::is_at;
pub(super) use self::account::share;
use self::channels::channels;
use self::doorway::Doorway;
use self::doorway::Output;
use self::meter::Counted;
use self::packets::Recorded;
use super::confine;
use super::front::Emulator;
use super::service::Served;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::facts;

pub(crate) use self::account::Account;

/// What the agent tells a worker when it starts it.
#[derive(Debug, clap::Args)]
pub(super) struct WorkerArgs {
    /// The process that started it
    #[arg(long)]
    parent: u32,
    /// Where data connections come in
    #[arg(long)]
    address: IpAddr,
    /// Whom the FTP server hears
    #[arg(long)]
    peer: IpAddr,
    /// Ports of data connections
    #[arg(long, num_args = 2)]
    ports: Vec<u16>,
    /// What data connections may send at the most, and the FTP server as much again
    #[arg(long)]
    bit_per_second: Option<u64>,
    /// For how many milliseconds anything is repeated that nobody acknowledges
    #[arg(long)]
    longest_cut_ms: u64,
    /// Tell while working what is moved
    #[arg(long)]
    metered: bool,
    /// Behind an emulator: the agent's socket, while stdin and stdout lead to the emulator
    #[arg(long)]
    connect: Option<PathBuf>,
}

/// What it has to do, and what came of it.
struct Work {
    address: IpAddr,
    peer: IpAddr,
    ports: Option<(u16, u16)>,
    rate: Option<BitRate>,
    /// How long what nobody takes is repeated by the FTP server.
    longest_cut: Duration,
    /// What one connection of the run that is prepared may send.
    part: Option<BitRate>,
    side: Option<FarSide>,
    served: Served,
    server: Option<Server>,
    counted: Counted,
    /// The emulator in front of it, where there is one.
    emulator: Option<Emulator>,
    /// Whether the run that is prepared goes through it.
    emulated: bool,
    /// The part of this host in the run that is prepared.
    role: Role,
    /// The last document and its announcement, for whoever asks twice.
    document: Vec<u8>,
    said: Answer,
    recorded: Recorded,
    output: Output,
}

/// What there is for a process of the agent to do.
pub(super) enum Heard {
    /// Nothing for a while.
    Nothing,
    /// What it is told.
    Order(Request),
}

/// Does what it is told, one thing after the other, until the agent is gone.
pub(super) fn worker(args: &WorkerArgs) -> Result<Exit, Failure> {
    process::die_with_parent(args.parent).map_err(Failure::environment)?;
    // Before it is confined: then it connects to nobody, its agent included.
    let (mut input, output, emulator) = channels(args).map_err(Failure::environment)?;
    confine::worker().context("confine the worker").map_err(Failure::environment)?;
    let ports = <[u16; 2]>::try_from(args.ports.clone()).ok().map(|[first, last]| (first, last));
    let counted = Counted::of(args.metered);
    input.set_read_timeout(counted.look()).map_err(Failure::environment)?;
    let mut work = Work {
        address: args.address,
        peer: args.peer,
        ports,
        rate: args.bit_per_second.map(BitRate::new),
        longest_cut: Duration::from_millis(args.longest_cut_ms),
        part: None,
        side: None,
        served: Served::default(),
        server: None,
        counted,
        emulator,
        emulated: false,
        role: Role::Active,
        document: Vec::new(),
        said: Answer::Pong {},
        recorded: Recorded::default(),
        output,
    };
    each_request(&mut input, &mut |heard| {
        work.tell_moved()?;
        match heard {
            Heard::Nothing => Ok(()),
            Heard::Order(request) => work.answer(request),
        }
    })
}

/// Does something with every request, one after the other, until the agent is gone. Where reads have a
/// time, it is told whenever nothing came within that.
pub(super) fn each_request(
    input: &mut dyn Read,
    act: &mut dyn FnMut(Heard) -> anyhow::Result<()>,
) -> Result<Exit, Failure> {
    let mut act = |heard| act(heard).context("answer the agent").map_err(Failure::environment);
    let mut space = [0; 4096];
    let mut frames = FrameReader::new(FrameLimits::REQUESTS);
    loop {
        match input.read(&mut space) {
            Ok(0) => return Ok(Exit::Done),
            Ok(count) => frames.push(&space[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => act(Heard::Nothing)?,
            Err(error) => return Err(Failure::environment(error)),
        }
        while let Some(frame) = frames.next_frame().map_err(Failure::environment)? {
            let Frame::Message(text) = frame else { continue };
            let request = Request::parse(&text).map_err(Failure::environment)?;
            act(Heard::Order(request))?;
        }
    }
}

impl Work {
    /// Does one thing, and says what came of it.
    fn answer(&mut self, request: Request) -> anyhow::Result<()> {
        let seq = request.seq().unwrap_or_default();
        let answer = match request {
            Request::Facts { seq } => {
                let facts = serde_json::to_vec(&facts::of_this_host())?;
                self.keep(seq, Bytes::ZERO, None, facts)
            }
            Request::Serve { user, password, .. } => self.serve(seq, user, password),
            Request::Prepare(order) => self.prepare(&order),
            Request::Service(order) => {
                (self.side, self.counted.run) = (None, Bytes::ZERO);
                self.served.begin(&order, self.address, self.ports, self.rate)
            }
            Request::Word(word) => self.served.hear(&word),
            Request::Cancel(_) => {
                self.side.iter_mut().for_each(FarSide::end);
                self.served.drop_now();
                Answer::Cancelled { seq }
            }
            Request::Collect(which) => self.collect(which)?,
            Request::Packets { which, seen_at } => self.packets(which, seen_at),
            _ => Answer::Failed { seq, reason: "no work for a worker".to_owned() },
        };
        self.output.say(&answer, &self.document)
    }

    fn keep(
        &mut self,
        seq: u64,
        moved_bytes: Bytes,
        account: Option<Hex32>,
        document: Vec<u8>,
    ) -> Answer {
        let length = document.len() as u64;
        self.document = document;
        self.said = Answer::Document { seq, length, moved_bytes, account };
        self.said.clone()
    }

    fn serve(&mut self, seq: u64, user: String, password: String) -> Answer {
        self.server = None;
        self.counted.served = Bytes::ZERO;
        let mut serving = Serving::at(Place::here(Role::Active), self.address);
        serving.sockets.user_timeout = Some(self.longest_cut);
        serving.limits.data_idle = serving.limits.data_idle.min(self.longest_cut);
        serving.login = Login::Only { user, password };
        serving.client = Some(self.peer);
        if let Some((first, last)) = self.ports {
            serving.limits.data_ports = first..=last;
        }
        if let Some(rate) = self.rate {
            serving.limits.sessions = FTP_SESSIONS;
            serving.sockets.pacing_byte_s = Some(share(rate, FTP_SESSIONS).bit_per_second() / 8);
        }
        match Server::start(serving) {
            Ok(server) => {
                let address = self.server.insert(server).address();
                Answer::Serving { seq, address }
            }
            Err(cause) => failed(seq, &cause),
        }
    }

    /// What was there of an earlier run is over.
    fn prepare(&mut self, order: &Preparation) -> Answer {
        (self.side, self.counted.run) = (None, Bytes::ZERO);
        self.role = order.role;
        self.served.drop_now();
        if let Err(reason) = self.emulate(order) {
            return Answer::Failed { seq: order.which.seq, reason };
        }
        self.record(order);
        let sending = order.flows.iter().filter(|flow| **flow == Direction::Receive).count();
        self.part = self.rate.map(|rate| share(rate, sending));
        let Which { run, attempt, .. } = order.which;
        let seat = Seat { secret: *order.secret.bytes(), run, attempt, flow: 0 };
        let token = FarToken { seat };
        let doorway = Doorway::new(token, order.which, order.flows.len(), &self.output);
        self.recorded.doorway = Some(Arc::new(doorway));
        match self.listen(order) {
            Ok(side) => {
                let addresses = self.side.insert(side).addresses().to_vec();
                Answer::Prepared { which: order.which, addresses }
            }
            Err(cause) => failed(order.which.seq, &cause),
        }
    }

    /// Gives the link its elements, where the run wants an emulated one.
    fn emulate(&mut self, order: &Preparation) -> Result<(), String> {
        self.emulated = order.link.is_some();
        match (&order.link, &mut self.emulator) {
            (None, None) => Ok(()),
            (Some(link), Some(emulator)) => emulator.configure(link),
            (Some(_), None) => Err("no emulator is in front of these sockets".to_owned()),
            (None, Some(_)) => Err("a run without emulation behind an emulator".to_owned()),
        }
    }

    /// Listens on any port, or on the first that is free of those that the policy names.
    fn listen(&self, order: &Preparation) -> Result<FarSide, EngineError> {
        let Some((first, last)) = self.ports else {
            return FarSide::listen(self.job(order, 0));
        };
        let step = u16::try_from(order.flows.len().max(1)).unwrap_or(u16::MAX);
        let none = || EngineError::Refused(format!("no port from {first} to {last} is free"));
        let starts = (first..=last).step_by(step.into()).filter(|port| last - port >= step - 1);
        let mut tries = starts.map(|port| FarSide::listen(self.job(order, port)));
        tries.find(|tried| !is_taken(tried)).unwrap_or_else(|| Err(none()))
    }

    fn job(&self, order: &Preparation, port: u16) -> FarJob {
        let at = |index: u16| if port == 0 { 0 } else { port + index };
        let flows = order.flows.iter().zip(0..);
        let flows = flows.map(|(direction, index)| FarFlow {
            direction: *direction,
            listen: SocketAddr::new(self.address, at(index)),
        });
        let amount = match order.amount {
            Carried::Messages(count) => comm::Amount::Messages(count),
            Carried::WindowNs(window) => comm::Amount::Window(window),
        };
        let transport = btu_engine::transport::TRANSPORTS[0];
        let mut terms = Terms::new(transport, order.message_bytes, amount, order.cap_ns);
        terms.calls = order.calls;
        terms.pinning = Pinning::of(order.placement, order.first_cpu);
        terms.ftp = self.server.as_ref().map(Server::gauge);
        let doorway = self.recorded.doorway.clone();
        terms.preamble = doorway.map(|doorway| -> Arc<dyn comm::Preamble> { doorway });
        let buffer = order.buffer_bytes.map(Bytes::len);
        let clamp = order.window_clamp_bytes.and_then(|clamp| u32::try_from(clamp.count()).ok());
        let sockets = Settings {
            send_buffer: buffer,
            receive_buffer: buffer,
            window_clamp: clamp,
            pacing_byte_s: self.part.map(|part| part.bit_per_second() / 8),
            user_timeout: Some(order.lease_ns.saturating_add(LEASE_MARGIN).into()),
            ..Settings::default()
        };
        FarJob { flows: flows.collect(), terms, sockets, place: Place::here(order.role) }
    }

    /// The account of the run that is over; whoever asks twice gets the same one.
    fn collect(&mut self, which: Which) -> anyhow::Result<Answer> {
        let seq = which.seq;
        if let Some(account) = self.served.end() {
            return Ok(match account {
                Ok((account, moved)) => self.keep(seq, moved, None, account),
                Err(reason) => Answer::Failed { seq, reason },
            });
        }
        self.await_end()?;
        let Some(side) = self.side.take() else {
            let reason = "no run is prepared".to_owned();
            let is_same = self.said.seq() == Some(seq);
            return Ok(if is_same { self.said.clone() } else { Answer::Failed { seq, reason } });
        };
        let ends = match side.finish() {
            Ok(ends) => ends,
            Err(cause) => return Ok(failed(seq, &cause)),
        };
        let seen = self.emulator.as_mut().filter(|_| self.emulated);
        let emulation = match seen.map_or_else(|| Ok(Vec::new()), Emulator::samples) {
            Ok(emulation) => emulation,
            Err(reason) => return Ok(Answer::Failed { seq, reason }),
        };
        let held_back = self.part.filter(|part| ends.iter().any(|end| is_at(end, *part)));
        let host = self.recorded.host();
        let account = Account { ends, emulation, held_back, host }.of_role(self.role);
        let moved: Bytes = account.ends.iter().map(|end| end.bytes).sum();
        let moved = moved.saturating_sub(self.counted.run);
        let document = serde_json::to_vec(&account)?;
        Ok(self.keep(seq, moved, Some(Hex32::new(account.hash())), document))
    }
}

/// An answer, and the document that it announces.
pub(super) fn say(out: &mut dyn Write, answer: &Answer, document: &[u8]) -> anyhow::Result<()> {
    out.write_all(&frame::encode(answer)?)?;
    if let Answer::Document { seq, .. } | Answer::Progress { seq, .. } = answer {
        for chunk in Chunk::of_document(*seq, document) {
            out.write_all(&chunk.encode())?;
        }
    }
    Ok(out.flush()?)
}

/// FTP sessions at once where their rate is limited.
const FTP_SESSIONS: usize = 3;

fn is_taken(tried: &Result<FarSide, EngineError>) -> bool {
    let in_use = std::io::ErrorKind::AddrInUse;
    matches!(tried, Err(EngineError::System(cause)) if cause.kind() == in_use)
}

fn failed(seq: u64, cause: &EngineError) -> Answer {
    Answer::Failed { seq, reason: cause.sentence() }
}
