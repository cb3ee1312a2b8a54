//! What a run moves while it runs, for the line of progress: figures that only grow, forgotten with the run.
//! What the agent of this host has to hear of is counted by a [`Meter`](crate::traffic::remote::meter::Meter).

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use btu_core::units::Bytes;

/// A figure that only grows.
type Source = Box<dyn Fn() -> Bytes + Send>;

/// Everything that moves payload in the run that is made now.
#[derive(Clone, Default)]
pub(super) struct Gauge(Arc<Mutex<Vec<Source>>>);

impl Gauge {
    /// Counts what `source` says, too.
    pub(super) fn add(&self, source: impl Fn() -> Bytes + Send + 'static) {
        self.sources().push(Box::new(source));
    }

    /// The next run begins with nothing.
    pub(super) fn clear(&self) {
        self.sources().clear();
    }

    /// Payload so far.
    pub(super) fn moved(&self) -> Bytes {
        self.sources().iter().map(|source| source()).fold(Bytes::ZERO, Bytes::saturating_add)
    }

    fn sources(&self) -> MutexGuard<'_, Vec<Source>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
