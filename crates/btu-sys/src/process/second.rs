//! The second signal of one who is in a hurry ends the process at once; an echo of the first does not.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use crate::clock;

/// When the first signal came, for all signals that share it.
#[derive(Clone, Debug, Default)]
pub struct FirstSignal {
    /// Nanoseconds of the monotonic clock; 0 before it came.
    at: Arc<AtomicU64>,
}

impl FirstSignal {
    /// From now on ends this process with `exit_code` where `signal` comes later than half a second after the first
    /// one of those that share this: `timeout` signals its child and then their group, which is one wish.
    pub fn exit_on_second(&self, signal: i32, exit_code: i32) -> io::Result<()> {
        let first = self.clone();
        let handler = move || {
            if first.is_before(clock::monotonic_ns()) {
                signal_hook::low_level::exit(exit_code);
            }
        };
        // SAFETY: the handler reads a clock, exchanges an atomic and calls `_exit`: all of it is safe within a
        // signal handler, and none of it panics.
        unsafe { signal_hook::low_level::register(signal, handler) }?;
        Ok(())
    }

    /// Takes note of a signal that came at `now_ns`; true where another came long before.
    fn is_before(&self, now_ns: u64) -> bool {
        let order = Ordering::Relaxed;
        let earlier = self.at.compare_exchange(0, now_ns.max(1), order, order);
        earlier.is_err_and(|first| now_ns.saturating_sub(first) > ECHO_NS)
    }
}

/// Half a second: shorter than anybody presses a key twice to be rid of a program.
const ECHO_NS: u64 = 500_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_right_after_the_first_is_its_echo() {
        let first = FirstSignal::default();
        assert!(!first.is_before(1_000));
        assert!(!first.is_before(1_001) && !first.is_before(1_000 + ECHO_NS));
        assert!(first.clone().is_before(1_001 + ECHO_NS));
    }
}
