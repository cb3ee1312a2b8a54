//! The receiving thread waited for a CPU.

use super::Basis;
use super::Cause;
use super::Finding;
use super::Site;
use super::seen::Seen;
use super::starved_sender::starved;

pub(super) const CAUSE: Cause = Cause {
    name: "starved-receiver",
    site: Site::Own,
    basis: Basis::Waits,
    about: "the receiving thread was runnable but did not get a CPU",
    remedy: "give the receiver a CPU: fewer threads, another placement, a higher priority, no quota \
             (cpu.max)",
    explains: &["slow-reader"],
    find,
};

/// While its window is open the sender goes on, and what it reads is waiting for it.
fn find(seen: &Seen<'_>) -> Option<Finding> {
    let idle = seen.idle() + seen.window_limited();
    starved(seen, &seen.evidence.receiver, idle, "receiving")
}
