//! Giving the terminal back to whom it belonged.

use std::fs::File;
use std::fs::OpenOptions;

use nix::sys::signal::SigSet;
use nix::sys::signal::SigmaskHow;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// The claim of our process group on the terminal's foreground.
///
/// A command shares our process group, so keys of the terminal reach it directly and pipelines stay
/// one job. An interactive shell inside makes itself the foreground, and when it ends it cannot give
/// that back: our group has no number in its PID namespace.
#[derive(Debug)]
pub struct Foreground {
    terminal: File,
    group: Pid,
}

impl Foreground {
    /// The claim, if the process has a controlling terminal and runs in its foreground.
    pub fn of_this_process() -> Option<Self> {
        let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        let group = nix::unistd::getpgrp();
        let claimed = nix::unistd::tcgetpgrp(&terminal) == Ok(group);
        claimed.then_some(Self { terminal, group })
    }

    /// Makes our process group the foreground again, if another took its place.
    pub fn restore(&self) {
        if nix::unistd::tcgetpgrp(&self.terminal) == Ok(self.group) {
            return;
        }
        // A background process that calls tcsetpgrp is stopped by SIGTTOU unless it is blocked.
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTTOU);
        let before = blocked.thread_swap_mask(SigmaskHow::SIG_BLOCK);
        // Refused only where the terminal is gone, and then there is nothing to restore.
        let _ = nix::unistd::tcsetpgrp(&self.terminal, self.group);
        if let Ok(before) = before {
            let _ = before.thread_set_mask();
        }
    }
}
