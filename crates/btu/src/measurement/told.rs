//! Who hears how a measurement goes that another host ordered.

use std::fmt;
use std::sync::Arc;

use btu_core::units::Bytes;

/// Who hears of each step.
#[derive(Clone)]
pub(crate) struct Told(Arc<Hears>);

/// Hears the text of a step, if there is one, and the payload that was moved.
type Hears = dyn Fn(Option<&str>, Bytes) + Send + Sync;

impl Told {
    /// This one hears.
    pub(crate) fn new(hears: impl Fn(Option<&str>, Bytes) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hears))
    }

    /// Tells it.
    pub(crate) fn tell(&self, text: &str) {
        self.tell_moved(text, Bytes::ZERO);
    }

    /// Tells it of a step that moved so much, which is not told again at the end.
    pub(crate) fn tell_moved(&self, text: &str, moved: Bytes) {
        (self.0)(Some(text), moved);
    }

    /// Tells it of payload alone, within a step.
    pub(crate) fn moved(&self, moved: Bytes) {
        (self.0)(None, moved);
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Told(..)")
    }
}
