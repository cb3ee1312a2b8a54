//! Facilities tried once and given back at once, to know whether this machine grants them.
//!
//! Permissions, limits, kernel configuration and container filters all have a say; only the call
//! itself knows the answer.

use std::ffi::CString;
use std::io;
use std::os::fd::FromRawFd;
use std::os::fd::OwnedFd;
use std::thread;

use nix::sys::mman::MlockAllFlags;

/// `SCHED_FIFO` at the lowest priority, for a thread that ends at once.
pub fn realtime_priority() -> io::Result<()> {
    thread::Builder::new()
        .spawn(become_realtime)?
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the thread that tried it panicked")))
}

/// All memory of the process kept in RAM.
pub fn locked_memory() -> io::Result<()> {
    nix::sys::mman::mlockall(MlockAllFlags::MCL_CURRENT)?;
    nix::sys::mman::munlockall()?;
    Ok(())
}

/// A BPF program of two instructions (`return 0`), loaded for traffic control.
pub fn bpf_program() -> io::Result<()> {
    const RETURN_ZERO: [u64; 2] = [0xb7, 0x95];
    const LICENCE: &[u8; 4] = b"GPL\0";
    // `union bpf_attr` of BPF_PROG_LOAD: type, count, instructions, licence, and zeros.
    let mut attributes = [0_u64; 16];
    attributes[0] = BPF_PROG_TYPE_SCHED_CLS | (2 << 32);
    attributes[1] = RETURN_ZERO.as_ptr() as u64;
    attributes[2] = LICENCE.as_ptr() as u64;
    let size = size_of_val(&attributes);
    // SAFETY: the kernel reads `size` bytes and the two arrays they point to; all outlive the call.
    let loaded = unsafe { libc::syscall(libc::SYS_bpf, BPF_PROG_LOAD, attributes.as_ptr(), size) };
    descriptor(loaded).map(drop)
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

/// A socket of the family `AF_XDP`.
pub fn xdp_socket() -> io::Result<()> {
    // SAFETY: takes numbers only.
    let made = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    descriptor(made.into()).map(drop)
}

/// A hardware counter (CPU cycles in user space) of the calling thread.
pub fn hardware_counter() -> io::Result<()> {
    // `struct perf_event_attr`, version 0: type HARDWARE and size, then config CYCLES (both 0 but
    // the size); flags exclude_kernel and exclude_hv.
    let mut attributes = [0_u64; 8];
    attributes[0] = 64 << 32;
    attributes[5] = (1 << 5) | (1 << 6);
    let (this_thread, any_cpu, no_group, flags) = (0, -1, -1, 0);
    // SAFETY: the kernel reads the 64 bytes that the size field says; they outlive the call.
    let opened = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            attributes.as_ptr(),
            this_thread,
            any_cpu,
            no_group,
            flags,
        )
    };
    descriptor(opened).map(drop)
}

/// A TUN device in the network namespace of the calling thread.
pub fn tun_device() -> io::Result<()> {
    crate::tun::open("").map(drop)
}

/// A rule of nftables that counts packets, in the network namespace of the calling thread. It
/// stays there: use a namespace that nobody needs.
pub fn packet_counter() -> io::Result<()> {
    crate::nftables::count_packets()
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

fn become_realtime() -> io::Result<()> {
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel reads one `sched_param`, which outlives the call.
    let changed = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const lowest) };
    if changed < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
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

/// `linux/bpf.h`
const BPF_PROG_LOAD: libc::c_int = 5;
const BPF_PROG_TYPE_SCHED_CLS: u64 = 3;

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
            let trials = [io_uring, xdp_socket, hardware_counter, bpf_program, tun_device];
            for trial in trials {
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
