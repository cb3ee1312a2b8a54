//! A server of Rx, as a trial knows it: a process, and a thread that started it and hears it.

use std::net::SocketAddr;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::units::Bytes;

use super::account;
use super::process::Process;
use super::process::ipv4;
use super::words::Order;
use super::words::Serving;
use super::words::Word;
use crate::error::EngineError;
use crate::file::Account;
use crate::file::Offer;
use crate::file::Served;
use crate::file::Sockets;

/// A process that serves. Dropped, it is killed.
#[derive(Debug)]
pub(in crate::file) struct Server {
    address: SocketAddrV4,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<(), EngineError>>>,
}

#[derive(Debug)]
struct Shared {
    account: Account,
    sockets: Sockets,
    moved: AtomicU64,
}

impl Server {
    /// Starts it from a thread that is in the place of the server, and stays as long as it.
    pub(in crate::file) fn start(offer: &Offer) -> Result<Self, EngineError> {
        let order = Order::Serve(Serving {
            address: ipv4(SocketAddr::new(offer.address, 0))?,
            directory: offer.directory.clone(),
            at_once: u16::try_from(offer.clients).unwrap_or(u16::MAX),
        });
        let (sockets, moved) = (Sockets::default(), AtomicU64::new(0));
        let shared = Arc::new(Shared { account: account(), sockets, moved });
        let (tell, told) = mpsc::channel();
        let (program, house) = (offer.program.clone(), Arc::clone(&shared));
        let thread = offer.place.spawn("rx-server", move || {
            let process = Process::start(program.as_deref(), &house.sockets, &order)?;
            house.attend(process, &tell)
        })?;
        let told = told.recv_timeout(PATIENCE);
        // Ends the thread, where it goes on.
        let ended = |thread| {
            shared.sockets.close();
            why(thread)
        };
        match told {
            Ok(address) => Ok(Self { address, shared, thread: Some(thread) }),
            Err(RecvTimeoutError::Timeout) => {
                let _ = ended(thread);
                let what = format!("the process of Rx does not serve within {PATIENCE:?}");
                Err(EngineError::Refused(what))
            }
            Err(RecvTimeoutError::Disconnected) => Err(ended(thread)),
        }
    }
}

impl Shared {
    /// Hears the process until its channel is closed.
    fn attend(&self, mut process: Process, tell: &Sender<SocketAddrV4>) -> Result<(), EngineError> {
        // Leaves the roll before the process is waited for.
        let _enrolled = self.account.enrol_process(process.number());
        loop {
            match process.hear()? {
                Word::Serves(address) => {
                    // Whoever asked for the server waits for this.
                    let _ = tell.send(address);
                }
                Word::Moved(total) => self.moved.store(total.count(), Relaxed),
                _ => {}
            }
        }
    }
}

/// Why a server did not begin.
fn why(thread: JoinHandle<Result<(), EngineError>>) -> EngineError {
    match thread.join() {
        Ok(Err(cause)) => cause,
        Ok(Ok(())) => EngineError::Refused("the process of Rx serves nobody".to_owned()),
        Err(panic) => EngineError::panicked("rx-server", &*panic),
    }
}

impl Served for Server {
    fn address(&self) -> SocketAddr {
        self.address.into()
    }

    fn account(&self) -> &Account {
        &self.shared.account
    }

    fn moved(&self) -> Bytes {
        Bytes::new(self.shared.moved.load(Relaxed))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.sockets.close();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// How long a process may take to serve: it asks nobody, and begins in some ten ms.
const PATIENCE: Duration = Duration::from_secs(20);
