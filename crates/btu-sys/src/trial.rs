//! Facilities tried once and given back at once, to know whether this machine grants them.
//!
//! Permissions, limits, kernel configuration and container filters all have a say; only the call
//! itself knows the answer.

use std::ffi::CString;
use std::io;
use std::os::fd::FromRawFd;
use std::os::fd::OwnedFd;
use std::thread;

use crate::Error;
use crate::Result;
use crate::cpu;

/// What a thread asks for that goes first ([`cpu::go_first`]), by one that ends at once.
pub fn realtime_priority() -> Result<()> {
    let tried = thread::Builder::new().spawn(cpu::go_first);
    let tried = tried.map_err(|cause| Error::new("start a thread", cause))?.join();
    tried.unwrap_or_else(|_| {
        let cause = io::Error::other("the thread that tried it panicked");
        Err(Error::new("run before ordinary threads", cause))
    })
}

/// Bounds on files that a process sets itself (Landlock).
pub fn landlock() -> io::Result<()> {
    crate::process::landlock::version().map(drop)
}

/// A filter of system calls (seccomp).
pub fn seccomp() -> io::Result<()> {
    crate::process::seccomp::available()
}

/// An `io_uring` of two entries.
pub fn io_uring() -> io::Result<()> {
    // `struct io_uring_params` is 120 bytes; the kernel fills it in.
    let mut parameters = [0_u64; 15];
    // SAFETY: the kernel reads and writes 120 bytes, which outlive the call.
    let made = unsafe { libc::syscall(libc::SYS_io_uring_setup, 2, parameters.as_mut_ptr()) };
    descriptor(made).map(drop)
}

/// Whether a file may be opened for reading and writing.
pub fn read_write(path: &str) -> io::Result<()> {
    let path = CString::new(path)?;
    nix::unistd::access(
        path.as_c_str(),
        nix::unistd::AccessFlags::R_OK | nix::unistd::AccessFlags::W_OK,
    )?;
    Ok(())
}

/// The descriptor that a call returned, or its error.
fn descriptor(returned: libc::c_long) -> io::Result<OwnedFd> {
    match i32::try_from(returned) {
        Ok(descriptor) if descriptor >= 0 => {
            // SAFETY: the kernel has just returned it, and nobody else knows it.
            Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
        }
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is granted differs by machine; that an answer comes, and nothing stays, does not.
    #[test]
    fn a_trial_leaves_no_descriptor_behind() {
        let open = || std::fs::read_dir("/proc/thread-self/fd").unwrap().count();
        // Other tests of this process open files at the same time.
        let settled = (0..100).any(|_| {
            let before = open();
            for trial in [io_uring, landlock, seccomp] {
                let _ = trial();
            }
            open() == before
        });
        assert!(settled);
    }

    #[test]
    fn a_refusal_carries_the_kernels_number() {
        let refused = read_write("/nowhere").unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::ENOENT));
    }
}
