//! Waiting until the next packet comes or is due.

use std::io;

use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::wait::Waiter;

use crate::backend::WaitChoice;
use crate::time::now;

/// How a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// Sleeps until `margin` before the time, then polls.
    Hybrid {
        /// What a wake-up may take.
        margin: Nanos,
    },
    /// Sleeps until the time.
    Sleep,
}

impl Pause {
    /// Chooses, and for hybrid waiting measures this thread's own wake-ups.
    pub(super) fn choose(choice: WaitChoice, shared_cpus: bool) -> io::Result<Self> {
        match (choice, shared_cpus) {
            (WaitChoice::Sleep, _) | (WaitChoice::Auto, true) => Ok(Self::Sleep),
            (WaitChoice::Hybrid, _) | (WaitChoice::Auto, false) => {
                Ok(Self::Hybrid { margin: measured_margin()? })
            }
        }
    }

    /// Waits for something to read, at the longest until `due`. May return early. True where something
    /// came, if only an error of a device.
    pub(super) fn until(self, due: Option<Nanos>, waiter: &Waiter) -> io::Result<bool> {
        let now = now();
        let longest = due.map_or(IDLE, |due| due.since(now).min(IDLE));
        let sleep = match self {
            Self::Hybrid { margin } => longest.since(margin),
            Self::Sleep => longest,
        };
        let sleep = sleep.since(slack(sleep));
        if sleep == Nanos::ZERO {
            return Ok(false);
        }
        waiter.wait(Some(sleep.count()))
    }

    /// `hybrid` or `sleep`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hybrid { .. } => "hybrid",
            Self::Sleep => "sleep",
        }
    }
}

/// What the kernel may add to a sleep in `epoll_pwait2`, whatever the thread's timer slack is: a thousandth
/// of it (`select_estimate_accuracy` in Linux' `fs/select.c`). A long sleep ends as much earlier, and what
/// is left is slept next; of a short one it is less than a wake-up takes.
fn slack(sleep: Nanos) -> Nanos {
    if sleep < LONG { Nanos::ZERO } else { Nanos::new(sleep.count() / SLACK_PART) }
}

/// What all but one of the wake-ups take at most, and never more than [`WIDEST`]. They end sleeps as long as
/// those between packets of an idle link: a CPU sleeps deeper the longer it may, and takes longer to wake
/// (30 us, 1 ms, 10 ms on a virtual machine: 18, 38, 62 us at the median).
fn measured_margin() -> io::Result<Nanos> {
    let waiter = Waiter::new().map_err(io::Error::other)?;
    let mut late = Vec::with_capacity(WAKE_UPS);
    for _ in 0..WAKE_UPS {
        let due = clock::monotonic_ns() + SLEEP.count();
        waiter.wait(Some(SLEEP.count()))?;
        late.push(clock::monotonic_ns().saturating_sub(due));
    }
    late.sort_unstable();
    let nearly_all = late.iter().rev().nth(1).copied().unwrap_or_default();
    Ok(Nanos::new(nearly_all).min(WIDEST))
}

/// The clocks are compared at least this often.
const IDLE: Nanos = Nanos::from_millis(100);
/// Sleeps shorter than this are slept at once.
const LONG: Nanos = Nanos::from_millis(2);
const SLACK_PART: u64 = 1000;
const WAKE_UPS: usize = 150;
const SLEEP: Nanos = Nanos::from_millis(1);
const WIDEST: Nanos = Nanos::from_micros(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_cpu_is_never_spun_on_by_itself() {
        assert_eq!(Pause::choose(WaitChoice::Auto, true).unwrap(), Pause::Sleep);
        let hybrid = Pause::choose(WaitChoice::Auto, false).unwrap();
        assert!(matches!(hybrid, Pause::Hybrid { margin } if margin <= WIDEST));
    }

    #[test]
    fn a_long_sleep_leaves_its_slack_to_the_next() {
        assert_eq!(slack(Nanos::from_millis(100)), Nanos::from_micros(100));
        assert_eq!(slack(Nanos::from_millis(1)), Nanos::ZERO);
    }

    #[test]
    fn sleeping_ends_no_earlier_than_due_and_polling_before() {
        let waiter = Waiter::new().unwrap();
        let due = now() + Nanos::from_millis(2);
        Pause::Hybrid { margin: Nanos::from_secs(1) }.until(Some(due), &waiter).unwrap();
        Pause::Sleep.until(Some(due), &waiter).unwrap();
        Pause::Sleep.until(Some(due), &waiter).unwrap();
        assert!(now() >= due);
        Pause::Sleep.until(Some(due), &waiter).unwrap();
    }
}
