//! A process with everything that it started: its numbers, and the CPU time of each.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use nix::sys::time::TimeValLike;
use nix::unistd::Pid;
use nix::unistd::SysconfVar;
use nix::unistd::sysconf;

use crate::error::Error;
use crate::error::Result;

/// The process `first` and all that descend from it, by their numbers, those that ended and were not waited for
/// among them. One whose starter was waited for before it is nobody's descendant.
///
/// # Errors
/// There is no such process, or `/proc` cannot be read.
pub fn family(first: u32) -> Result<Vec<u32>> {
    let named = |cause| Error::new(format!("read /proc for process {first}"), cause);
    let starters = starters().map_err(named)?;
    if !starters.contains_key(&first) {
        return Err(named(io::ErrorKind::NotFound.into()));
    }
    let mut found = vec![first];
    let mut at = 0;
    while let Some(starter) = found.get(at).copied() {
        found.extend(starters.iter().filter(|(_, by)| **by == starter).map(|(own, _)| *own));
        at += 1;
    }
    Ok(found)
}

/// CPU time in ns of a process, by the scheduler's own clock of it (`clock_getcpuclockid(3)`): of all its threads, those
/// that ended among them. Children that it waited for are added by their ticks, which may lack 20 ms of each.
///
/// # Errors
/// The process is gone.
pub fn cpu_with_waited_for(process: u32) -> Result<u64> {
    let named = |cause: io::Error| Error::new(format!("read the CPU clock of {process}"), cause);
    let own = clock_of(process).map_err(named)?;
    let waited_for_ticks = Stat::of(process).map_err(named)?.waited_for_ticks;
    Ok(own + waited_for_ticks.saturating_mul(tick_ns()))
}

fn clock_of(process: u32) -> io::Result<u64> {
    let number = i32::try_from(process).map_err(|_| io::ErrorKind::NotFound)?;
    let clock = nix::time::clock_getcpuclockid(Pid::from_raw(number))?;
    let used = nix::time::clock_gettime(clock)?.num_nanoseconds();
    u64::try_from(used).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// What this file needs of `/proc/PID/stat` (`proc_pid_stat(5)`).
struct Stat {
    /// Field 4.
    starter: u32,
    /// Fields 16 and 17: user and system time of children that were waited for, theirs included.
    waited_for_ticks: u64,
}

impl Stat {
    fn of(process: u32) -> io::Result<Self> {
        let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
        Self::parse(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// The name, field 2, is in brackets, and may have others inside.
    fn parse(text: &str) -> Option<Self> {
        let (_, behind_name) = text.rsplit_once(')')?;
        let fields: Vec<&str> = behind_name.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        let ticks = |number| field(number)?.parse::<u64>().ok();
        let waited_for_ticks = ticks(16)?.checked_add(ticks(17)?)?;
        Some(Self { starter: field(4)?.parse().ok()?, waited_for_ticks })
    }
}

/// Every process by its number, with the number of the one that started it. The kernel's own list of children
/// (`/proc/PID/task/TID/children`) is an option that many kernels are built without.
fn starters() -> io::Result<BTreeMap<u32, u32>> {
    let entries = fs::read_dir("/proc")?.flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    // One that ended since the folder was read is no process any more.
    Ok(numbers.filter_map(|process| Some((process, Stat::of(process).ok()?.starter))).collect())
}

fn tick_ns() -> u64 {
    let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(USUAL_TICKS_PER_S);
    u64::try_from(per_second)
        .ok()
        .and_then(|ticks| 1_000_000_000_u64.checked_div(ticks))
        .unwrap_or(0)
}

/// `USER_HZ` of Linux on every architecture that this program is built for.
const USUAL_TICKS_PER_S: i64 = 100;

#[cfg(test)]
mod tests {
    use std::process::Child;
    use std::process::Command;

    use super::*;
    use crate::patience::wait_until;

    struct Started(Child);

    impl Started {
        fn shell(script: &str) -> Self {
            Self(Command::new("sh").args(["-c", script]).spawn().unwrap())
        }
    }

    impl Drop for Started {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_family_has_children_of_children_and_nobody_else() {
        // Each shell goes on to wait, and ends with the sleep that it waits for.
        let mut first = Started::shell("sh -c 'sleep 600 & wait'; true");
        wait_until("the third generation", || family(first.0.id()).unwrap().len() == 3);
        let all = family(first.0.id()).unwrap();
        assert!(!all.contains(&std::process::id()));
        assert!(family(std::process::id()).unwrap().contains(&all[2]));
        for one in all.iter().rev() {
            let pid = Pid::from_raw(i32::try_from(*one).unwrap());
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        }
        first.0.wait().unwrap();
        family(first.0.id()).unwrap_err();
    }

    #[test]
    fn a_process_has_the_time_of_children_that_it_waited_for() {
        let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
        let first = Started::shell(&format!("sh -c '{work}'; exec sleep 600"));
        let sleeper = format!("/proc/{}/comm", first.0.id());
        wait_until("the end of the child", || {
            fs::read_to_string(&sleeper).unwrap().starts_with("sleep")
        });
        let stat = Stat::of(first.0.id()).unwrap();
        let used = cpu_with_waited_for(first.0.id()).unwrap();
        assert!(stat.waited_for_ticks >= 1 && used >= stat.waited_for_ticks * tick_ns());
    }

    #[test]
    fn a_name_with_brackets_hides_no_field() {
        let text = "7 (a) b) S 3 7 7 0 -1 4 0 0 0 0 50 60 8 9 20 0 1 0 1";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.starter, stat.waited_for_ticks), (3, 17));
        assert!(Stat::parse("7 (a) S 3").is_none());
    }

    #[test]
    fn what_is_told_of_a_process_that_is_gone_names_it() {
        assert_eq!(
            cpu_with_waited_for(u32::MAX).unwrap_err().to_string(),
            format!("read the CPU clock of {}", u32::MAX)
        );
    }
}
