//! `wait_until`: a test waits for what has to come, and fails where it does not, instead of hanging.
//!
//! A test crate includes this file as it includes `skip.rs`.

use std::thread;
use std::time::Duration;
use std::time::Instant;

/// Waits for what only a hang keeps from coming; `what` is said where it does not come.
pub(crate) fn wait_until(what: &str, mut is_done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_done() {
        assert!(Instant::now() < deadline, "not within a minute: {what}");
        thread::park_timeout(Duration::from_millis(1));
    }
}
