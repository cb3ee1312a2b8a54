//! How packets of a flow leave: as soon as there is room for them, and a policy allows it.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use btu_core::units::BitRate;
use btu_core::units::Nanos;
use quinn_proto::Transmit;
use quinn_udp::UdpSocketState;

use crate::error::EngineError;
use crate::quic;
use crate::time::now;
use crate::traffic::ration::Ration;

/// A socket that is never waited for, and the packets that had no room in it.
#[derive(Debug)]
pub(super) struct Outbox {
    pub(super) socket: Arc<UdpSocket>,
    state: UdpSocketState,
    pub(super) left: Option<(Transmit, Vec<u8>)>,
    /// Where the host has a policy: what keeps to its rate.
    ration: Option<Ration>,
    /// When that allows the next packet, if one was asked for before.
    pub(super) held_until: Option<Nanos>,
}

impl Outbox {
    pub(super) fn new(
        socket: Arc<UdpSocket>,
        held_to: Option<BitRate>,
    ) -> Result<Self, EngineError> {
        let state = UdpSocketState::new((&*socket).into());
        let state = state.map_err(EngineError::peer("prepare a UDP socket for QUIC"))?;
        let far = socket.peer_addr().ok();
        let ration = held_to.map(|rate| Ration::new(rate, LARGEST_PACKET, far));
        Ok(Self { socket, state, left: None, ration, held_until: None })
    }

    /// How long the next packet will be nobody knows before it is made, and then it has to leave.
    fn is_held(&mut self) -> bool {
        self.held_until = self.ration.as_ref().and_then(|one| one.wait_for(now(), LARGEST_PACKET));
        self.held_until.is_some()
    }

    fn try_send(&mut self, transmit: &Transmit, packets: &[u8]) -> io::Result<bool> {
        let is_sent = quic::try_send(self, transmit, packets)?;
        if let Some(ration) = self.ration.as_mut().filter(|_| is_sent) {
            ration.sent(now(), transmit.size);
        }
        Ok(is_sent)
    }
}

impl quic::Wire for Outbox {
    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn state(&self) -> &UdpSocketState {
        &self.state
    }

    /// One where each has to wait for its time.
    fn segments(&self) -> usize {
        if self.ration.is_some() { 1 } else { self.state.max_gso_segments().min(quic::SEGMENTS) }
    }

    fn has_room(&mut self) -> io::Result<bool> {
        if self.is_held() {
            return Ok(false);
        }
        let Some((transmit, packets)) = self.left.take() else { return Ok(true) };
        if self.try_send(&transmit, &packets)? {
            return Ok(!self.is_held());
        }
        self.left = Some((transmit, packets));
        Ok(false)
    }

    fn send(&mut self, transmit: &Transmit, packets: &[u8]) -> io::Result<()> {
        if self.left.is_some() || !self.try_send(transmit, packets)? {
            // At most the answer to a stranger finds the place taken: it is lost, as on the way.
            let (transmit, packets) = (clone_of(transmit), packets.to_vec());
            self.left.get_or_insert((transmit, packets));
        }
        Ok(())
    }
}

fn clone_of(transmit: &Transmit) -> Transmit {
    let Transmit { destination, ecn, size, segment_size, src_ip } = *transmit;
    Transmit { destination, ecn, size, segment_size, src_ip }
}

/// What a packet holds at most: the library looks for no larger MTU (its `MtuDiscoveryConfig`: 1452 B).
const LARGEST_PACKET: usize = 1472;
