//! Whether the process stood still: who stops a program (a terminal, a container that is paused, a virtual machine
//! that is moved) stops no clock, and a machine that has much to do keeps threads waiting and stops none.

use btu_core::units::Nanos;
use btu_sys::cpu::RunDelay;

/// What one thread knows of it, which sleeps again and again. Allocates nothing once it is made.
#[derive(Debug)]
pub(crate) struct Standstill {
    delay: Option<RunDelay>,
    /// What `delay` was when the thread woke up last.
    waited: Nanos,
    longest: Nanos,
}

impl Standstill {
    /// Of the calling thread.
    pub(crate) fn of_this_thread() -> Self {
        let delay = RunDelay::of_this_thread().ok();
        let waited = total(delay.as_ref());
        Self { delay, waited, longest: Nanos::ZERO }
    }

    /// The thread woke up `overslept` after the moment at which it wanted to. To be called after every sleep: only what
    /// it waited for a CPU since the one before is no standstill.
    pub(crate) fn woke(&mut self, overslept: Nanos) {
        self.account(overslept, total(self.delay.as_ref()));
    }

    fn account(&mut self, overslept: Nanos, waited: Nanos) {
        self.longest = self.longest.max(overslept.since(waited.since(self.waited)));
        self.waited = waited;
    }

    /// The longest so far.
    pub(crate) fn longest(&self) -> Nanos {
        self.longest
    }
}

/// Nothing where the kernel keeps no such account.
fn total(delay: Option<&RunDelay>) -> Nanos {
    Nanos::new(delay.and_then(RunDelay::now_ns).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    fn of(wakes: &[(Nanos, Nanos)]) -> Nanos {
        let mut still = Standstill { delay: None, waited: ms(2000), longest: Nanos::ZERO };
        for (overslept, waited) in wakes {
            still.account(*overslept, *waited);
        }
        still.longest()
    }

    #[test]
    fn the_longest_of_all_sleeps_is_told() {
        assert_eq!(of(&[(ms(3), ms(2000)), (ms(400), ms(2000)), (ms(5), ms(2001))]), ms(400));
        assert_eq!(of(&[]), Nanos::ZERO);
    }

    #[test]
    fn a_wait_for_a_cpu_is_no_standstill() {
        assert_eq!(of(&[(ms(400), ms(2390))]), ms(10));
        assert_eq!(of(&[(ms(400), ms(2600))]), Nanos::ZERO);
    }

    /// A machine under load keeps a thread waiting every time: all of it together would hide any standstill.
    #[test]
    fn what_was_waited_before_takes_nothing_from_a_standstill() {
        assert_eq!(of(&[(ms(90), ms(2090)), (ms(300), ms(2390)), (ms(400), ms(2395))]), ms(395));
    }
}
