//! `wait_until`: a test waits for what has to come, and fails where it does not, instead of hanging.
//!
//! A test crate includes this file as it includes `skip.rs`.

use std::fmt::Display;
use std::thread;
use std::time::Duration;
use std::time::Instant;

/// Waits for what only a hang keeps from coming; `what` is said where it does not come.
pub(crate) fn wait_until(what: impl Display, is_done: impl FnMut() -> bool) {
    wait_within(Duration::from_mins(1), what, is_done);
}

/// The same for what may take longer than a minute, such as the end of a lease.
pub(crate) fn wait_within(most: Duration, what: impl Display, mut is_done: impl FnMut() -> bool) {
    let deadline = Instant::now() + most;
    while !is_done() {
        assert!(Instant::now() < deadline, "not within {most:?}: {what}");
        thread::park_timeout(Duration::from_millis(1));
    }
}
