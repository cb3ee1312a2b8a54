//! Raw Ethernet frames in memory that the kernel shares (`AF_XDP`), in copy mode.
//!
//! The program on the link looks at every packet that arrives there: it stays for one visit only, so
//! that the visits of others between two of ours are what they were without. The queue belongs to
//! one socket, which all sessions of this process share that use it.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;
use std::time::Duration;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::nature::Nature;
use btu_core::units::Bytes;
use btu_sys::exchange;
use btu_sys::exchange::Ready;
use btu_sys::frame::OwnLink;
use btu_sys::frame::link_with;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::xdp;
use btu_sys::xdp::XdpSocket;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::frames;
use super::frames::Wire;
use super::socket;
use crate::error::EngineError;
use crate::pingpong::channel::End;

/// The transport `xdp`.
#[derive(Debug)]
pub(super) struct Xdp;

/// The socket of a link, while a visit has it.
struct XdpWire {
    shared: Arc<Shared>,
    socket: Option<XdpSocket>,
}

/// The socket of a link, while no visit has it.
struct Shared {
    link: Link,
    socket: Mutex<Option<XdpSocket>>,
}

/// A link and what is received from it: the network by its inode, the link's number there, the type.
type Link = (u64, u32, u16);

impl Transport for Xdp {
    fn name(&self) -> &'static str {
        "xdp"
    }

    fn about(&self) -> &'static str {
        "Ethernet frames of an own EtherType in shared memory (AF_XDP, copy mode)"
    }

    fn properties(&self) -> Properties {
        let waits = &[Wait::Block, Wait::Spin];
        Properties { reliable: true, bounded: false, reach: Reach::Link, waits }
    }

    fn nature(&self, _: &Configuration) -> Nature {
        frames::nature()
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ok(xdp::permitted()?)
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        refuse_loopback(hookup)?;
        frames::listen::<XdpWire>(hookup)
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        refuse_loopback(hookup)?;
        frames::connect::<XdpWire>(at, hookup)
    }
}

/// Both ends would need its one queue.
fn refuse_loopback(hookup: &Hookup<'_>) -> Result<(), EngineError> {
    if link_with(hookup.party.address)?.mac != Mac([0; 6]) {
        return Ok(());
    }
    let reason = "the loopback has one queue for both ends: use two hosts, \
                  or the namespaces of the local testbed";
    Err(EngineError::Refused(reason.to_owned()))
}

impl Wire for XdpWire {
    const FOR_A_VISIT: bool = true;
    const LONGEST: usize = xdp::LONGEST_FRAME;

    fn open(link: OwnLink, ether_type: u16) -> Result<Self, btu_sys::Error> {
        Ok(Self { shared: Shared::of(link, ether_type)?, socket: None })
    }

    fn enter(&mut self) -> Result<(), btu_sys::Error> {
        let busy = || {
            let what = "use a link over which another visit of xdp runs";
            btu_sys::Error::new(what, io::ErrorKind::ResourceBusy)
        };
        let mut socket = lock(&self.shared.socket).take().ok_or_else(busy)?;
        let attached = socket.attach();
        self.socket = Some(socket);
        attached.inspect_err(|_| self.leave())
    }

    fn leave(&mut self) {
        if let Some(mut socket) = self.socket.take() {
            socket.detach();
            *lock(&self.shared.socket) = Some(socket);
        }
    }

    /// Half of what may wait, since credits and greetings need places as well.
    fn window(&self, _: usize) -> u32 {
        xdp::WAITING_FRAMES / 2
    }

    #[inline]
    fn push(&mut self, length: usize, write: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.socket()?.push(length, write)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        self.socket()?.flush()
    }

    #[inline]
    fn next(&mut self, wait: Wait) -> io::Result<&[u8]> {
        let socket = self.socket()?;
        if wait != Wait::Spin && !socket.has_frame() {
            exchange::poll(socket.as_fd(), Ready::Read, Some(GLANCE))?;
        }
        socket.receive().ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    fn rest(&self) -> io::Result<()> {
        let socket = self.socket.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        exchange::poll(socket.as_fd(), Ready::Read, Some(Duration::from_millis(1))).map(drop)
    }
}

impl XdpWire {
    #[inline]
    fn socket(&mut self) -> io::Result<&mut XdpSocket> {
        self.socket.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for XdpWire {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Shared {
    /// That of another session, or a new one.
    fn of(link: OwnLink, ether_type: u16) -> Result<Arc<Self>, btu_sys::Error> {
        let here = NetNs::current().map_err(io::Error::other).and_then(|here| here.inode());
        let here = here.map_err(|cause| btu_sys::Error::new("tell the network", cause))?;
        let wanted = (here, link.index, ether_type);
        let mut open = lock(&OPEN);
        open.retain(|shared| shared.strong_count() > 0);
        let mut found = open.iter().filter_map(Weak::upgrade);
        if let Some(shared) = found.find(|shared| shared.link == wanted) {
            return Ok(shared);
        }
        let socket = XdpSocket::open(link.index, ether_type)?;
        let shared = Arc::new(Self { link: wanted, socket: Mutex::new(Some(socket)) });
        open.push(Arc::downgrade(&shared));
        Ok(shared)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sockets of this process.
static OPEN: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// How long a sleeping end takes to see that its connection was ended.
const GLANCE: Duration = Duration::from_millis(100);
