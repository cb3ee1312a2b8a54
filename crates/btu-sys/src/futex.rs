//! Sleeping on a word of memory, and waking whoever does.

use std::sync::atomic::AtomicU32;

/// Sleeps while the word holds `value`: until it is woken, a signal came, or `longest_ns` passed; for ever without one.
///
/// Any end is fine: who sleeps looks again.
pub(crate) fn sleep(word: &AtomicU32, value: u32, longest_ns: Option<u64>) {
    const SECOND: u64 = 1_000_000_000;
    let longest = longest_ns.map(|span| libc::timespec {
        tv_sec: libc::time_t::try_from(span / SECOND).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::try_from(span % SECOND).unwrap_or_default(),
    });
    let longest = longest.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the time, where there is one, are live for the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, longest) };
}

/// Wakes all who sleep on the word.
pub(crate) fn wake_all(word: &AtomicU32) {
    let all = i32::MAX;
    // SAFETY: the word is live for the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, all) };
}
