//! A thread that signals keep interrupting, for tests.

use std::os::unix::thread::JoinHandleExt;
use std::thread;

use nix::sys::signal::SaFlags;
use nix::sys::signal::SigAction;
use nix::sys::signal::SigHandler;
use nix::sys::signal::SigSet;
use nix::sys::signal::Signal;
use nix::sys::signal::sigaction;

/// What `work` gives while one signal after the other comes, each of which ends a call that sleeps.
pub(crate) fn beset<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let handler = SigHandler::Handler(nothing);
    let action = SigAction::new(handler, SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler does nothing, which any thread may do at any time.
    unsafe { sigaction(Signal::SIGUSR1, &action) }.unwrap();
    let thread = thread::spawn(work);
    while !thread.is_finished() {
        // SAFETY: the thread was not joined, so its name is still good.
        unsafe { libc::pthread_kill(thread.as_pthread_t(), libc::SIGUSR1) };
        thread::yield_now();
    }
    thread.join().unwrap()
}

extern "C" fn nothing(_: libc::c_int) {}
