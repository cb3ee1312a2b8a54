//! One thread per side that watches the data threads: it ends their window, reads the counters of those
//! that stand still, and ends them where they would never end by themselves.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::units::Nanos;

use super::Amount;
use super::Terms;
use super::end::Part;
use super::end::Shared;
use super::series::PERIOD;
use crate::lineup::Lineup;
use crate::standstill::Standstill;
use crate::time::now;

/// The watch over one end.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) shared: Arc<Shared>,
    pub(super) part: Part,
}

/// How long the ends of one side may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// When a sender starts no further message, after its own start.
    window: Option<Nanos>,
    /// When an end is given up, after its own start.
    cap: Nanos,
    /// When an end that never started is given up, after the watch began.
    start: Nanos,
}

/// What ended the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Cancelled,
    Natural,
    Overdue,
}

impl Limits {
    /// The limits of `terms`; `grace` is how much later than the other side this one gives up.
    pub(super) fn new(terms: &Terms, grace: Nanos) -> Self {
        let window = match terms.amount {
            Amount::Messages(_) => None,
            Amount::Window(window) => Some(window),
        };
        Self { window, cap: terms.cap.saturating_add(grace), start: START_LIMIT }
    }
}

impl Watch {
    pub(super) fn new(shared: &Arc<Shared>, part: Part) -> Self {
        Self { shared: Arc::clone(shared), part }
    }

    /// When the cue of this end is due.
    fn cue_at(&self, limits: &Limits) -> Option<Nanos> {
        let window = limits.window.filter(|_| !self.shared.cue.is_given())?;
        let begun = match self.part {
            Part::Reader => self.shared.first()?,
            Part::Writer => self.shared.started()?,
        };
        let early = match self.part {
            // A reader has to look at the clock before the sender has stopped.
            Part::Reader => Nanos::new((window.count() / 50).min(1_000_000)),
            Part::Writer => Nanos::ZERO,
        };
        Some(begun.saturating_add(window.since(early)))
    }

    /// When to look at this end again: once its cue is due or, as long as it has not begun, early enough to
    /// know that it has before its window is over.
    fn look_at(&self, limits: &Limits, now: Nanos) -> Option<Nanos> {
        let window = limits.window.filter(|_| !self.shared.cue.is_given())?;
        let soon = || now.saturating_add(Nanos::new(window.count() / 4).max(SOONEST));
        Some(self.cue_at(limits).unwrap_or_else(soon))
    }

    /// When this end is given up.
    fn given_up_at(&self, limits: &Limits, since: Nanos) -> Nanos {
        let started = self.shared.started().map(|started| started.saturating_add(limits.cap));
        started.unwrap_or(since.saturating_add(limits.start))
    }
}

/// What a supervisor saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    pub(super) ending: Ending,
    /// By how much it overslept at the most, but for what it waited for a CPU: for so long the process stood still.
    pub(super) stood_still: Nanos,
}

/// Watches until all threads are done. Allocates nothing.
pub(super) fn watch(
    watches: &[Watch],
    lineup: &Lineup,
    limits: &Limits,
    cancel: &AtomicBool,
) -> Watched {
    let (since, mut still) = (now(), Standstill::of_this_thread());
    let (mut next, mut ending) = (since.saturating_add(ROUND), Ending::Natural);
    let mut now = since;
    loop {
        let wake = next_event(watches, limits, [since, now], ending).min(next);
        let done = lineup.wait_done(watches.len(), wake);
        now = crate::time::now();
        still.woke(now.since(wake));
        if done {
            return Watched { ending, stood_still: still.longest() };
        }
        if now >= next {
            let standing = watches.iter().filter(|watch| watch.shared.check(now)).count();
            next = following(next, now, if standing > 0 { PERIOD } else { ROUND });
        }
        give_cues(watches, limits, now);
        if ending == Ending::Natural {
            ending = end_overdue(watches, limits, cancel, [since, now]);
        }
    }
}

/// The earliest thing to do besides sampling.
fn next_event(
    watches: &[Watch],
    limits: &Limits,
    [since, now]: [Nanos; 2],
    ending: Ending,
) -> Nanos {
    let cues = watches.iter().filter_map(|watch| watch.look_at(limits, now));
    let ends = watches.iter().map(|watch| watch.given_up_at(limits, since));
    let ends = ends.filter(|_| ending == Ending::Natural);
    cues.chain(ends).min().unwrap_or(Nanos::MAX)
}

fn give_cues(watches: &[Watch], limits: &Limits, now: Nanos) {
    for watch in watches {
        if watch.cue_at(limits).is_some_and(|due| due <= now) {
            watch.shared.cue.give();
        }
    }
}

/// Ends every connection of this side once one of them is overdue, or the run is not wanted any more.
fn end_overdue(
    watches: &[Watch],
    limits: &Limits,
    cancel: &AtomicBool,
    [since, now]: [Nanos; 2],
) -> Ending {
    let overdue = watches.iter().any(|watch| watch.given_up_at(limits, since) <= now);
    let ending = match (cancel.load(Relaxed), overdue) {
        (true, _) => Ending::Cancelled,
        (false, true) => Ending::Overdue,
        (false, false) => return Ending::Natural,
    };
    for watch in watches {
        watch.shared.connection.abort();
    }
    ending
}

/// The next point of the absolute schedule after `now`: missed points are not made up for.
fn following(last: Nanos, now: Nanos, period: Nanos) -> Nanos {
    let missed = now.since(last).count() / period.count();
    last.saturating_add(period * (missed + 1))
}

/// Time between two looks at threads that make progress: each look takes the CPU from one of them.
const ROUND: Nanos = Nanos::from_millis(100);

/// How soon an end that has not begun is looked at again at the soonest.
const SOONEST: Nanos = Nanos::from_millis(1);

/// How long a connection may stand without a start: longer than any lead-in.
const START_LIMIT: Nanos = Nanos::from_secs(60);

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::net::TcpListener;
    use std::time::Duration;

    use btu_sys::socket::Settings;

    use super::*;
    use crate::transport::Tcp;
    use crate::transport::Transport;

    /// Windows may be shorter than a round: whoever slept through one would end it with the round.
    #[test]
    fn an_end_that_has_not_begun_is_looked_at_before_its_window_can_be_over() {
        let at = |ms| Nanos::from_millis(ms);
        let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (address, sockets) = (door.local_addr().unwrap(), Settings::default());
        let connection = Tcp.connect(address, &sockets, Duration::from_secs(10)).unwrap();
        let watches = [Watch::new(&Shared::new(connection), Part::Writer)];
        let limits = Limits { window: Some(at(60)), cap: at(300), start: START_LIMIT };
        let next = |now| next_event(&watches, &limits, [at(1), now], Ending::Natural);
        assert_eq!((next(at(1)), next(at(21))), (at(16), at(36)));
        watches[0].shared.mark_start(at(30).count());
        assert_eq!(next(at(36)), at(90), "the end of its window");
        watches[0].shared.cue.give();
        assert_eq!(next(at(90)), at(330), "the cap");
    }

    #[test]
    fn the_schedule_is_absolute() {
        let at = |ms| Nanos::from_millis(ms);
        assert_eq!(following(at(10), at(10), at(10)), at(20));
        assert_eq!(following(at(10), at(19), at(10)), at(20));
        assert_eq!(following(at(10), at(47), at(10)), at(50));
        assert_eq!(following(at(50), at(51), at(100)), at(150));
    }
}
