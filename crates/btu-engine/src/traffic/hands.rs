//! The threads that carry data. One that panics or does not start is a fault like any other, and nobody
//! waits for what it owes.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;
use std::thread;
use std::thread::Scope;
use std::thread::ScopedJoinHandle;

use crate::error::EngineError;
use crate::threads;

/// A thread, or why there is none.
pub type Started<'scope, T> = Result<ScopedJoinHandle<'scope, Result<T, EngineError>>, EngineError>;

/// What the thread `name` comes to. It ends with this, and all that it shares with others are atomics:
/// nobody finds anything half done.
pub(super) fn caught<T>(
    name: &str,
    work: impl FnOnce() -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let ended = catch_unwind(AssertUnwindSafe(work));
    ended.unwrap_or_else(|said| Err(EngineError::panicked(name, &*said)))
}

/// Starts a thread; `name` shows in `ps -T`, cut to 15 bytes.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &'static str,
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'scope,
) -> Started<'scope, T> {
    threads::start_in(scope, name, move || caught(name, work))
}

/// True where nothing is to be waited for.
pub fn is_over<T>(thread: &Started<'_, T>) -> bool {
    thread.as_ref().map_or(true, ScopedJoinHandle::is_finished)
}

/// What it came to.
pub fn join<T>(thread: Started<'_, T>) -> Result<T, EngineError> {
    thread?.join().unwrap_or_else(|said| Err(EngineError::panicked("of traffic", &*said)))
}

/// Two ends at once, each in a thread of its own: the one that asks, until what it is given says that the
/// other has failed, and the one that answers, until `over` says that the first has ended, however it did.
pub(super) fn both<A: Send, B: Send>(
    over: &AtomicBool,
    ask: impl FnOnce(&AtomicBool) -> Result<A, EngineError> + Send,
    answer: impl FnOnce() -> Result<B, EngineError> + Send,
) -> Result<(A, B), EngineError> {
    let is_alone = &AtomicBool::new(false);
    let (asked, answered) = thread::scope(|scope| {
        let leave = |_: &EngineError| is_alone.store(true, Relaxed);
        let answer = move || caught("traffic-answer", answer).inspect_err(leave);
        let answering = start(scope, "traffic-answer", answer).inspect_err(leave);
        let asked = join(start(scope, "traffic-ask", || ask(is_alone)));
        // Whoever sees it sees all that the first did, too.
        over.store(true, Release);
        (asked, join(answering))
    });
    Ok((asked?, answered?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::wait_until;

    fn told<T>(ended: Result<T, EngineError>) -> Result<T, String> {
        ended.map_err(|cause| cause.sentence())
    }

    #[test]
    fn a_panic_is_a_fault_with_the_name_of_its_thread_and_what_it_said() {
        let panicked = |what: &str| Err(format!("thread one panicked: {what}"));
        assert_eq!(told(caught("one", || Ok(7))), Ok(7));
        assert_eq!(told(caught::<u8>("one", || panic!("no {}", 7))), panicked("no 7"));
        assert_eq!(told(caught::<u8>("one", || panic!("no"))), panicked("no"));
        let other = || std::panic::panic_any(7_u8);
        assert_eq!(told(caught::<u8>("one", other)), panicked("no word of why"));
        let refused = || Err::<u8, _>(EngineError::Refused("never".to_owned()));
        assert_eq!(told(caught("one", refused)), Err("never".to_owned()));
    }

    /// What both ends come to, which may wait for each other for ever.
    fn told_in_time<A, B>(
        ask: fn(&AtomicBool) -> Result<A, EngineError>,
        answer: fn(&AtomicBool) -> Result<B, EngineError>,
    ) -> Result<(A, B), String>
    where
        A: Send + 'static,
        B: Send + 'static,
    {
        let working = thread::spawn(move || {
            let over = AtomicBool::new(false);
            told(both(&over, ask, || answer(&over)))
        });
        wait_until("both ends ended", || working.is_finished());
        working.join().unwrap()
    }

    /// Works until the other end is gone.
    #[expect(clippy::unnecessary_wraps, reason = "an end may fail")]
    fn until(is_gone: &AtomicBool) -> Result<u8, EngineError> {
        while !is_gone.load(Relaxed) {
            thread::yield_now();
        }
        Ok(7)
    }

    #[test]
    fn whoever_asks_is_not_waited_for_once_it_panicked() {
        assert_eq!(told_in_time(|_| Ok(8), until), Ok((8, 7)));
        let ask = |_: &AtomicBool| -> Result<u8, EngineError> { panic!("nothing to ask") };
        let wanted = "thread traffic-ask panicked: nothing to ask".to_owned();
        assert_eq!(told_in_time(ask, until), Err(wanted));
    }

    #[test]
    fn whoever_answers_is_not_asked_any_more_once_it_panicked() {
        let answer = |_: &AtomicBool| -> Result<u8, EngineError> { panic!("no answer") };
        let wanted = "thread traffic-answer panicked: no answer".to_owned();
        assert_eq!(told_in_time(until, answer), Err(wanted));
    }
}
