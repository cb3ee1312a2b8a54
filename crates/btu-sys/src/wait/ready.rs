//! Which of many sockets are ready, each known by a number.

use std::fmt;
use std::io;
use std::os::fd::AsFd;

use nix::sys::epoll::Epoll;
use nix::sys::epoll::EpollCreateFlags;
use nix::sys::epoll::EpollEvent;
use nix::sys::epoll::EpollFlags;

use crate::Error;
use crate::Result;

/// A set of sockets, each with a number. Allocates nothing after it was made.
pub struct Ready {
    epoll: Epoll,
    events: Vec<libc::epoll_event>,
    found: usize,
}

impl Ready {
    /// An empty set that tells of at most `room` sockets at a time.
    pub fn new(room: usize) -> Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC);
        let epoll = epoll.map_err(|cause| Error::new("create an epoll set", cause))?;
        let events = vec![libc::epoll_event { events: 0, u64: 0 }; room.max(1)];
        Ok(Self { epoll, events, found: 0 })
    }

    /// Adds a socket that counts as ready while there is something to read from it.
    pub fn add_reader(&self, source: &impl AsFd, number: u64) -> Result<()> {
        let event = EpollEvent::new(EpollFlags::EPOLLIN, number);
        self.epoll.add(source, event).map_err(|cause| Error::new("add to an epoll set", cause))
    }

    /// Adds a socket that counts as ready once after each [`Ready::await_room`].
    pub fn add_writer(&self, source: &impl AsFd, number: u64) -> Result<()> {
        let event = EpollEvent::new(EpollFlags::EPOLLONESHOT, number);
        self.epoll.add(source, event).map_err(|cause| Error::new("add to an epoll set", cause))
    }

    /// Tells once when a writer has room again, or has failed.
    pub fn await_room(&self, source: &impl AsFd, number: u64) -> Result<()> {
        self.watch(source, EpollEvent::new(EpollFlags::EPOLLOUT | EpollFlags::EPOLLONESHOT, number))
    }

    /// A reader counts as ready while it has room, too.
    pub fn await_room_too(&self, source: &impl AsFd, number: u64) -> Result<()> {
        self.watch(source, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT, number))
    }

    /// A reader counts as ready while there is something to read, and no more while it has room.
    pub fn only_read(&self, source: &impl AsFd, number: u64) -> Result<()> {
        self.watch(source, EpollEvent::new(EpollFlags::EPOLLIN, number))
    }

    /// A socket counts as ready no more, until something of it is asked for again.
    pub fn rest(&self, source: &impl AsFd, number: u64) -> Result<()> {
        self.watch(source, EpollEvent::new(EpollFlags::EPOLLONESHOT, number))
    }

    fn watch(&self, source: &impl AsFd, mut event: EpollEvent) -> Result<()> {
        let changed = self.epoll.modify(source, &mut event);
        changed.map_err(|cause| Error::new("change an epoll set", cause))
    }

    /// Takes a socket out.
    pub fn remove(&self, source: &impl AsFd) -> Result<()> {
        self.epoll.delete(source).map_err(|cause| Error::new("take from an epoll set", cause))
    }

    /// Waits until a socket is ready or `timeout_ns` passed, for ever without a time-out. A signal ends
    /// the wait with nothing ready.
    pub fn wait(&mut self, timeout_ns: Option<u64>) -> io::Result<()> {
        self.found = 0;
        self.found = super::wait(&self.epoll, &mut self.events, timeout_ns)?;
        Ok(())
    }

    /// How many sockets the last wait found.
    pub fn len(&self) -> usize {
        self.found
    }

    /// True where the last wait found none.
    pub fn is_empty(&self) -> bool {
        self.found == 0
    }

    /// Whether one of them has room, or has failed.
    pub fn has_room(&self, place: usize) -> bool {
        let room = libc::EPOLLOUT | libc::EPOLLERR | libc::EPOLLHUP;
        let events = self.events[place].events;
        events & room.cast_unsigned() != 0
    }

    /// The number of one of them.
    pub fn number(&self, place: usize) -> u64 {
        self.events[place].u64
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Ready").field("found", &self.found).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_reader_is_ready_while_something_is_there() {
        let (near, far) = UnixStream::pair().unwrap();
        let mut ready = Ready::new(4).unwrap();
        ready.add_reader(&far, 7).unwrap();
        ready.wait(Some(0)).unwrap();
        assert!(ready.is_empty());
        crate::socket::send(near.as_fd(), b"x").unwrap();
        for _ in 0..2 {
            ready.wait(None).unwrap();
            assert_eq!((ready.len(), ready.number(0)), (1, 7));
        }
        ready.remove(&far).unwrap();
        ready.wait(Some(0)).unwrap();
        assert!(ready.is_empty());
    }

    #[test]
    fn a_reader_tells_of_room_as_long_as_it_is_asked_to() {
        let (near, _far) = UnixStream::pair().unwrap();
        let mut ready = Ready::new(4).unwrap();
        ready.add_reader(&near, 3).unwrap();
        ready.await_room_too(&near, 3).unwrap();
        for _ in 0..2 {
            ready.wait(None).unwrap();
            assert_eq!((ready.len(), ready.number(0)), (1, 3));
        }
        ready.only_read(&near, 3).unwrap();
        ready.wait(Some(0)).unwrap();
        assert!(ready.is_empty());
    }

    #[test]
    fn a_reader_with_room_is_told_from_one_to_which_something_came() {
        let (near, far) = UnixStream::pair().unwrap();
        let mut ready = Ready::new(4).unwrap();
        ready.add_reader(&near, 3).unwrap();
        crate::socket::send(far.as_fd(), b"x").unwrap();
        ready.wait(None).unwrap();
        assert!(ready.len() == 1 && !ready.has_room(0));
        ready.await_room_too(&near, 3).unwrap();
        ready.wait(None).unwrap();
        assert!(ready.len() == 1 && ready.has_room(0));
        ready.rest(&near, 3).unwrap();
        ready.wait(Some(0)).unwrap();
        assert!(ready.is_empty());
        ready.only_read(&near, 3).unwrap();
        ready.wait(None).unwrap();
        assert!(ready.len() == 1 && !ready.has_room(0));
    }

    #[test]
    fn a_writer_is_ready_once_for_each_time_that_it_waits_for_room() {
        let (near, _far) = UnixStream::pair().unwrap();
        let mut ready = Ready::new(4).unwrap();
        ready.add_writer(&near, 9).unwrap();
        ready.wait(Some(0)).unwrap();
        assert!(ready.is_empty());
        ready.await_room(&near, 9).unwrap();
        ready.wait(None).unwrap();
        assert_eq!((ready.len(), ready.number(0)), (1, 9));
        ready.wait(Some(0)).unwrap();
        assert!(ready.is_empty());
    }
}
