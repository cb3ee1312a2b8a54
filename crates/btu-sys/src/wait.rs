//! Waiting for descriptors with a time-out in nanoseconds, and waking a waiting thread.

mod ready;

use std::io;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use nix::sys::epoll::Epoll;
use nix::sys::epoll::EpollCreateFlags;
use nix::sys::epoll::EpollEvent;
use nix::sys::epoll::EpollFlags;
use nix::sys::eventfd::EfdFlags;
use nix::sys::eventfd::EventFd;

use crate::Error;
use crate::Result;

pub use ready::Ready;

/// A set of descriptors to wait for.
#[derive(Debug)]
pub struct Waiter {
    epoll: Epoll,
}

/// Wakes the thread that waits for it; clones wake the same one.
#[derive(Clone, Debug)]
pub struct Waker {
    event: Arc<EventFd>,
}

impl Waiter {
    /// An empty set.
    pub fn new() -> Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC);
        Ok(Self { epoll: epoll.map_err(|cause| Error::new("create an epoll set", cause))? })
    }

    /// Adds a descriptor: a wait ends while there is something to read from it.
    pub fn add(&self, source: &impl AsFd) -> Result<()> {
        self.epoll
            .add(source, EpollEvent::new(EpollFlags::EPOLLIN, 0))
            .map_err(|cause| Error::new("add to an epoll set", cause))
    }

    /// Waits until a descriptor is readable, a signal came, or `timeout_ns` passed; for ever
    /// without a time-out. True where something is readable.
    pub fn wait(&self, timeout_ns: Option<u64>) -> io::Result<bool> {
        let mut event = [libc::epoll_event { events: 0, u64: 0 }];
        wait(&self.epoll, &mut event, timeout_ns).map(|ready| ready > 0)
    }
}

/// Waits as precisely as this kernel can. Gives how many events were written: none where a signal came.
fn wait(
    epoll: &Epoll,
    events: &mut [libc::epoll_event],
    timeout_ns: Option<u64>,
) -> io::Result<usize> {
    let found = match precise_wait(epoll, events, timeout_ns) {
        Err(cause) if cause.raw_os_error() == Some(libc::ENOSYS) => {
            coarse_wait(epoll, events, timeout_ns)
        }
        found => found,
    };
    match found {
        Err(cause) if cause.kind() == io::ErrorKind::Interrupted => Ok(0),
        found => found,
    }
}

/// Kernels before 5.11: whole milliseconds, rounded down, so that the caller is early, never late. Not `epoll_wait`,
/// which a confined process may not call.
fn coarse_wait(
    epoll: &Epoll,
    events: &mut [libc::epoll_event],
    timeout_ns: Option<u64>,
) -> io::Result<usize> {
    let millis = |span: u64| libc::c_int::try_from(span / 1_000_000).unwrap_or(libc::c_int::MAX);
    let timeout = timeout_ns.map_or(-1, millis);
    let room = libc::c_int::try_from(events.len()).unwrap_or(libc::c_int::MAX);
    let (fd, events) = (epoll.0.as_raw_fd(), events.as_mut_ptr());
    // SAFETY: room for `room` events, and no signal mask.
    let ready = unsafe { libc::epoll_pwait(fd, events, room, timeout, std::ptr::null()) };
    usize::try_from(ready).map_err(|_| io::Error::last_os_error())
}

/// `epoll_pwait2`, which knows nanoseconds (since Linux 5.11). Gives how many events were written.
fn precise_wait(
    epoll: &Epoll,
    events: &mut [libc::epoll_event],
    timeout_ns: Option<u64>,
) -> io::Result<usize> {
    const SECOND: u64 = 1_000_000_000;
    let timeout = timeout_ns.map(|span| libc::timespec {
        tv_sec: i64::try_from(span / SECOND).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(span % SECOND).unwrap_or_default(),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let room = libc::c_int::try_from(events.len()).unwrap_or(libc::c_int::MAX);
    let (fd, events) = (epoll.0.as_raw_fd(), events.as_mut_ptr());
    let (no_mask, mask_size) = (std::ptr::null::<libc::sigset_t>(), 8_usize);
    // SAFETY: room for `room` events, a live time-out or none, and no signal mask.
    let ready = unsafe {
        libc::syscall(libc::SYS_epoll_pwait2, fd, events, room, timeout, no_mask, mask_size)
    };
    usize::try_from(ready).map_err(|_| io::Error::last_os_error())
}

impl Waker {
    /// Something to add to a [`Waiter`].
    pub fn new() -> Result<Self> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let event = EventFd::from_value_and_flags(0, flags)
            .map_err(|cause| Error::new("create an eventfd", cause))?;
        Ok(Self { event: Arc::new(event) })
    }

    /// Ends the wait that runs, or the next one.
    pub fn wake(&self) {
        // The counter can only be full if nobody ever waits; then nobody needs to be woken.
        let _ = self.event.write(1);
    }

    /// Makes the next wait wait again.
    pub fn clear(&self) {
        let _ = self.event.read();
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beset::beset;
    use crate::clock::monotonic_ns;

    #[test]
    fn a_signal_ends_a_wait_early_and_is_no_error() {
        let ended = beset(|| Waiter::new().unwrap().wait(Some(60_000_000_000)));
        assert!(!ended.unwrap());
    }

    #[test]
    fn a_signal_ends_a_wait_of_older_kernels_early() {
        let epoll = Waiter::new().unwrap().epoll;
        let mut events = [libc::epoll_event { events: 0, u64: 0 }];
        let ended = beset(move || coarse_wait(&epoll, &mut events, Some(60_000_000_000)));
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::Interrupted);
    }

    #[test]
    fn a_wait_of_older_kernels_finds_what_is_ready_and_is_never_late() {
        let (waiter, waker) = (Waiter::new().unwrap(), Waker::new().unwrap());
        waiter.add(&waker).unwrap();
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
        assert_eq!(coarse_wait(&waiter.epoll, &mut events, Some(999_999)).unwrap(), 0);
        waker.wake();
        assert_eq!(coarse_wait(&waiter.epoll, &mut events, None).unwrap(), 1);
    }

    #[test]
    fn a_time_out_is_kept_to_the_nanosecond_from_below() {
        let waiter = Waiter::new().unwrap();
        let start = monotonic_ns();
        assert!(!waiter.wait(Some(1_500_000)).unwrap());
        assert!(monotonic_ns() >= start + 1_500_000);
    }

    #[test]
    fn a_waker_ends_waits_until_it_is_cleared() {
        let (waiter, waker) = (Waiter::new().unwrap(), Waker::new().unwrap());
        waiter.add(&waker).unwrap();
        let other = waker.clone();
        std::thread::spawn(move || other.wake()).join().unwrap();
        assert!(waiter.wait(None).unwrap());
        assert!(waiter.wait(Some(0)).unwrap());
        waker.clear();
        assert!(!waiter.wait(Some(0)).unwrap());
    }
}
