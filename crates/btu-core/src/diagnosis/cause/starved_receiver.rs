//! The receiving thread waited for a CPU.

use super::starved_sender::starved;
use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;

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
