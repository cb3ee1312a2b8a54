//! Rx, the remote procedure calls of AFS, by the library `libafsrpc.so.2` of `OpenAFS`, which is opened while the program
//! runs: nothing of it is linked or copied.
//!
//! Names, arguments and numbers are those of the headers of `OpenAFS` 1.8 (`rx.h`, `rx_prototypes.h`, `rx_globals.h`,
//! `rx_null.h`). The library has one state for each process, with one socket: a process is either a client or a server,
//! and only once.

mod call;
mod functions;
mod server;

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::net::SocketAddrV4;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use nix::sys::socket::SockaddrIn;
use nix::sys::socket::getsockname;

use self::functions::Functions;
use self::functions::Opaque;
use crate::error::Error;
use crate::error::Result;
use crate::loaded::Library;

pub use self::call::Call;
pub use self::server::Procedure;
pub use self::server::serve;

/// The process as a client of Rx.
#[derive(Debug)]
pub struct Client(());

/// What leads to one service of one server. Not for other threads: the library does not say that it may be.
pub struct Connection(NonNull<Opaque>);

/// What the process sent so far, by the library's own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Packets with data, of which a datagram may have several.
    pub data_packets: u64,
    /// Datagrams with data.
    pub datagrams: u64,
    /// Packets with data that were sent again.
    pub resent_packets: u64,
}

/// Whether the library is there. It may be another version, of which starting Rx tells.
pub fn is_installed() -> bool {
    Library::open(FILE).is_ok()
}

impl Client {
    /// Starts the client of this process.
    ///
    /// # Errors
    /// The library is not there, or the process has started Rx before.
    pub fn start() -> Result<Self> {
        start(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0))?;
        Ok(Self(()))
    }

    /// A connection with a service of a server. Nothing is sent before the first call.
    ///
    /// # Errors
    /// The library has no memory.
    pub fn connect(&self, server: SocketAddrV4, service: u16) -> Result<Connection> {
        let functions = library()?;
        let (host, port) = wire(server);
        // SAFETY: takes nothing and gives an object without state.
        let security = unsafe { (functions.null_client_security)() };
        // SAFETY: the object is the library's own, and index 0 is what it stands for (`RX_SECIDX_NULL`).
        let connection =
            unsafe { (functions.new_connection)(host, port, service, security, NULL_SECURITY) };
        let refused = || Error::new(format!("connect Rx to {server}"), io::ErrorKind::OutOfMemory);
        NonNull::new(connection).map(Connection).ok_or_else(refused)
    }
}

impl Connection {
    /// Begins a call; waits where four others of this connection go on (`RX_MAXCALLS`).
    ///
    /// # Errors
    /// The library has no call to give.
    pub fn call(&mut self) -> Result<Call<'_>> {
        let functions = library()?;
        // SAFETY: the connection is alive as long as this value.
        let call = unsafe { (functions.new_call)(self.0.as_ptr()) };
        let refused = || Error::new("begin a call of Rx", io::ErrorKind::OutOfMemory);
        NonNull::new(call).map(|call| Call::of_client(functions, call)).ok_or_else(refused)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Ok(functions) = library() {
            // SAFETY: the connection is alive, and nobody has it any more.
            unsafe { (functions.destroy_connection)(self.0.as_ptr()) };
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// What this process sent so far; `None` where the library gives no figures.
pub fn statistics() -> Option<Statistics> {
    let functions = library().ok()?;
    // SAFETY: takes nothing, and gives a record of its own or nothing.
    let record = NonNull::new(unsafe { (functions.statistics)() })?;
    let record = record.cast::<[i32; STATISTICS]>();
    // SAFETY: the record is as long as that, of `int` alone, and lives until it is given back.
    let all = *unsafe { record.as_ref() };
    let count = |place: usize| all.get(place).map_or(0, |value| u64::from(value.unsigned_abs()));
    let told = Statistics {
        data_packets: count(DATA_PACKETS_SENT),
        datagrams: count(DATAGRAMS_SENT),
        resent_packets: count(DATA_PACKETS_RESENT),
    };
    let mut given = record.as_ptr().cast();
    // SAFETY: the record came from the library and is not used after this.
    unsafe { (functions.free_statistics)(&raw mut given) };
    Some(told)
}

/// Starts Rx in this process at an address, whose port may be 0.
fn start(address: SocketAddrV4) -> Result<&'static Functions> {
    static STARTED: OnceLock<()> = OnceLock::new();
    let functions = library()?;
    let named = |cause: io::Error| Error::new(format!("start Rx at {address}"), cause);
    // A second start would do nothing, and tell of success.
    STARTED.set(()).map_err(|()| named(io::Error::other("this process has started it before")))?;
    let (host, port) = wire(address);
    functions.counts_packets.store(1, Relaxed);
    // SAFETY: takes numbers only, in network order.
    let outcome = unsafe { (functions.init_host)(host, u32::from(port)) };
    if outcome != 0 {
        return Err(named(io::Error::from_raw_os_error(outcome)));
    }
    Ok(functions)
}

/// Where the socket of this process is bound.
fn bound(functions: &Functions) -> Result<SocketAddrV4> {
    let number = functions.socket.load(Relaxed);
    let named = |cause: io::Error| Error::new("name the socket of Rx", cause);
    if number < 0 {
        return Err(named(io::ErrorKind::NotConnected.into()));
    }
    // SAFETY: the library keeps its socket open until the process ends.
    let socket = unsafe { BorrowedFd::borrow_raw(number) };
    let address = getsockname::<SockaddrIn>(socket.as_raw_fd());
    Ok(address.map_err(|errno| named(errno.into()))?.into())
}

/// The library, opened once.
fn library() -> Result<&'static Functions> {
    static LIBRARY: OnceLock<Functions> = OnceLock::new();
    if let Some(functions) = LIBRARY.get() {
        return Ok(functions);
    }
    let functions = Functions::open()?;
    Ok(LIBRARY.get_or_init(|| functions))
}

/// Address and port in network order.
fn wire(address: SocketAddrV4) -> (u32, u16) {
    (u32::from_ne_bytes(address.ip().octets()), address.port().to_be())
}

/// The file of the library.
pub const LIBRARY: &str = "libafsrpc.so.2";
const FILE: &CStr = c"libafsrpc.so.2";

/// `RX_SECIDX_NULL`: nobody is asked who he is, and nothing is encrypted.
const NULL_SECURITY: i32 = 0;

/// `struct rx_statistics`, 284 bytes, and places in it: `packetsSent[RX_PACKET_TYPE_DATA - 1]`, `dataPacketsSent`,
/// `dataPacketsReSent`.
const STATISTICS: usize = 284 / 4;
const DATAGRAMS_SENT: usize = 112 / 4;
const DATA_PACKETS_SENT: usize = 180 / 4;
const DATA_PACKETS_RESENT: usize = 184 / 4;
