//! What this process was given as its standard output.
//!
//! The runtime of Rust puts /dev/null in the place of a standard stream that is closed (`rust-lang/rust`,
//! `library/std/src/sys/pal/unix/mod.rs`, `sanitize_standard_fds`), so that no file gets its number. After
//! that every write works, and nobody reads it: what is closed must be seen before.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use libc::c_int;

/// True where whoever started this process gave it no standard output.
pub fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(Relaxed)
}

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// The C library calls what this section points to before `main`.
// SAFETY: the section holds pointers to functions of this ABI (System V gABI, "Initialization and
// Termination Functions"), and `look` needs nothing of the runtime.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    STDOUT_WAS_CLOSED.store(!is_open(libc::STDOUT_FILENO), Relaxed);
}

fn is_open(descriptor: c_int) -> bool {
    // SAFETY: the call reads no memory of this process, and leaves a descriptor that is none alone.
    unsafe { libc::fcntl(descriptor, libc::F_GETFD) != -1 }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn what_is_open_is_told_from_what_is_not() {
        let file = File::open("/dev/null").unwrap();
        assert!(is_open(file.as_raw_fd()) && !is_open(-1) && !is_open(c_int::MAX));
    }
}
