//! Clocks, timers, CPUs and priorities: how exactly packets can be released.

use crate::doctor::finding::Check;
use crate::doctor::finding::Finding;
use crate::doctor::finding::Serves;
use crate::doctor::machine::Attempt;
use crate::run::shared_emulator;
use btu_engine::control_group::ControlGroups;
use btu_engine::control_group::Read;

pub(super) static CLOCK_SOURCE: Check = Check {
    name: "clock-source",
    title: "clock source",
    serves: Serves::Verbs(&["link", "pingpong", "run", "traffic"]),
    needed: false,
    ask: |machine| {
        let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        match machine.file(path) {
            Ok(text) => judge_clock_source(text.trim()),
            Err(cause) => {
                Finding::limited("unknown", format!("read {path}: {cause}"), "mount sysfs on /sys")
            }
        }
    },
};

pub(super) static TIMERS: Check = Check {
    name: "timers",
    title: "wake-up after 1 ms of sleep",
    serves: Serves::Verbs(&["link", "pingpong", "run", "traffic"]),
    needed: false,
    ask: |machine| match machine.wake_ups() {
        Err(cause) => {
            Finding::missing("no timer", cause.to_string(), "report it with the kernel's version")
        }
        Ok(late) => {
            let us = |ns: u64| ns.div_ceil(1000);
            let (p50, p99, max) = (us(late.p50), us(late.p99), us(late.max));
            let found = format!("late by {p50} us p50, {p99} us p99, {max} us max");
            if late.p99 <= LATE_P99_NS {
                return Finding::ok(found);
            }
            Finding::limited(
                found,
                "other work, a slow timer or a stolen virtual CPU delays wake-ups",
                "end other programs; on a virtual machine ask for dedicated CPUs",
            )
        }
    },
};

pub(super) static CPUS: Check = Check {
    name: "cpus",
    title: "CPUs this process may use",
    serves: Serves::Verbs(&["link", "pingpong", "run", "traffic"]),
    needed: false,
    ask: |machine| match machine.cpus() {
        0 | 1 => Finding::limited(
            "1",
            "test, black boxes and emulator share one CPU: a measurement measures them all",
            "use a machine or container with 2 CPUs or more; widen the CPU set (taskset, cpuset)",
        ),
        count => match shared_emulator(count) {
            Some([cause, remedy]) => Finding::limited(
                format!("{count}: the emulator sleeps (--wait sleep)"),
                cause,
                remedy,
            ),
            None => Finding::ok(format!("{count}: the emulator has its own (--wait hybrid)")),
        },
    },
};

pub(super) static CPU_QUOTA: Check = Check {
    name: "cpu-quota",
    title: "CPU quota of the control group",
    serves: Serves::Verbs(&["link", "pingpong", "run", "traffic"]),
    needed: false,
    ask: |machine| match quota(&|path| machine.file(path)) {
        None => Finding::ok("none"),
        Some(share) => Finding::limited(format!("{share:.2} CPUs"), STOPPED[0], STOPPED[1]),
    },
};

pub(super) static REALTIME: Check = Check {
    name: "realtime",
    title: "real-time priority (SCHED_FIFO) for senders of btu traffic",
    serves: Serves::Verbs(&["traffic"]),
    needed: false,
    ask: |machine| match machine.attempt(Attempt::Realtime) {
        Ok(()) => Finding::ok("allowed"),
        Err(cause) => Finding::limited(
            "not allowed: blocks of btu traffic may leave late while the host works",
            format!("sched_setattr: {cause}; RLIMIT_RTPRIO is 0 for ordinary users"),
            "start as root, or give your user \"rtprio 50\" in /etc/security/limits.conf",
        ),
    },
};

fn judge_clock_source(name: &str) -> Finding {
    if FAST_SOURCES.contains(&name) {
        return Finding::ok(name);
    }
    Finding::limited(
        name,
        "reading the time takes a system call and up to microseconds",
        "boot with clocksource=tsc; the kernel's log says why it left the tsc (`dmesg | grep -i tsc`)",
    )
}

/// The quota of the groups around this process, in CPUs; `None` where there is none.
pub(crate) fn quota(read: Read<'_>) -> Option<f64> {
    let groups = ControlGroups::with("cpu", read).ok()?;
    groups.quota(read).map(|quota| quota.cpus())
}

/// What a quota does, and what to do about it.
pub(crate) const STOPPED: [&str; 2] = [
    "the control group stops this process for the rest of each period once it is used up",
    "start it without --cpus (docker), limits.cpu (Kubernetes) or CPUQuota= (systemd)",
];

/// Clock sources that user space reads without entering the kernel.
const FAST_SOURCES: [&str; 5] =
    ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase"];
/// Beyond this the median cell is emulated late; measured guests have 40-300 us.
const LATE_P99_NS: u64 = 500_000;
