//! CPU time of other processes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nix::time::ClockId;
use nix::unistd::Pid;
use nix::unistd::getpgid;

use crate::clock;

/// CPU time of every other process that this one can see, in nanoseconds, threads that ended included, by
/// process number.
///
/// The account is the scheduler's own. Threads of the kernel are left out: they work for whoever asked them to.
/// Empty where `/proc` is not that of this process.
#[must_use]
pub fn cpu_of_others() -> BTreeMap<i32, u64> {
    let own = Pid::this();
    let seen_as = fs::read_link("/proc/self").ok();
    if seen_as.as_deref() != Some(Path::new(&own.to_string())) {
        return BTreeMap::new();
    }
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others = numbers.map(Pid::from_raw).filter(|pid| *pid != own && is_of_users(*pid));
    others.filter_map(|pid| Some((pid.as_raw(), cpu_ns(pid)?))).collect()
}

/// False for a thread of the kernel: they are in no group of processes. Nor is an init that asked for none.
fn is_of_users(pid: Pid) -> bool {
    let is_init = pid.as_raw() == 1;
    is_init || getpgid(Some(pid)).is_ok_and(|group| group.as_raw() != 0)
}

/// `None` for a process that is gone by now.
fn cpu_ns(pid: Pid) -> Option<u64> {
    let clock: ClockId = nix::time::clock_getcpuclockid(pid).ok()?;
    Some(clock::now_ns(clock))
}

#[cfg(test)]
mod tests {
    use std::process::Child;
    use std::process::Command;

    use super::*;
    use crate::patience::wait_until;

    struct Busy(Child);

    impl Drop for Busy {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn what_another_process_takes_is_seen_and_neither_this_one_nor_the_kernel() {
        let busy = Busy(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap());
        let pid = i32::try_from(busy.0.id()).unwrap();
        wait_until("what the busy process takes", || {
            cpu_of_others().get(&pid).is_some_and(|took| *took >= 20_000_000)
        });
        let all = cpu_of_others();
        assert!(!all.contains_key(&Pid::this().as_raw()));
        let is_kernel = |pid: &&i32| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            name.starts_with("ksoftirqd/")
        };
        assert_eq!(all.keys().find(is_kernel), None);
    }
}
