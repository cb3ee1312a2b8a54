//! What a user should know of this host before anything is measured on it, and not after.

use std::fs;
use std::io;

use btu_core::words::several;
use btu_engine::control_group::Read;

use crate::doctor;
use crate::output;

/// Says on stderr what holds back every figure of this host.
pub(crate) fn tell_of_this_host() {
    let read = |path: &str| fs::read_to_string(path);
    for note in notes(&read, cpus()) {
        output::message(&note);
    }
}

/// How many CPUs this process may use; where nobody knows, enough.
pub(crate) fn cpus() -> u32 {
    let allowed = btu_sys::cpu::allowed().ok();
    allowed.and_then(|cpus| u32::try_from(cpus.len()).ok()).unwrap_or(u32::MAX)
}

fn notes(read: Read<'_>, cpus: u32) -> Vec<String> {
    [busy(read("/proc/loadavg"), cpus), limited(read, cpus)].into_iter().flatten().collect()
}

/// What others may still do on this machine, by the text of `/proc/loadavg` (proc(5)).
fn busy(loadavg: io::Result<String>, cpus: u32) -> Option<String> {
    let load: f64 = loadavg.ok()?.split(' ').next()?.parse().ok()?;
    doctor::is_busy(load, cpus).then(|| {
        let cpus = several(cpus, "CPU");
        format!(
            "note: the load of the last minute was {load:.2} on {cpus}: what other programs still do is in every \
             figure; end them, or wait a minute"
        )
    })
}

/// What a quota does that is smaller than the CPUs.
fn limited(read: Read<'_>, cpus: u32) -> Option<String> {
    let quota = doctor::quota(read).filter(|quota| *quota < f64::from(cpus))?;
    let [cause, remedy] = doctor::STOPPED;
    Some(format!(
        "note: a CPU quota of {quota:.2} on {}: {cause}, and that is in every figure; {remedy}",
        several(cpus, "CPU")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a host with two CPUs and these files.
    fn told(loadavg: &str, cpu_max: &str) -> Vec<String> {
        let read = |path: &str| match path {
            "/proc/loadavg" => Ok(loadavg.to_owned()),
            "/proc/self/mountinfo" => {
                Ok("30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n".to_owned())
            }
            "/proc/self/cgroup" => Ok("0::/\n".to_owned()),
            "/sys/fs/cgroup/cpu.max" => Ok(cpu_max.to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        notes(&read, 2)
    }

    /// One note and no other, with this beginning.
    fn begins_alone(told_of: &[String], beginning: &str) {
        let begins = told_of.iter().map(|note| note.starts_with(beginning));
        assert_eq!(begins.collect::<Vec<_>>(), [true], "{told_of:?}");
    }

    #[test]
    fn the_work_of_others_is_told_before_anything_is_measured() {
        let told_of = told("2.75 1.00 0.50 9/100 4242\n", "max 100000\n");
        begins_alone(&told_of, "note: the load of the last minute was 2.75 on 2 CPUs: ");
        assert_eq!(told("0.50 1.00 0.50 9/100 4242\n", "max 100000\n"), [""; 0]);
        assert_eq!(told("", ""), [""; 0]);
    }

    #[test]
    fn a_quota_is_told_where_it_is_less_than_the_cpus() {
        let told_of = told("0.10 0.10 0.10 1/100 4242\n", "150000 100000\n");
        begins_alone(&told_of, "note: a CPU quota of 1.50 on 2 CPUs: the control group");
        assert!(told_of[0].ends_with("CPUQuota= (systemd)"), "{told_of:?}");
        assert_eq!(told("0.10 0.10 0.10 1/100 4242\n", "200000 100000\n"), [""; 0]);
    }
}
