//! One connection to an agent: the state machine of the conductor's side, driven over TLS.

use std::io;
use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::net::ToSocketAddrs;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use btu_control::Identity;
use btu_control::client::Client;
use btu_control::client::ClientAction;
use btu_control::client::ClientEvent;
use btu_control::client::Fault;
use btu_control::client::Reply;
use btu_control::frame;
use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::message::Answer;
use btu_control::message::Bounded;
use btu_control::message::Request;
use btu_control::message::TestOrder;
use btu_control::tls;
use btu_core::units::Nanos;
use btu_sys::exchange;
use btu_sys::exchange::Ready;
use btu_sys::socket;
use btu_sys::socket::Settings;
use rustls::ClientConnection;

use super::NamedAgent;
use crate::elsewhere::copied::Copied;
use btu_engine::time::now;

/// A connection to an agent that answers.
pub(crate) struct PeerLink {
    client: Client,
    stream: TcpStream,
    tls: ClientConnection,
    frames: FrameReader,
    seq: u64,
    /// Set by whoever wants all waiting to end.
    cancel: Arc<AtomicBool>,
    /// Who hears of the steps of a test.
    told: Option<Steps>,
}

/// Who hears of the steps of a test, and keeps what they add to its result.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    pub(crate) tell: fn(&str),
    pub(crate) copied: Copied,
}

/// What happens while an answer is awaited.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meanwhile {
    /// This is the place in the agent's queue.
    Queued(u32),
    /// Nothing yet; told some times a second.
    Waiting,
}

/// Who hears what happens meanwhile: others may wait for a word of this host.
type Hears<'a> = dyn FnMut(Meanwhile) + 'a;

impl PeerLink {
    /// Connects, proves who both are, and joins where an invitation says so. All waiting, now and later,
    /// ends when `cancel` is set.
    pub(crate) fn connect(
        agent: &NamedAgent,
        own: &Identity,
        cancel: &Arc<AtomicBool>,
        hears: &mut Hears<'_>,
    ) -> Result<Self, Fault> {
        let config = tls::client_config(own, agent.id).map_err(lost)?;
        let stream = reach(agent, cancel, hears).map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        // Questions are short: an agent for which the kernel keeps none does not read them.
        stream.set_write_timeout(Some(Duration::from(HANDSHAKE))).map_err(lost)?;
        let tls = ClientConnection::new(Arc::new(config), tls::no_name()).map_err(lost)?;
        let join = agent.secret.map(|secret| (secret, host_name()));
        let build = env!("CARGO_PKG_VERSION").to_owned();
        let mut link = Self {
            client: Client::new(agent.id, join, build, now()),
            stream,
            tls,
            frames: FrameReader::new(FrameLimits::ANSWERS),
            seq: 0,
            cancel: Arc::clone(cancel),
            told: None,
        };
        link.shake_hands(hears)?;
        let secured = link.secured()?;
        link.until_done(secured, hears)?;
        Ok(link)
    }

    /// Where the agent was reached.
    pub(crate) fn reached(&self) -> Option<SocketAddr> {
        self.stream.peer_addr().ok()
    }

    /// The address of this host on the way to the agent.
    pub(crate) fn own_address(&self) -> io::Result<IpAddr> {
        self.stream.local_addr().map(|address| address.ip())
    }

    /// True where the agent has ended the connection: seen in passing, while nothing is asked. Nothing
    /// is to come then, so whatever has come is read: last words and the end of the channel are bytes.
    pub(crate) fn is_closed(&mut self) -> bool {
        // Not a moment longer than the kernel's least time-out.
        let bounded = self.stream.set_read_timeout(Some(Duration::from_micros(1)));
        let silent = bounded.is_ok()
            && matches!(self.stream.peek(&mut [0]), Err(error) if is_passing(&error));
        if !silent {
            let waited = self.wait_for_bytes(Nanos::ZERO);
            for event in self.events(waited.err()) {
                self.client.on(now(), event);
            }
        }
        self.client.is_over()
    }

    /// The number of the next question.
    pub(crate) const fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(
        &mut self,
        request: Request,
        patience: Nanos,
        hears: &mut Hears<'_>,
    ) -> Result<Reply, Fault> {
        self.until_done(ClientEvent::Ask { request, patience, longest: None }, hears)
    }

    /// Orders a test, each step of which may take so long, and all of it no longer than `longest`. Steps
    /// are told to `told`.
    pub(crate) fn order_test(
        &mut self,
        order: TestOrder,
        patience: Nanos,
        longest: Nanos,
        told: Steps,
    ) -> Result<Reply, Fault> {
        self.told = Some(told);
        let (request, longest) = (Request::Test(Box::new(order)), Some(longest));
        self.until_done(ClientEvent::Ask { request, patience, longest }, &mut |_| ())
    }

    fn shake_hands(&mut self, hears: &mut Hears<'_>) -> Result<(), Fault> {
        let end = now().saturating_add(HANDSHAKE);
        while self.tls.is_handshaking() || self.tls.wants_write() {
            if self.tls.wants_write() {
                self.tls.write_tls(&mut self.stream).map_err(lost)?;
                continue;
            }
            self.wait_for_bytes(end)?;
            if self.cancel.load(Relaxed) {
                return Err(Fault::Lost(CANCELLED.to_owned()));
            }
            if now() >= end {
                return Err(Fault::Silent("the TLS handshake", HANDSHAKE));
            }
            hears(Meanwhile::Waiting);
        }
        Ok(())
    }

    fn secured(&self) -> Result<ClientEvent, Fault> {
        let agent = tls::peer_of(self.tls.peer_certificates());
        let agent = agent.ok_or_else(|| Fault::Lied("no identity".to_owned()))?;
        let binding = self.tls.export_keying_material([0; 32], tls::BINDING, None).map_err(lost)?;
        Ok(ClientEvent::Secured { agent, binding })
    }

    /// Drives the state machine until it has its answer.
    fn until_done(&mut self, first: ClientEvent, hears: &mut Hears<'_>) -> Result<Reply, Fault> {
        let mut events = vec![first];
        loop {
            for event in std::mem::take(&mut events) {
                for action in self.client.on(now(), event) {
                    match action {
                        ClientAction::Done(reply) => return Ok(reply),
                        ClientAction::Failed(fault) => return Err(fault),
                        ClientAction::Queued(place) => hears(Meanwhile::Queued(place)),
                        ClientAction::Kept(grown) => {
                            self.told.iter().for_each(|to| to.copied.keep(&grown, to.tell));
                        }
                        ClientAction::Progress(text) => {
                            self.told.iter().for_each(|told| (told.tell)(&text));
                        }
                        ClientAction::Send(request) => self.send(&request)?,
                    }
                }
            }
            hears(Meanwhile::Waiting);
            events = self.hear();
            events.push(ClientEvent::Tick);
        }
    }

    fn send(&mut self, request: &Request) -> Result<(), Fault> {
        let bytes = frame::encode(request).map_err(lost)?;
        self.tls.writer().write_all(&bytes).map_err(lost)?;
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.stream).map_err(lost)?;
        }
        Ok(())
    }

    /// What comes until the state machine wants to know the time.
    fn hear(&mut self) -> Vec<ClientEvent> {
        let end = self.client.wake_at().unwrap_or_else(|| now().saturating_add(SLICE));
        if self.cancel.load(Relaxed) {
            return vec![ClientEvent::Lost(CANCELLED.to_owned())];
        }
        let waited = self.wait_for_bytes(end);
        self.events(waited.err())
    }

    /// What came, and the fault after it.
    fn events(&mut self, fault: Option<Fault>) -> Vec<ClientEvent> {
        let mut events = Vec::new();
        loop {
            match self.frames.next_frame() {
                Ok(Some(Frame::Chunk(chunk))) => events.push(ClientEvent::Piece(chunk)),
                Ok(Some(Frame::Message(text))) => events.push(match Answer::parse(&text) {
                    Ok(answer) => ClientEvent::Heard(answer),
                    Err(error) => ClientEvent::Lost(format!("{error}: no answer")),
                }),
                Ok(None) => break,
                Err(error) => {
                    events.push(ClientEvent::Lost(error.to_string()));
                    break;
                }
            }
        }
        events.extend(fault.map(|fault| match fault {
            Fault::Lost(reason) => ClientEvent::Lost(reason),
            other => ClientEvent::Lost(other.to_string()),
        }));
        events
    }

    /// One read, no longer than a slice and not past `end`; what comes goes to the frames.
    fn wait_for_bytes(&mut self, end: Nanos) -> Result<(), Fault> {
        let patience = Duration::from(end.since(now()).min(SLICE)).max(Duration::from_millis(1));
        self.stream.set_read_timeout(Some(patience)).map_err(lost)?;
        match self.tls.read_tls(&mut self.stream) {
            Ok(0) => return Err(Fault::Lost("closed by the agent".to_owned())),
            Ok(_) => {}
            Err(error) if is_passing(&error) => return Ok(()),
            Err(error) => return Err(lost(error)),
        }
        self.tls.process_new_packets().map_err(broken)?;
        let mut space = [0; 16384];
        loop {
            match self.tls.reader().read(&mut space) {
                Ok(0) => return Err(Fault::Lost("closed by the agent".to_owned())),
                Ok(count) => self.frames.push(&space[..count]),
                Err(error) if is_passing(&error) => return Ok(()),
                Err(error) => return Err(lost(error)),
            }
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind;
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Connects to where the agent was reached before, or to the first of its addresses that answers.
fn reach(agent: &NamedAgent, cancel: &AtomicBool, hears: &mut Hears<'_>) -> io::Result<TcpStream> {
    let addresses = match agent.reached {
        Some(address) => vec![address],
        None => agent.address.to_socket_addrs()?.collect(),
    };
    let mut failed = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses {
        match connect(address, cancel, hears) {
            Err(error) if !cancel.load(Relaxed) => failed = error,
            ended => return ended,
        }
    }
    Err(failed)
}

fn connect(
    address: SocketAddr,
    cancel: &AtomicBool,
    hears: &mut Hears<'_>,
) -> io::Result<TcpStream> {
    let begun = socket::begin_connect(address, &Settings::default());
    let stream = begun.map_err(|error| io::Error::new(error.kind(), error))?;
    let end = now().saturating_add(CONNECT);
    while !exchange::poll(stream.as_fd(), Ready::Write, Some(Duration::from(SLICE)))? {
        if cancel.load(Relaxed) {
            return Err(io::Error::other(CANCELLED));
        }
        if now() >= end {
            return Err(io::ErrorKind::TimedOut.into());
        }
        hears(Meanwhile::Waiting);
    }
    stream.take_error()?.map_or(Ok(()), Err)?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// How an agent shall call this host.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

fn broken(error: rustls::Error) -> Fault {
    tls::stranger(&error).map_or_else(|| lost(error), Fault::Stranger)
}

fn lost(error: impl std::fmt::Display) -> Fault {
    Fault::Lost(error.to_string())
}

/// Why nothing more is waited for.
const CANCELLED: &str = "interrupted here";
/// How long a connection may take to be made.
const CONNECT: Nanos = Nanos::from_secs(5);
const HANDSHAKE: Nanos = Nanos::from_secs(10);
/// How often somebody who waits looks whether waiting is wanted.
const SLICE: Nanos = Nanos::from_millis(200);

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Who is silent is waited for, and others are not forgotten meanwhile.
    #[test]
    fn a_silent_host_is_waited_for_in_slices() {
        let own = Identity::ephemeral().unwrap();
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = silent.local_addr().unwrap();
        let (name, address) = ("lab1".to_owned(), "nowhere.invalid:1".to_owned());
        // Where it was reached counts, and not what its name leads to.
        let agent = NamedAgent { name, id: own.id(), address, reached: Some(at), secret: None };
        let (mut times, mut accepted) = (0, None);
        let mut hears = |_| {
            times += 1;
            accepted.get_or_insert_with(|| silent.accept().unwrap());
            if times == 5 {
                let (stream, _) = accepted.as_ref().unwrap();
                stream.shutdown(std::net::Shutdown::Both).unwrap();
            }
        };
        let ended = PeerLink::connect(&agent, &own, &Arc::default(), &mut hears).err().unwrap();
        assert!(times >= 5, "{times} times, then {ended}");
        assert!(!matches!(ended, Fault::Silent(..)), "{ended}");
    }

    #[test]
    fn waiting_for_a_host_ends_when_it_is_cancelled() {
        let own = Identity::ephemeral().unwrap();
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = Some(silent.local_addr().unwrap());
        let (name, address) = ("lab1".to_owned(), "nowhere.invalid:1".to_owned());
        let agent = NamedAgent { name, id: own.id(), address, reached: at, secret: None };
        for whole_slices in 0..3 {
            let cancel = Arc::new(AtomicBool::new(whole_slices == 0));
            let mut times = 0;
            let mut hears = |_| {
                times += 1;
                cancel.store(times >= whole_slices, Relaxed);
            };
            let ended = PeerLink::connect(&agent, &own, &cancel, &mut hears).err().unwrap();
            assert!(matches!(&ended, Fault::Lost(why) if why == CANCELLED), "{ended}");
            assert_eq!(times, whole_slices);
        }
    }
}
