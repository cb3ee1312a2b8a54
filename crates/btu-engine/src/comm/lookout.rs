//! When a data thread looks up: about once a millisecond, between two calls, whatever a call takes.

use btu_core::units::Nanos;

/// The lookout of one data thread, from one look at the clock to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lookout {
    /// The last look; nothing before the first.
    last: Option<Look>,
    /// The call after which the next look is planned.
    planned: u64,
    /// Calls that were made when it was found without a look for long; nothing since its last look.
    found: Option<u64>,
    longest_pause: Option<Nanos>,
}

/// One look at the clock.
#[derive(Clone, Copy, Debug)]
struct Look {
    at: Nanos,
    calls: u64,
}

impl Lookout {
    /// The run begins: what goes by until the first call returns is a pause too.
    pub(super) fn begin(&mut self, at: Nanos) {
        self.last = Some(Look { at, calls: 0 });
    }

    /// The look at `now`, after this many calls; returns the call after which to look again.
    pub(super) fn look(&mut self, now: Nanos, calls: u64) -> u64 {
        let last = self.last.replace(Look { at: now, calls });
        self.found = None;
        let (gap, made) =
            last.map_or((Nanos::ZERO, 1), |last| (now.since(last.at), calls - last.calls));
        self.longest_pause = self.longest_pause.max(self.pause(gap, calls, made));
        self.planned = calls + next_stretch(gap, made);
        self.planned
    }

    /// The longest time in which no call returned, to a millisecond; nothing before the first look.
    pub(super) fn longest_pause(&self) -> Option<Nanos> {
        self.longest_pause
    }

    /// Time since the last look; zero before the first.
    pub(super) fn quiet_for(&self, now: Nanos) -> Nanos {
        self.last.map_or(Nanos::ZERO, |last| now.since(last.at))
    }

    /// Somebody finds it without a look for long, after this many calls. True where it has made calls
    /// since it was last found so: it has become slow. One that stands still keeps its plan, which
    /// tells afterwards how long it stood; that of a slow one says nothing of a pause any more.
    pub(super) fn is_slow(&mut self, calls: u64) -> bool {
        let is_slow = self.found.replace(calls).is_some_and(|found| found != calls);
        if is_slow {
            self.planned = u64::MAX;
        }
        is_slow
    }

    /// What a gap between two looks says about a pause. One call that took it all was one; several
    /// take a stretch without any. A look that was asked for earlier than planned may come from calls
    /// that have become slow, of which nobody knows the longest.
    fn pause(&self, gap: Nanos, calls: u64, made: u64) -> Option<Nanos> {
        match made {
            0 | 1 => Some(gap),
            _ if calls >= self.planned => Some(gap.since(STRETCH)),
            _ => None,
        }
    }
}

/// Calls until the next look: as many as take a stretch at this rate, and at most twice as many as
/// last time, since the first calls fill buffers and are faster than those that follow.
fn next_stretch(gap: Nanos, made: u64) -> u64 {
    let at_this_rate = made.saturating_mul(STRETCH.count()) / gap.count().max(1);
    at_this_rate.clamp(1, made.saturating_mul(2).max(1))
}

/// How long a thread goes on without a look.
const STRETCH: Nanos = Nanos::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks of a thread whose calls return at these times, and how many calls it made.
    fn looks_of(calls: impl IntoIterator<Item = Nanos>) -> (Lookout, u64) {
        let (mut lookout, mut due, mut looks) = (Lookout::default(), 0, 0);
        lookout.begin(Nanos::ZERO);
        for (number, at) in (1..).zip(calls) {
            if number >= due {
                due = lookout.look(at, number);
                looks += 1;
            }
        }
        (lookout, looks)
    }

    /// Calls that take these times, one after the other.
    fn one_after_the_other(times: impl IntoIterator<Item = u64>) -> impl Iterator<Item = Nanos> {
        times.into_iter().scan(0, |clock, time| {
            *clock += time;
            Some(Nanos::new(*clock))
        })
    }

    #[test]
    fn a_thread_looks_up_once_a_millisecond_whatever_a_call_takes() {
        for call_ns in [300, 10_000, 200_000] {
            let calls = (0..1_000_000_000 / call_ns).map(|_| call_ns);
            let (_, looks) = looks_of(one_after_the_other(calls));
            assert!((900..1_100).contains(&looks), "{looks} looks with calls of {call_ns} ns");
        }
        let (_, looks) = looks_of(one_after_the_other([5_000_000; 40]));
        assert_eq!(looks, 40, "a call that takes longer is followed by a look each");
    }

    #[test]
    fn a_call_that_stands_still_among_fast_ones_is_a_pause_to_a_millisecond() {
        let with = |stall: u64| {
            let calls = (0..50_000).map(|i| if i == 30_000 { stall } else { 400 });
            looks_of(one_after_the_other(calls)).0.longest_pause().unwrap().millis()
        };
        assert!(with(400) < 1.0);
        assert!((79.0..=81.0).contains(&with(80_000_000)), "{}", with(80_000_000));
    }

    #[test]
    fn slow_calls_are_pauses_of_their_own_length() {
        let (lookout, _) = looks_of(one_after_the_other([3_000_000, 45_000_000, 7_000_000]));
        assert_eq!(lookout.longest_pause(), Some(Nanos::from_millis(45)));
        assert_eq!(Lookout::default().longest_pause(), None);
    }

    #[test]
    fn a_look_that_was_asked_for_among_many_calls_claims_no_pause() {
        let mut lookout = Lookout::default();
        lookout.begin(Nanos::ZERO);
        assert_eq!(lookout.look(Nanos::from_millis(1), 1_000), 2_000);
        let next = lookout.look(Nanos::from_millis(120), 1_010);
        assert_eq!(lookout.longest_pause(), Some(Nanos::ZERO));
        assert_eq!(next, 1_011, "ten calls in a tenth of a second: the next is looked at");
    }

    #[test]
    fn a_pause_is_as_long_however_often_it_was_found() {
        let mut lookout = Lookout::default();
        lookout.begin(Nanos::ZERO);
        let planned = lookout.look(Nanos::from_millis(1), 1_000);
        assert!(!lookout.is_slow(1_500), "found for the first time");
        assert!(!lookout.is_slow(1_500), "it stands still");
        let planned = lookout.look(Nanos::from_millis(106), planned);
        assert_eq!(lookout.longest_pause(), Some(Nanos::from_millis(104)));
        assert!(!lookout.is_slow(planned), "what was found before its last look is forgotten");
        assert!(lookout.is_slow(planned + 1), "it goes on, and has not looked up");
        lookout.look(Nanos::from_millis(400), planned + 3);
        assert_eq!(
            lookout.longest_pause(),
            Some(Nanos::from_millis(104)),
            "slow calls are no pause"
        );
    }

    #[test]
    fn silence_is_counted_from_the_last_look() {
        let mut lookout = Lookout::default();
        assert_eq!(lookout.quiet_for(Nanos::from_millis(50)), Nanos::ZERO);
        lookout.begin(Nanos::from_millis(10));
        assert_eq!(lookout.quiet_for(Nanos::from_millis(50)), Nanos::from_millis(40));
    }
}
