//! Signals read as data instead of interrupting.

use std::io;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;

use nix::sys::signal::SigSet;
use nix::sys::signal::Signal;
use nix::sys::signalfd::SfdFlags;
use nix::sys::signalfd::SignalFd;

/// The signals that a wrapper passes on to its command.
const FORWARDED: [Signal; 7] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGWINCH,
];

/// True where this process ignores a signal, as one that `nohup` started does SIGHUP.
pub fn ignores(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    u32::try_from(signal).is_ok_and(|number| is_ignored(&status, number))
}

/// A bit for each signal, that of the first one the lowest (`proc_pid_status(5)`).
fn is_ignored(status: &str, signal: u32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = signal.checked_sub(1).and_then(|place| 1_u64.checked_shl(place));
    mask.zip(bit).is_some_and(|(mask, bit)| mask & bit != 0)
}

/// A queue of the signals HUP, INT, QUIT, TERM, USR1, USR2, WINCH sent to this process.
#[derive(Debug)]
pub struct SignalQueue {
    queue: SignalFd,
}

/// One signal from the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Its number.
    pub signal: i32,
    /// Who sent it.
    pub origin: Origin,
}

/// Who sent a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The kernel: a key of the terminal, a window size, a hang-up. It went to the whole foreground
    /// process group, so a command in our group has it already.
    Kernel,
    /// A process, to us alone as far as we can know.
    Process,
}

impl SignalQueue {
    /// Blocks the signals in the calling thread, and in threads that it starts later, and queues
    /// them here instead. Call it while there is one thread.
    pub fn open() -> io::Result<Self> {
        let set: SigSet = FORWARDED.into_iter().collect();
        set.thread_block()?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        Ok(Self { queue: SignalFd::with_flags(&set, flags)? })
    }

    /// The next signal, if one has arrived.
    pub fn next(&self) -> io::Result<Option<Arrived>> {
        Ok(self.queue.read_signal()?.map(|raw| Arrived {
            signal: raw.ssi_signo.cast_signed(),
            origin: if raw.ssi_code == SI_KERNEL { Origin::Kernel } else { Origin::Process },
        }))
    }
}

impl AsFd for SignalQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }
}

/// `asm-generic/siginfo.h`
const SI_KERNEL: i32 = 0x80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_signal_is_a_bit_of_its_mask() {
        // What a shell has that ran `trap '' HUP`, beside the SIGPIPE (13) of every program in Rust.
        let status = "Name:\tbtu\nSigBlk:\t0000000000000003\nSigIgn:\t0000000000001001\n";
        let ignored: Vec<u32> = (0..70).filter(|signal| is_ignored(status, *signal)).collect();
        assert_eq!(ignored, [1, 13]);
        assert!(!is_ignored("", 1));
        assert!(ignores(libc::SIGPIPE) && !ignores(libc::SIGSEGV) && !ignores(-1));
    }
}
