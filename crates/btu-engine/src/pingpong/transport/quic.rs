//! QUIC (RFC 9000): one bidirectional stream between two user processes.
//!
//! The library is a state machine without sockets, threads or a clock: the thread of each end moves
//! its connection on, within its calls during a visit and between visits for as long as something is
//! on its way (see [`Channel::tend`]).

mod link;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::nature::Nature;
use btu_core::pingpong::nature::Setting;
use btu_core::sample::SocketOptions;
use btu_core::units::Bytes;
use btu_sys::exchange::Address;
use btu_sys::exchange::Ready;
use btu_sys::wait::Waker;
use quinn_proto::ClientConfig;
use quinn_proto::ServerConfig;
use quinn_proto::StreamId;
use quinn_proto::TransportConfig;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::crypto::rustls::QuicServerConfig;

use self::link::Link;
use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::socket;
use crate::error::EngineError;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::Channel;
use crate::pingpong::channel::End;
use crate::pingpong::channel::Meter;
use crate::pingpong::regulator::Regulator;
use crate::pinned;
use crate::pinned::refused;

/// The transport `quic`.
#[derive(Debug)]
pub(super) struct Quic;

/// A socket that has heard of nobody yet, and the certificate to show there.
struct Waiting {
    link: Link,
    address: SocketAddr,
    certificate: Vec<u8>,
}

/// One end of the stream.
struct QuicEnd {
    link: Link,
    stream: StreamId,
    wait: Wait,
}

impl Transport for Quic {
    fn name(&self) -> &'static str {
        "quic"
    }

    fn about(&self) -> &'static str {
        super::QUIC
    }

    fn properties(&self) -> Properties {
        let waits = &[Wait::Block, Wait::Spin];
        Properties { reliable: true, bounded: false, reach: Reach::Network, waits }
    }

    fn nature(&self, _: &Configuration) -> Nature {
        use Setting::{MaxSegment, Nodelay, QuickAck};
        Nature { lacks: vec![MaxSegment, Nodelay, QuickAck], ..Nature::default() }
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        let (tls, certificate) = pinned::server()?;
        let tls = QuicServerConfig::try_from(tls).map_err(refused("use TLS in QUIC"))?;
        let mut config = ServerConfig::with_crypto(Arc::new(tls));
        config.transport_config(patient());
        let (link, address) = Link::open(hookup, Some(config))?;
        Ok(Box::new(Waiting { link, address, certificate }))
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let (address, certificate) = at.secure()?;
        let Address::Inet(far) = address else { return Err(super::wrong_rendezvous()) };
        let tls = QuicClientConfig::try_from(pinned::client(certificate)?);
        let mut config = ClientConfig::new(Arc::new(tls.map_err(refused("use TLS in QUIC"))?));
        config.transport_config(patient());
        let (mut link, _) = Link::open(hookup, None)?;
        let (deadline, wait) = (Instant::now() + hookup.within, hookup.wanted.wait);
        let named = || EngineError::peer(format!("connect to {far} by QUIC"));
        link.meet(far, hookup.token.as_ref(), deadline).map_err(named())?;
        let stream = link.connect(config, far, deadline).map_err(named())?;
        let mut end = QuicEnd { link, stream, wait };
        // A stream begins to exist for the far end with its first byte.
        end.try_send(GREETING).map_err(named())?;
        Ok(Box::new(end))
    }
}

impl Listener for Waiting {
    fn rendezvous(&self) -> Result<Rendezvous, EngineError> {
        let (address, certificate) = (Address::Inet(self.address), self.certificate.clone());
        Ok(Rendezvous::Secure { address, certificate })
    }

    fn accept(mut self: Box<Self>, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let (deadline, wait) = (Instant::now() + hookup.within, hookup.wanted.wait);
        let heard = self.link.hear(hookup, deadline);
        let stream = heard.and_then(|()| self.link.accept(deadline)).and_then(|stream| {
            let greeted = |link: &mut Link| link.read(stream, &mut [0; GREETING.len()]);
            self.link.until(deadline, greeted)?;
            Ok(stream)
        });
        let stream = stream.map_err(EngineError::peer("accept a connection by QUIC"))?;
        Ok(Box::new(QuicEnd { link: self.link, stream, wait }))
    }
}

impl QuicEnd {
    /// Until something came or is due.
    fn pause(&mut self) -> io::Result<()> {
        self.link.check()?;
        if self.wait == Wait::Spin {
            std::hint::spin_loop();
        } else {
            self.link.sleep(None)?;
        }
        self.link.turn()
    }
}

impl Channel for QuicEnd {
    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        loop {
            if let Some(taken) = self.link.write(self.stream, data)? {
                return Ok(taken);
            }
            self.pause()?;
        }
    }

    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(got) = self.link.read(self.stream, space)? {
                return Ok(got);
            }
            self.pause()?;
        }
    }

    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.link.check()?;
        if let Some(taken) = self.link.write(self.stream, data)? {
            return Ok(taken);
        }
        self.link.turn()?;
        self.link.write(self.stream, data)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    fn try_recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if let Some(got) = self.link.read(self.stream, space)? {
            return Ok(got);
        }
        self.link.check()?;
        self.link.turn()?;
        self.link.read(self.stream, space)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    /// Room comes by what the other end acknowledges: both are a matter of datagrams that come.
    fn wait_until(&mut self, _: Ready) -> io::Result<()> {
        self.pause()
    }

    /// What was sent last may be longer than what can be on its way at once, and lost packets are
    /// this process's to send again.
    fn tend(&mut self) -> bool {
        self.link.check().and_then(|()| self.link.sleep(None)).is_ok() && self.link.turn().is_ok()
    }

    fn bell(&self) -> Option<Waker> {
        Some(self.link.bell())
    }

    fn aborter(&self) -> Aborter {
        self.link.aborter()
    }

    fn meter(&self) -> Option<Meter> {
        Some(self.link.meter())
    }

    fn options(&self) -> Option<SocketOptions> {
        Some(self.link.options())
    }

    fn regulator(&self) -> Option<Regulator> {
        self.link.regulator()
    }

    fn remarks(&self) -> Vec<String> {
        Vec::from_iter(self.link.lacks_offload().then(|| "no UDP segmentation offload".to_owned()))
    }
}

/// The defaults, but no end of a connection that is silent between two visits.
fn patient() -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config.max_idle_timeout(None);
    Arc::new(config)
}

const GREETING: &[u8] = b"ping";
