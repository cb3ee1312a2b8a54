//! Who may come in: of all that connect to a black box, the first that knows the words.
//!
//! Strangers get no answer, and none of them can make the right one wait: each is heard in a thread
//! of its own, for a short time, and at most so many at once.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use super::Preamble;
use super::end::Shared;
use crate::error::EngineError;
use crate::transport::Listener;

/// Those that connected and have not said the words yet.
#[derive(Debug, Default)]
struct Hall {
    heard: Vec<Arc<Shared>>,
    welcome: Option<Arc<Shared>>,
}

/// Waits for the connection of one flow; `admit` makes each that comes in known to whoever may end it.
pub(super) fn first_known(
    listener: &dyn Listener,
    flow: usize,
    preamble: &dyn Preamble,
    admit: impl Fn(&Arc<Shared>) -> Result<(), EngineError> + Sync,
) -> Result<Arc<Shared>, EngineError> {
    let hall = Mutex::new(Hall::default());
    let since = Instant::now();
    listener.bound_waits(SLICE)?;
    let refused = thread::scope(|scope| {
        let refused = loop {
            let connection = match listener.accept() {
                Ok(connection) => connection,
                Err(_) if lock(&hall).welcome.is_some() => break None,
                Err(cause) if since.elapsed() >= PATIENCE => break Some(cause),
                Err(EngineError::Peer { source, .. }) if is_passing(&source) => continue,
                Err(cause) => break Some(cause),
            };
            let shared = Shared::new(connection);
            if let Err(cause) = admit(&shared) {
                break Some(cause);
            }
            if !lock(&hall).enter(&shared) {
                shared.connection.abort();
                continue;
            }
            let hall = &hall;
            let hear = move || {
                let knows = preamble.far(flow, &*shared.connection).is_ok();
                if lock(hall).leave(&shared, knows) {
                    listener.abort();
                }
            };
            // A thread that cannot be started is a stranger less: its socket closes with it.
            let _ = thread::Builder::new().name("comm-door".to_owned()).spawn_scoped(scope, hear);
        };
        lock(&hall).clear();
        refused
    });
    let welcome = lock(&hall).welcome.take();
    let nobody = || EngineError::Refused("nobody with the token of this run connected".to_owned());
    welcome.ok_or_else(|| refused.unwrap_or_else(nobody))
}

impl Hall {
    /// False where too many are in already.
    fn enter(&mut self, shared: &Arc<Shared>) -> bool {
        let room = self.heard.len() < MOST_HEARD;
        if room {
            self.heard.push(Arc::clone(shared));
        }
        room
    }

    /// True for the first that knows the words; everybody else has to go.
    fn leave(&mut self, shared: &Arc<Shared>, knows: bool) -> bool {
        self.heard.retain(|other| !Arc::ptr_eq(other, shared));
        let first = knows && self.welcome.is_none();
        if first {
            self.welcome = Some(Arc::clone(shared));
            self.clear();
        } else {
            shared.connection.abort();
        }
        first
    }

    fn clear(&mut self) {
        self.heard.iter().for_each(|shared| shared.connection.abort());
    }
}

fn lock(hall: &Mutex<Hall>) -> std::sync::MutexGuard<'_, Hall> {
    hall.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The end of a slice of waiting, or a connection that was gone before it was accepted.
fn is_passing(cause: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        cause.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::ConnectionAborted
    )
}

/// How long the connection of a run may take after its far end listens: a host activity starts
/// meanwhile.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long one wait takes.
const SLICE: Duration = Duration::from_secs(1);
const MOST_HEARD: usize = 64;
