//! Tests whose rate follows the reports of their receiver.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::anyhow;
use btu_core::traffic::Streams;
use btu_core::traffic::Test;
use btu_core::traffic::Transport;
use btu_core::traffic::sending::media::Media;
use btu_engine::traffic::MediaFlow;

use super::Layout;
use super::OF_A_FLOW;
use super::Said;
use super::Until;
use super::offers::MOST_BLOCKS;
use super::roles;
use crate::exit::Failure;

/// A flow of media.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) said: Said,
    pub(crate) flow: MediaFlow,
}

impl Played {
    /// What it takes memory for: a record of each packet, and itself.
    pub(super) fn blocks(&self) -> usize {
        let packets = self.flow.media.sender.most_packets(self.flow.duration);
        usize::try_from(packets).unwrap_or(usize::MAX).saturating_add(OF_A_FLOW)
    }
}

/// The media of one session of a test.
pub(super) fn played(
    test: &Test,
    media: Box<Media>,
    streams: &Streams,
    session: u32,
    (hosts, until): (&dyn Layout, &Until),
) -> Result<Played, Failure> {
    let (from, to) = roles(test)?;
    let (name, transport) = (test.traffic.name(), test.protocol.transport);
    if transport != Transport::Udp {
        let cause = anyhow!("{}: {name} follows reports of single datagrams", transport.name());
        return Err(Failure::usage(cause).hint(format!("write udp, or {name}(control=none)")));
    }
    // Both ends are steps of one program there; no word between hosts says what a report says.
    let Some(linger) = hosts.linger() else {
        let cause = anyhow!(
            "{name} follows reports, which are carried between hosts of the local testbed alone"
        );
        return Err(Failure::usage(cause).hint(format!("write {name}(control=none)")));
    };
    let [near, far] = [from, to].map(|role| hosts.place(role));
    let flow = MediaFlow {
        near,
        far,
        // A port of the script has room for one socket.
        address: SocketAddr::new(
            hosts.address(from, to)?,
            test.to.port.filter(|_| session == 1).unwrap_or(0),
        ),
        code_point: test.dscp,
        media,
        start: test.start,
        duration: test.duration(streams),
        linger,
        cancel: Arc::clone(&until.cancel),
        moved: Arc::default(),
    };
    let (test, traffic) = (test.name.clone(), test.traffic.to_string());
    let said = Said { test, session, from, to, transport, traffic, start: flow.start };
    let played = Played { said, flow };
    if played.blocks() > MOST_BLOCKS {
        let duration = played.flow.duration;
        let cause =
            anyhow!("{}: more than {MOST_BLOCKS} packets in {duration}", played.said.traffic);
        return Err(Failure::usage(cause).hint("shorten the duration or lower the rate"));
    }
    Ok(played)
}
