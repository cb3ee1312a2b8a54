//! The clocks of a run, and waiting for a point on them to the microsecond.
//!
//! Every duration is a difference of `CLOCK_MONOTONIC`; `CLOCK_MONOTONIC_RAW` is not corrected in
//! rate and must not be compared across hosts. Points are nanoseconds since the clock's own start.

use std::mem::MaybeUninit;

use nix::sys::time::TimeSpec;
use nix::sys::time::TimeValLike;
use nix::time::ClockId;
use nix::time::ClockNanosleepFlags;

use crate::error::Error;
use crate::error::Result;

/// How the kernel keeps the clock of the day right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discipline {
    /// False where nobody sets the clock by another one.
    pub is_synchronised: bool,
    /// By how much the clock may be wrong, in microseconds, as whoever sets it says.
    pub max_error_us: i64,
    /// The correction of its rate, in 10^-9.
    pub frequency_ppb: i64,
}

/// Nanoseconds on `CLOCK_MONOTONIC`: the clock of every measurement.
#[inline]
pub fn monotonic_ns() -> u64 {
    now_ns(ClockId::CLOCK_MONOTONIC)
}

/// The step of that clock or the cost of reading it, whichever is larger: the smallest difference of two readings in a
/// row that is none. `None` where the clock stands still.
pub fn step_ns() -> Option<u64> {
    step_of(monotonic_ns)
}

/// What reading that clock costs, in the mean of many readings in a row; `None` where it stands still.
pub fn read_ns() -> Option<f64> {
    cost_of(monotonic_ns)
}

/// Nanoseconds since 1970, UTC: for time stamps that people read, and to notice clock steps.
#[inline]
pub fn realtime_ns() -> u64 {
    now_ns(ClockId::CLOCK_REALTIME)
}

/// Nanoseconds on `CLOCK_BOOTTIME`, which goes on while the machine is suspended.
pub fn boottime_ns() -> u64 {
    now_ns(ClockId::CLOCK_BOOTTIME)
}

/// How the clock of the day is kept right; changes nothing of it.
pub fn discipline() -> Result<Discipline> {
    let mut state = MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: the kernel reads and writes one live `struct timex`; with `modes` zero it only tells.
    let outcome = unsafe { libc::adjtimex(state.as_mut_ptr()) };
    if outcome < 0 {
        return Err(Error::last("read the state of the clock"));
    }
    // SAFETY: plain integers, zeroed at first, for which every bit pattern is legal.
    let state = unsafe { state.assume_init() };
    // As wide as a `long`, which has 32 bits on some machines.
    #[allow(clippy::useless_conversion, reason = "it is none where a long has 32 bits")]
    let [max_error_us, rate] = [i64::from(state.maxerror), i64::from(state.freq)];
    Ok(Discipline {
        is_synchronised: state.status & libc::STA_UNSYNC == 0,
        max_error_us,
        // In 2^-16 of a millionth.
        frequency_ppb: rate * 1000 / (1 << 16),
    })
}

/// Sleeps until `monotonic_ns()` has reached `deadline_ns`; returns at once where that is past.
pub fn sleep_until(deadline_ns: u64) {
    let deadline = TimeSpec::nanoseconds(i64::try_from(deadline_ns).unwrap_or(i64::MAX));
    let absolute = ClockNanosleepFlags::TIMER_ABSTIME;
    while nix::time::clock_nanosleep(ClockId::CLOCK_MONOTONIC, absolute, &deadline)
        == Err(nix::errno::Errno::EINTR)
    {}
}

/// Sleeps until `margin_ns` before the deadline, then spins: ends within about a microsecond of it.
///
/// The margin has to cover the timer slack of the thread plus a wake-up, about 60 us.
pub fn wait_until(deadline_ns: u64, margin_ns: u64) {
    let wake = deadline_ns.saturating_sub(margin_ns);
    if monotonic_ns() < wake {
        sleep_until(wake);
    }
    spin_until(deadline_ns);
}

/// Burns CPU until `monotonic_ns()` has reached `deadline_ns`.
pub fn spin_until(deadline_ns: u64) {
    while monotonic_ns() < deadline_ns {
        std::hint::spin_loop();
    }
}

/// Readings go on beyond the first ones where the clock has not moved in these: it may step as seldom as the timer ticks.
fn step_of(mut read: impl FnMut() -> u64) -> Option<u64> {
    let mut last = read();
    let mut moved = || {
        let now = read();
        now.saturating_sub(std::mem::replace(&mut last, now))
    };
    let steps = (0..READINGS).map(|_| moved()).filter(|step| *step > 0);
    steps.min().or_else(|| (0..MOST_READINGS).map(|_| moved()).find(|step| *step > 0))
}

/// The time of so many readings, shared among them.
fn cost_of(mut read: impl FnMut() -> u64) -> Option<f64> {
    let begun = read();
    let taken = (1..READINGS).map(|_| read()).last()?.saturating_sub(begun);
    let taken = u32::try_from(taken).unwrap_or(u32::MAX);
    (taken > 0).then(|| f64::from(taken) / f64::from(READINGS - 1))
}

/// The time on one clock; zero where the clock does not exist, which Linux rules out for these.
#[inline]
pub(crate) fn now_ns(clock: ClockId) -> u64 {
    let now = nix::time::clock_gettime(clock).map_or(0, |now| now.num_nanoseconds());
    u64::try_from(now).unwrap_or(0)
}

const READINGS: u32 = 10_000;
/// Longer than the ten milliseconds of the slowest timer tick, as fast as a clock is read.
const MOST_READINGS: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_of_a_clock_is_found_also_where_it_moves_seldom() {
        let mut reading = 0_u64;
        let coarse = || {
            reading += 1;
            reading / 25_000 * 4_000_000
        };
        assert_eq!(step_of(coarse), Some(4_000_000));
        assert_eq!(step_of(|| 7), None);
        assert!(step_ns().is_some_and(|step| step > 0));
    }

    /// A clock that steps by four thousand and is read in twenty-five: the one is not the other.
    #[test]
    fn the_cost_of_reading_a_clock_is_not_its_step() {
        let mut reading = 0_u64;
        let coarse = || {
            reading += 1;
            reading * 25 / 4_000 * 4_000
        };
        assert!(cost_of(coarse).is_some_and(|cost| (24.0..26.0).contains(&cost)));
        assert_eq!(cost_of(|| 7), None);
        assert!(read_ns().is_some_and(|cost| cost > 0.0));
    }

    #[test]
    fn the_monotonic_clock_never_goes_back() {
        let readings: Vec<u64> = (0..1000).map(|_| monotonic_ns()).collect();
        assert!(readings.is_sorted());
        assert!(readings[0] > 0);
    }

    #[test]
    fn a_wait_never_ends_before_its_deadline() {
        for wait in [sleep_until, spin_until, |deadline| wait_until(deadline, 60_000)] {
            let deadline = monotonic_ns() + 300_000;
            wait(deadline);
            assert!(monotonic_ns() >= deadline);
        }
    }

    #[test]
    fn a_deadline_in_the_past_does_not_wait() {
        let sleeps = || crate::cpu::ThreadUse::now().voluntary_switches;
        let waits = || {
            let before = sleeps();
            wait_until(1, 60_000);
            sleeps() > before
        };
        // The kernel may put any thread to sleep now and then, for a page that it has to fetch.
        assert!((0..100).any(|_| !waits()));
    }
}
