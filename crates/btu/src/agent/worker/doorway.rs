//! Who came in: the connections of a run that knew its token, told to the agent as they come.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use btu_control::message::Answer;
use btu_control::message::Which;
use btu_engine::comm::FarToken;
use btu_engine::comm::Preamble;
use btu_engine::comm::Seat;
use btu_engine::transport::Channel;

/// The way to the agent, for whoever has something to say.
#[derive(Clone)]
pub(in crate::agent) struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

/// Both ends of a connection, the own one first.
pub(in crate::agent) type Ends = [SocketAddr; 2];

/// The door of one run.
pub(super) struct Doorway {
    token: FarToken,
    which: Which,
    output: Output,
    /// How many are expected: what more of them come are nobody's evidence.
    most: usize,
    came: Mutex<Vec<Ends>>,
}

impl Output {
    pub(in crate::agent) fn new(way: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(way))))
    }

    /// An answer, and the document that it announces.
    pub(in crate::agent) fn say(&self, answer: &Answer, document: &[u8]) -> anyhow::Result<()> {
        super::say(&mut **locked(&self.0), answer, document)
    }
}

impl Doorway {
    pub(super) fn new(token: FarToken, which: Which, most: usize, output: &Output) -> Self {
        Self { token, which, output: output.clone(), most, came: Mutex::default() }
    }

    /// The connections that knew the token.
    pub(super) fn came(&self) -> Vec<Ends> {
        locked(&self.came).clone()
    }

    /// Keeps a connection, while fewer came than are expected.
    fn is_expected(&self, ends: Ends) -> bool {
        let mut came = locked(&self.came);
        let room = came.len() < self.most;
        if room {
            came.push(ends);
        }
        room
    }
}

impl Preamble for Doorway {
    fn seat(&self, flow: usize) -> Option<Seat> {
        self.token.seat(flow)
    }

    fn came_in(&self, connection: &dyn Channel) {
        if let Some(ends) = connection.ends().filter(|ends| self.is_expected(*ends)) {
            let [local, remote] = ends;
            let word = Answer::Connected { which: self.which, local, remote };
            // Without the agent this process ends anyway.
            drop(self.output.say(&word, &[]));
        }
    }
}

impl std::fmt::Debug for Doorway {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Doorway({:?})", self.token)
    }
}

fn locked<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}
