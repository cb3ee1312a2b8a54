//! Why ranks are told to end, and what they are given for it.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::units::Nanos;

use crate::time::now;

/// Why ranks are told to end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    Cap,
    Stop,
}

impl Reason {
    /// A reason to wait no longer, where there is one.
    pub(super) fn of(deadline: Nanos, stop: &AtomicBool) -> Option<Self> {
        if stop.load(Relaxed) {
            return Some(Self::Stop);
        }
        (now() >= deadline).then_some(Self::Cap)
    }

    /// The reason as the failure of a rank.
    pub(super) fn sentence(self, cap: Nanos) -> String {
        match self {
            Self::Cap => format!("its time was up: {} s", cap.seconds()),
            Self::Stop => "it was interrupted".to_owned(),
        }
    }
}

/// What ranks are given to end after they were told to: they notice it within a tenth of a second if they pass messages.
pub(super) const GRACE: Nanos = Nanos::from_millis(1500);
