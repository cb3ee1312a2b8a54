//! The table in which a thread finds its open files.
//!
//! Threads of a process share one, so each of their calls counts the file that it works on up and down, with two atomic
//! operations, lest another thread close it meanwhile. A table that only one thread has needs none of that: a call of a thread in
//! a process of its own is cheaper than the same call of one among many (`fdget`, fs/file.c).

use std::io;
use std::marker::PhantomData;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;

use crate::error::Error;
use crate::error::Result;

/// A table of open files that the calling thread shares with no other, for the rest of its life.
///
/// In it are standard input, output and error, what was kept, and what the thread opens from now on; once this is dropped, only
/// the first three. Whatever else the thread had at hand it must neither use nor drop any more: the number means
/// nothing there, or another file. In all other threads everything stays as it was.
#[derive(Debug)]
pub struct OwnTable {
    /// It is of no use to another thread.
    _here: PhantomData<*const ()>,
}

impl OwnTable {
    /// Takes one that keeps a single file of those that the process has open.
    ///
    /// # Errors
    /// What the kernel said; before Linux 5.9 that there is no such call. The table is the common one then, with all files.
    pub fn keeping(kept: &impl AsFd) -> Result<Self> {
        let refused = |cause| Error::new("take a table of open files", cause);
        let kept = kept.as_fd().as_raw_fd().cast_unsigned();
        // What is closed here stays open elsewhere, and what is not closed here would stay open although all others close it:
        // whoever waits for the end of its stream would wait for this thread.
        close(kept.saturating_add(1).max(FIRST), u32::MAX, libc::CLOSE_RANGE_UNSHARE)
            .map_err(refused)?;
        if kept > FIRST {
            close(FIRST, kept - 1, 0).map_err(refused)?;
        }
        Ok(Self { _here: PhantomData })
    }
}

impl Drop for OwnTable {
    /// Now, and not some time after the thread was joined: the kernel tells of its end before it closes its files.
    fn drop(&mut self) {
        // Fails for a range that is none; this is one.
        let _ = close(FIRST, u32::MAX, 0);
    }
}

/// Closes all files from `first` to `last`, where there are any.
fn close(first: u32, last: u32, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: the kernel takes numbers only. Every caller has, or makes with this very call, a table that no other
    // thread has, so that no file of theirs is closed.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The first after standard input, output and error.
const FIRST: u32 = 3;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Which of these the calling thread has open.
    fn open_of(numbers: [u32; 2]) -> [bool; 2] {
        numbers.map(|number| fs::read_link(format!("/proc/thread-self/fd/{number}")).is_ok())
    }

    fn number(file: &impl AsFd) -> u32 {
        file.as_fd().as_raw_fd().cast_unsigned()
    }

    /// Two ends that nobody waits at for ever.
    fn pair() -> (UnixStream, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        let patience = Some(Duration::from_secs(20));
        near.set_read_timeout(patience).unwrap();
        far.set_read_timeout(patience).unwrap();
        (near, far)
    }

    /// Whether there is such a table on this machine.
    fn exists() -> bool {
        thread::spawn(|| OwnTable::keeping(&io::stdin()).is_ok()).join().unwrap()
    }

    #[test]
    fn a_thread_keeps_one_file_then_none_and_the_process_all() {
        if !exists() {
            skip!("kernel lacks: close_range");
        }
        for kept_first in [false, true] {
            let (one, another) = pair();
            let (kept, other) = if kept_first { (&one, &another) } else { (&another, &one) };
            let both = [number(kept), number(other)];
            let seen = thread::scope(|scope| {
                let work = move || {
                    let own = OwnTable::keeping(kept).unwrap();
                    let during = open_of(both);
                    drop(own);
                    [during, open_of(both)]
                };
                scope.spawn(work).join().unwrap()
            });
            assert_eq!(seen, [[true, false], [false, false]]);
            assert_eq!(open_of(both), [true, true]);
        }
    }

    #[test]
    fn a_stream_ends_when_all_others_close_it() {
        if !exists() {
            skip!("kernel lacks: close_range");
        }
        let ((mut kept, mut its_far), (other, mut others_far)) = (pair(), pair());
        let (tell, told) = mpsc::channel();
        let waiting = thread::spawn(move || {
            let _own = OwnTable::keeping(&kept).unwrap();
            tell.send(()).unwrap();
            let heard = kept.read(&mut [0]).unwrap();
            // It is the process's to close.
            std::mem::forget(kept);
            heard
        });
        told.recv().unwrap();
        drop(other);
        assert_eq!(others_far.read(&mut [0]).unwrap(), 0);
        its_far.write_all(b".").unwrap();
        assert_eq!(waiting.join().unwrap(), 1);
    }
}
