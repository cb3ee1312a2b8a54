//! From the tests of a scenario to flows that the engine can carry.

mod media;
mod offers;
mod phase;
mod until;

use std::net::IpAddr;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::anyhow;
use btu_core::role::Role;
use btu_core::traffic;
use btu_core::traffic::Call;
use btu_core::traffic::Closed;
use btu_core::traffic::Cluster;
use btu_core::traffic::Direction;
use btu_core::traffic::Open;
use btu_core::traffic::Protocol;
use btu_core::traffic::Streams;
use btu_core::traffic::Test;
use btu_core::traffic::Train;
use btu_core::traffic::Transport;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::Dialogue;
use btu_engine::traffic::Flow;
use btu_engine::traffic::Offer;
use btu_engine::traffic::QuicSettings;
use btu_sys::socket::Settings;

use super::scenario;
use crate::exit::Failure;
use crate::traffic::remote::words::OF_A_TALK;

pub(crate) use media::Played;
pub(crate) use until::Until;

/// Where the hosts of a scenario are.
pub(crate) trait Layout {
    /// Where the threads of a host run.
    fn place(&self, role: Role) -> Place;

    /// The address at which a host receives from another; an error where the two are not joined.
    fn address(&self, from: Role, to: Role) -> Result<IpAddr, Failure>;

    /// How long the last datagrams may be under way, where both ends of a flow are in this process.
    fn linger(&self) -> Option<Nanos>;
}

/// A flow with what its sample says of it.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The name of its test, and which of its flows it is where that has several.
    pub(crate) test: String,
    /// The name of its test.
    pub(crate) of: String,
    pub(crate) session: u32,
    pub(crate) from: Role,
    pub(crate) to: Role,
    pub(crate) traffic: String,
    /// How much later than its schedule it begins; `None` where the schedule is random or alone.
    pub(crate) phase: Option<Nanos>,
    pub(crate) flow: Flow,
}

/// What the sample of a conversation says of it.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) test: String,
    pub(crate) session: u32,
    pub(crate) from: Role,
    pub(crate) to: Role,
    pub(crate) transport: Transport,
    pub(crate) traffic: String,
    /// From the start of its cluster to its own.
    pub(crate) start: Nanos,
}

/// A conversation.
#[derive(Debug)]
pub(crate) struct Talked {
    pub(crate) said: Said,
    pub(crate) dialogue: Dialogue,
    /// How many it may have open at once.
    pub(crate) connections: usize,
}

impl Talked {
    /// Both parts.
    pub(super) fn parts(self) -> (Said, Dialogue) {
        (self.said, self.dialogue)
    }
}

/// What a cluster sends: flows on a schedule, conversations, and media that follow reports.
#[derive(Debug, Default)]
pub(crate) struct Cast {
    pub(crate) flows: Vec<Named>,
    pub(crate) talks: Vec<Talked>,
    pub(crate) media: Vec<Played>,
}

impl Cast {
    /// What it takes memory for.
    pub(crate) fn blocks(&self) -> usize {
        let of_flows = self.flows.iter().map(Named::blocks);
        let of_talks = self.talks.iter().map(|_| OF_A_FLOW);
        let of_media = self.media.iter().map(Played::blocks);
        of_flows.chain(of_talks).chain(of_media).fold(0, usize::saturating_add)
    }
}

/// Every flow of a cluster, each test by so many sessions.
pub(crate) fn flows(
    cluster: &Cluster,
    sessions: u32,
    seed: u64,
    hosts: &dyn Layout,
    until: &Until,
) -> Result<Cast, Failure> {
    let mut drawing = Drawing { hosts, until, cast: Cast::default(), blocks: 0 };
    for test in &cluster.tests {
        let streams = test.streams(&cluster.name, seed);
        drawing.add(test, &streams, sessions).map_err(|refused| {
            let Failure { exit, cause, hint } = refused;
            let cause = anyhow!("cluster {}, test {}: {cause:#}", cluster.name, test.name);
            Failure { exit, cause, hint }
        })?;
    }
    Ok(drawing.cast)
}

/// What a cluster sends, as far as it is drawn.
struct Drawing<'a> {
    hosts: &'a dyn Layout,
    until: &'a Until,
    cast: Cast,
    blocks: usize,
}

impl Drawing<'_> {
    /// Adds a test by so many sessions.
    fn add(&mut self, test: &Test, streams: &Streams, sessions: u32) -> Result<(), Failure> {
        for session in 1..=sessions {
            let streams =
                if session == 1 { streams.clone() } else { streams.part(u64::from(session)) };
            match test.traffic.train(&streams) {
                Some(Train::Closed(train)) => self.talk(test, train, &streams, session)?,
                Some(Train::Media(media)) => {
                    let layout = (self.hosts, self.until);
                    let played = media::played(test, media, &streams, session, layout)?;
                    self.count(played.blocks())?;
                    self.cast.media.push(played);
                }
                Some(Train::Open(train)) => {
                    self.schedule(test, train, &streams, [session, sessions])?;
                }
                None => {
                    let cause = anyhow!("{}: it has no schedule of its own", test.traffic.name());
                    return Err(Failure::usage(cause));
                }
            }
        }
        Ok(())
    }

    /// Adds the conversation of one session.
    fn talk(
        &mut self,
        test: &Test,
        train: Box<dyn Closed>,
        streams: &Streams,
        session: u32,
    ) -> Result<(), Failure> {
        self.count(OF_A_FLOW)?;
        let mut talked = conversation(test, train, streams, self.hosts, self.until)?;
        talked.said.session = session;
        self.cast.talks.push(talked);
        Ok(())
    }

    /// Adds the flows of one session of several.
    fn schedule(
        &mut self,
        test: &Test,
        train: Box<dyn Open>,
        streams: &Streams,
        [session, sessions]: [u32; 2],
    ) -> Result<(), Failure> {
        let mut phases = streams.stream("phase");
        for mut one in of_test(test, train, streams, self.hosts)? {
            one.session = session;
            if sessions > 1 {
                one.phase = phase::draw(&test.traffic, &mut one.flow, &mut phases);
            }
            self.count(one.blocks())?;
            if session > 1 && one.flow.carrier == Carrier::Udp {
                // A port of the script has room for one socket.
                one.flow.port = 0;
            }
            self.cast.flows.push(one);
        }
        Ok(())
    }

    /// So much more takes memory.
    fn count(&mut self, drawn: usize) -> Result<(), Failure> {
        self.blocks = self.blocks.saturating_add(drawn);
        let cause = || anyhow!("{}", self.until.too_many());
        if self.blocks > self.until.most_blocks { Err(Failure::usage(cause())) } else { Ok(()) }
    }
}

impl Named {
    /// What it takes memory for: its blocks, or the sizes that it has over and over, and itself.
    pub(crate) fn blocks(&self) -> usize {
        let drawn = match &self.flow.offer {
            Offer::Endless(sizes) => sizes.len(),
            Offer::Train { blocks, .. } => blocks.len(),
        };
        drawn.saturating_add(OF_A_FLOW)
    }

    /// How many blocks or sizes were drawn, and their bytes.
    pub(super) fn drawn(&self) -> (u64, u64) {
        let (count, bytes): (usize, Bytes) = match &self.flow.offer {
            Offer::Endless(sizes) => (sizes.len(), sizes.iter().copied().sum()),
            Offer::Train { blocks, .. } => {
                (blocks.len(), blocks.iter().map(|block| block.size).sum())
            }
        };
        (u64::try_from(count).unwrap_or(u64::MAX), bytes.count())
    }
}

/// A test that waits for answers.
fn conversation(
    test: &Test,
    train: Box<dyn Closed>,
    streams: &Streams,
    hosts: &dyn Layout,
    until: &Until,
) -> Result<Talked, Failure> {
    let (from, to) = roles(test)?;
    let (settings, quic) = match carrier(&test.protocol) {
        Carrier::Tcp(settings) => (with_segment(settings, &*train), None),
        Carrier::Quic(settings) => (Settings::default(), Some(settings)),
        Carrier::Udp => {
            let cause = anyhow!("udp: {} waits for answers", test.traffic.name());
            return Err(Failure::usage(cause).hint("write tcp or quic"));
        }
    };
    let [near, far] = [from, to].map(|role| hosts.place(role));
    let dialogue = Dialogue {
        near,
        far,
        address: SocketAddr::new(hosts.address(from, to)?, 0),
        settings,
        quic,
        train,
        start: test.start,
        duration: test.duration(streams),
        patience: until.patience,
        cancel: Arc::clone(&until.cancel),
        moved: Arc::default(),
    };
    // Over QUIC its flows are streams of one.
    let connections = match dialogue.quic {
        Some(_) => 1,
        None => connections(&test.traffic, streams, dialogue.duration),
    };
    let transport = test.protocol.transport;
    let (test, traffic) = (test.name.clone(), test.traffic.to_string());
    let said = Said { test, session: 1, from, to, transport, traffic, start: dialogue.start };
    Ok(Talked { said, dialogue, connections })
}

/// What nobody wrote is as the source of the model has it.
fn with_segment(settings: Settings, train: &dyn Closed) -> Settings {
    let of_model = || train.segment().and_then(|size| u32::try_from(size.count()).ok());
    Settings { max_segment: settings.max_segment.or_else(of_model), ..settings }
}

/// As many as browsers have, or as the conversation has at once if those are more.
fn connections(call: &Call, streams: &Streams, duration: Nanos) -> usize {
    let Some(Train::Closed(mut train)) = call.train(streams) else { return OF_A_TALK };
    traffic::connections(&mut *train, duration).max(OF_A_TALK)
}

fn roles(test: &Test) -> Result<(Role, Role), Failure> {
    let [from, to] = [&test.from, &test.to].map(|end| scenario::role_of(&end.host));
    from.zip(to).ok_or_else(|| {
        Failure::usage(anyhow!("{} -> {}: a host without a role", test.from.host, test.to.host))
    })
}

/// The flows of one test: one, or for a model with several parts and both directions one for each.
fn of_test(
    test: &Test,
    train: Box<dyn Open>,
    streams: &Streams,
    hosts: &dyn Layout,
) -> Result<Vec<Named>, Failure> {
    let (from, to) = roles(test)?;
    if test.dscp.is_some() && test.protocol.transport == Transport::Quic {
        // With each packet it writes this byte of the header anew, for the sake of ECN.
        let cause = anyhow!("dscp: the library of quic leaves no code point");
        return Err(Failure::usage(cause).hint("write tcp or udp"));
    }
    let duration = test.duration(streams);
    let offers = offers::of(&test.traffic, train, duration)?;
    let several = offers.len() > 1;
    let mut named = Vec::new();
    for (part, (direction, offer)) in (1..).zip(offers) {
        let (from, to) = match direction {
            Direction::Forward => (from, to),
            Direction::Backward => (to, from),
        };
        let port = test.to.port.filter(|_| part == 1 && direction == Direction::Forward);
        let flow = Flow {
            from: place(from),
            to: place(to),
            address: Some(hosts.address(from, to)?),
            carrier: carrier(&test.protocol),
            port: port.unwrap_or(0),
            offer,
            start: test.start,
            duration,
            write: offers::size(&test.traffic, "buffer").unwrap_or(Bytes::new(1 << 20)),
            read: offers::size(&test.sink, "blocksize").unwrap_or(Bytes::new(64 << 10)),
            drain: test.drain,
            pace: test.pace,
            code_point: test.dscp,
            has_receipts: test.has_receipts,
            held_to: None,
        };
        let name = &test.name;
        named.push(Named {
            test: if several { format!("{name}.{part}") } else { name.clone() },
            of: name.clone(),
            session: 1,
            from,
            to,
            traffic: test.traffic.to_string(),
            phase: None,
            flow,
        });
    }
    Ok(named)
}

fn carrier(protocol: &Protocol) -> Carrier {
    let Protocol { transport, window, nodelay, congestion, mss } = protocol.clone();
    match transport {
        Transport::Quic => Carrier::Quic(QuicSettings { window, congestion, held_to: None }),
        Transport::Tcp => Carrier::Tcp(Settings {
            congestion,
            nodelay,
            send_buffer: window.map(Bytes::len),
            receive_buffer: window.map(Bytes::len),
            max_segment: mss.and_then(|size| u32::try_from(size.count()).ok()),
            ..Settings::default()
        }),
        Transport::Udp => Carrier::Udp,
    }
}

/// The place of a role among the parties.
pub(crate) fn place(role: Role) -> usize {
    Role::ALL.iter().position(|known| *known == role).unwrap_or(0)
}

/// What a flow or a conversation is kept with besides its blocks, in blocks.
const OF_A_FLOW: usize = 16;

#[cfg(test)]
mod tests;
