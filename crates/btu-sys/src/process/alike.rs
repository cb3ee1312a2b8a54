//! Processes that execute the same words, wherever they are among all processes.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::error::Error;
use crate::error::Result;

/// All processes that execute these words: the program and its arguments, one of which no other process has.
///
/// Launchers of other software start ranks in groups and sessions of their own, or ask a daemon for them: no group and no
/// parent tells them all.
#[derive(Clone, Debug)]
pub struct Alike {
    /// As `/proc/PID/cmdline` holds them: a zero behind each.
    words: Vec<u8>,
}

impl Alike {
    /// Those that execute these words.
    pub fn of(words: &[OsString]) -> Self {
        let ended = |word: &OsString| [word.as_bytes(), &[0]].concat();
        Self { words: words.iter().flat_map(ended).collect() }
    }

    /// Asks all of them to end.
    pub fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    /// Ends all of them.
    pub fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    /// Their numbers; one that has ended and that nobody waited for is not among them.
    pub fn numbers(&self) -> Vec<i32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter(|number| self.is_executed_by(*number)).collect()
    }

    fn is_executed_by(&self, number: i32) -> bool {
        fs::read(format!("/proc/{number}/cmdline")).is_ok_and(|words| words == self.words)
    }

    fn signal(&self, signal: Signal) {
        for number in self.numbers() {
            // One that is gone by now needs no signal.
            let _ = nix::sys::signal::kill(Pid::from_raw(number), signal);
        }
    }
}

/// Ends a group of processes whose leader was not waited for yet.
pub fn kill_group(leader: u32) {
    if let Ok(leader) = i32::try_from(leader) {
        // A group that is gone needs no signal.
        let _ = nix::sys::signal::killpg(Pid::from_raw(leader), Signal::SIGKILL);
    }
}

/// From now on `SIGTERM` sets the flag, and does not end this process.
pub fn note_termination(flag: &Arc<AtomicBool>) -> Result<()> {
    let noted = signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(flag));
    noted.map(drop).map_err(|cause| Error::new("listen for SIGTERM", cause))
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::process::Stdio;

    use super::*;
    use crate::patience::wait_until;

    #[test]
    fn processes_are_found_by_their_words_and_ended() {
        let script = format!("read line # {}", std::process::id());
        let words = ["sh", "-c", &format!("{script} alike")].map(OsString::from);
        let other = ["sh", "-c", &script].map(OsString::from);
        let start = |words: &[OsString]| {
            Command::new(&words[0]).args(&words[1..]).stdin(Stdio::piped()).spawn().unwrap()
        };
        let (mut one, mut another, mut stranger) = (start(&words), start(&words), start(&other));
        let alike = Alike::of(&words);
        wait_until("both are there", || alike.numbers().len() == 2);
        alike.kill();
        one.wait().unwrap();
        another.wait().unwrap();
        assert_eq!((alike.numbers(), stranger.try_wait().unwrap()), (Vec::new(), None));
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}
