//! Every line of the doctor forced to fail: the right cause and the right remedy (check E13).

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io;

use btu_engine::activity::ACTIVITIES;
use btu_engine::pingpong::transport::TRANSPORTS;
use btu_sys::disk::FileSystem;
use btu_sys::errno::EACCES;
use btu_sys::errno::EAFNOSUPPORT;
use btu_sys::errno::ENOENT;
use btu_sys::errno::ENOMEM;
use btu_sys::errno::ENOSPC;
use btu_sys::errno::ENOSYS;
use btu_sys::errno::EOPNOTSUPP;
use btu_sys::errno::EPERM;
use btu_sys::errno::EROFS;

use btu_testbed::backend::BACKENDS;
use clap::CommandFactory;

use crate::cli::Cli;

use super::CHECKS;
use super::able;
use super::examine;
use super::finding::Check;
use super::finding::Finding;
use super::finding::Serves;
use super::finding::Status;
use super::machine::Arrival;
use super::machine::Attempt;
use super::machine::Calibration;
use super::machine::LinkProgram;
use super::machine::Machine;
use super::machine::WakeUps;
use super::text;

/// A machine that is what its description says.
struct Described {
    files: BTreeMap<&'static str, &'static str>,
    refused: Vec<(Attempt, i32)>,
    programs: Result<Vec<LinkProgram>, i32>,
    lacking: Option<(&'static str, &'static str)>,
    cpus: u32,
    directory: Result<FileSystem, i32>,
    wake_ups: Result<WakeUps, i32>,
    arrival: Result<Arrival, i32>,
    calibration: Result<Calibration, i32>,
}

impl Default for Described {
    /// A machine that has everything.
    fn default() -> Self {
        let files = BTreeMap::from([
            ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
            ("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("/proc/self/cgroup", "0::/\n"),
            ("/sys/fs/cgroup/cpu.max", "max 100000\n"),
            ("/proc/sys/kernel/osrelease", "6.18.44-cloud\n"),
            ("/proc/loadavg", "0.10 0.05 0.01 1/100 4242\n"),
            ("/proc/stat", "cpu  100 0 50 9000 0 0 10 0 0 0\n"),
            ("/proc/sys/net/ipv4/tcp_congestion_control", "cubic\n"),
            ("/proc/sys/net/core/default_qdisc", "fq_codel\n"),
            ("/proc/sys/net/core/rmem_max", "67108864\n"),
            ("/etc/resolv.conf", "nameserver 192.0.2.1\n"),
        ]);
        Self {
            files,
            refused: Vec::new(),
            programs: Ok(Vec::new()),
            lacking: None,
            cpus: 8,
            directory: Ok(FileSystem { in_memory: false, magic: 0xef53, free_bytes: 1 << 40 }),
            wake_ups: Ok(WakeUps { p50: 12_000, p99: 60_000, max: 300_000 }),
            arrival: Ok(Arrival {
                form: "ring".to_owned(),
                memory_bytes: 71_303_168,
                stamp_age_ns: 20_000,
            }),
            calibration: Ok(Calibration {
                backend: "relay/ring".to_owned(),
                floor_rtt_us: 30.0,
                error_1ms_us: [6.0, 30.0],
                error_5ms_us: [6.0, 30.0],
                bulk_bit_s: 12_000_000_000,
                counted: [10_000, 98, 98],
                unasked_loss: 0,
            }),
        }
    }
}

impl Described {
    fn refuse(&mut self, what: Attempt, errno: i32) {
        self.refused.push((what, errno));
    }

    fn calibrated(&mut self) -> &mut Calibration {
        self.calibration.as_mut().unwrap()
    }
}

impl Machine for Described {
    fn file(&self, path: &str) -> io::Result<String> {
        let found = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok((*found).to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name == "HOME").then(|| "/home/somebody".to_owned())
    }

    fn is_root(&self) -> bool {
        false
    }

    fn cpus(&self) -> u32 {
        self.cpus
    }

    fn directory(&self, _path: &str) -> io::Result<FileSystem> {
        self.directory.map_err(io::Error::from_raw_os_error)
    }

    fn attempt(&self, what: Attempt) -> io::Result<()> {
        match self.refused.iter().find(|(refused, _)| *refused == what) {
            Some((_, errno)) => Err(io::Error::from_raw_os_error(*errno)),
            None => Ok(()),
        }
    }

    fn xdp_programs(&self) -> io::Result<Vec<LinkProgram>> {
        self.programs.clone().map_err(io::Error::from_raw_os_error)
    }

    fn transports(&self) -> Vec<(&'static str, Result<(), String>)> {
        let lacking = self.lacking.map(|(name, reason)| (name, Err(reason.to_owned())));
        lacking.into_iter().chain([("tcp", Ok(()))]).collect()
    }

    fn wake_ups(&self) -> io::Result<WakeUps> {
        self.wake_ups.map_err(io::Error::from_raw_os_error)
    }

    fn arrival(&self) -> io::Result<Arrival> {
        self.arrival.clone().map_err(io::Error::from_raw_os_error)
    }

    fn calibration(&self) -> io::Result<Calibration> {
        self.calibration.clone().map_err(io::Error::from_raw_os_error)
    }
}

/// A line, what is taken from the machine, and what the line must say then.
struct Forced {
    check: &'static str,
    take: fn(&mut Described),
    status: Status,
    cause: &'static str,
    remedy: &'static str,
}

#[rustfmt::skip]
const FORCED: &[Forced] = &[
    Forced { check: "kernel", status: Status::Missing,
        take: |m| { m.files.insert("/proc/sys/kernel/osrelease", "4.19.0-27-amd64\n"); },
        cause: "since Linux 4.20", remedy: "update the kernel" },
    Forced { check: "kernel", status: Status::Limited,
        take: |m| { m.files.insert("/proc/sys/kernel/osrelease", "5.10.0\n"); },
        cause: "Linux 5.11", remedy: "update the kernel" },
    Forced { check: "namespaces", status: Status::Missing,
        take: |m| { m.refuse(Attempt::Namespaces, EACCES);
            m.files.insert("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"); },
        cause: "kernel.apparmor_restrict_unprivileged_userns=1", remedy: "AppArmor profile with \"userns,\"" },
    Forced { check: "namespaces", status: Status::Missing,
        take: |m| { m.refuse(Attempt::Namespaces, ENOSPC);
            m.files.insert("/proc/sys/user/max_user_namespaces", "0\n"); },
        cause: "user.max_user_namespaces=0", remedy: "sysctl user.max_user_namespaces=15000" },
    Forced { check: "namespaces", status: Status::Missing,
        take: |m| m.refuse(Attempt::Namespaces, ENOSPC),
        cause: "the limit on namespaces is reached", remedy: "outside of other namespaces" },
    Forced { check: "namespaces", status: Status::Missing,
        take: |m| { m.refuse(Attempt::Namespaces, EPERM);
            m.files.insert("/proc/sys/kernel/unprivileged_userns_clone", "0\n"); },
        cause: "kernel.unprivileged_userns_clone=0", remedy: "sysctl kernel.unprivileged_userns_clone=1" },
    Forced { check: "namespaces", status: Status::Missing,
        take: |m| { m.refuse(Attempt::Namespaces, EPERM);
            m.files.insert("/proc/thread-self/status", "Name:\tbtu\nSeccomp:\t2\n"); },
        cause: "a seccomp filter", remedy: "seccomp profile that allows unshare" },
    Forced { check: "namespaces", status: Status::Missing,
        take: |m| m.refuse(Attempt::Namespaces, EPERM),
        cause: "refused", remedy: "as root" },
    Forced { check: "namespaces", status: Status::Missing,
        take: |m| m.refuse(Attempt::Namespaces, ENOENT),
        cause: "/proc is not mounted", remedy: "mount -t proc proc /proc" },
    Forced { check: "namespaces", status: Status::Missing,
        take: |m| m.refuse(Attempt::Namespaces, EROFS),
        cause: "/proc is mounted read-only", remedy: "remount,rw /proc" },
    Forced { check: "containment", status: Status::Limited,
        take: |m| m.refuse(Attempt::FreshProc, ENOENT),
        cause: "/proc is not mounted", remedy: "mount -t proc proc /proc" },
    Forced { check: "containment", status: Status::Limited,
        take: |m| m.refuse(Attempt::FreshProc, EPERM),
        cause: "/proc are masked", remedy: "systempaths=unconfined" },
    Forced { check: "relay", status: Status::Missing,
        take: |m| m.calibration = Err(EROFS),
        cause: "Read-only file system", remedy: "make /proc/sys writable" },
    Forced { check: "relay", status: Status::Missing,
        take: |m| m.calibration = Err(ENOENT),
        cause: "No such file", remedy: "modprobe veth af_packet" },
    Forced { check: "relay", status: Status::Missing,
        take: |m| m.calibrated().counted = [10_000, 97, 98],
        cause: "not those of the pattern", remedy: "report it" },
    Forced { check: "relay", status: Status::Limited,
        take: |m| { m.calibrated().counted = [10_000, 140, 98]; m.calibrated().unasked_loss = 42; },
        cause: "42 packets were lost", remedy: "end other programs" },
    Forced { check: "receive-memory", status: Status::Limited,
        take: |m| m.arrival.as_mut().unwrap().memory_bytes = 425_984,
        cause: "neither a ring of 68 MiB nor a socket buffer of 64 MiB", remedy: "net.core.rmem_max=67108864" },
    Forced { check: "receive-memory", status: Status::Missing,
        take: |m| m.arrival = Err(ENOMEM),
        cause: "Cannot allocate memory", remedy: "namespaces" },
    Forced { check: "ping-pong", status: Status::Limited,
        take: |m| m.lacking = Some(("vsock", "no loopback of CID 1")),
        cause: "vsock: no loopback of CID 1", remedy: "btu pingpong all" },
    Forced { check: "stamps", status: Status::Limited,
        take: |m| m.arrival.as_mut().unwrap().stamp_age_ns = 3_600_000_000_000,
        cause: "wall clock was stepped", remedy: "chronyc tracking" },
    Forced { check: "delay-error", status: Status::Limited,
        take: |m| m.calibrated().error_5ms_us = [40.0, 900.0],
        cause: "not given its CPU in time", remedy: "more CPUs" },
    Forced { check: "delay-error", status: Status::Limited,
        take: |m| m.calibrated().error_1ms_us = [14.0, 19_038.0],
        cause: "not given its CPU in time", remedy: "more CPUs" },
    Forced { check: "clock-source", status: Status::Limited,
        take: |m| { m.files.insert("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"); },
        cause: "takes a system call", remedy: "clocksource=tsc" },
    Forced { check: "timers", status: Status::Limited,
        take: |m| m.wake_ups = Ok(WakeUps { p50: 60_000, p99: 4_000_000, max: 9_000_000 }),
        cause: "delays wake-ups", remedy: "dedicated CPUs" },
    Forced { check: "cpus", status: Status::Limited,
        take: |m| m.cpus = 1,
        cause: "share one CPU", remedy: "2 CPUs or more" },
    Forced { check: "cpus", status: Status::Limited,
        take: |m| m.cpus = 2,
        cause: "on 2 CPUs the emulator shares one", remedy: "4 CPUs or more" },
    Forced { check: "cpu-quota", status: Status::Limited,
        take: |m| { m.files.insert("/sys/fs/cgroup/cpu.max", "50000 100000\n"); },
        cause: "control group", remedy: "without --cpus" },
    Forced { check: "cpu-quota", status: Status::Limited,
        take: |m| {
            m.files.insert("/proc/self/mountinfo",
                "30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
            m.files.insert("/proc/self/cgroup", "1:cpu:/\n");
            m.files.insert("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
            m.files.insert("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"); },
        cause: "control group", remedy: "without --cpus" },
    Forced { check: "realtime", status: Status::Limited,
        take: |m| m.refuse(Attempt::Realtime, EPERM),
        cause: "RLIMIT_RTPRIO", remedy: "rtprio 50" },
    Forced { check: "netem", status: Status::Limited,
        take: |m| m.refuse(Attempt::Qdisc("netem"), ENOENT),
        cause: "no sch_netem", remedy: "modprobe sch_netem" },
    Forced { check: "netem", status: Status::Limited,
        take: |m| m.refuse(Attempt::Qdisc("netem"), EPERM),
        cause: "not allowed to try", remedy: "\"namespaces\"" },
    Forced { check: "af-xdp", status: Status::Limited,
        take: |m| m.refuse(Attempt::Xdp, EAFNOSUPPORT),
        cause: "the kernel has none", remedy: "CONFIG_XDP_SOCKETS" },
    Forced { check: "af-xdp", status: Status::Limited,
        take: |m| m.refuse(Attempt::Xdp, EPERM),
        cause: "CAP_BPF", remedy: "as root" },
    Forced { check: "xdp-programs", status: Status::Limited,
        take: |m| m.programs = Ok(vec![program("data", Some("btu_pingpong"))]),
        cause: "btu_pingpong is btu's", remedy: "bpftool link detach" },
    Forced { check: "xdp-programs", status: Status::Limited,
        take: |m| m.programs = Err(EPERM),
        cause: "list the links", remedy: "ip link" },
    Forced { check: "io-uring", status: Status::Limited,
        take: |m| { m.refuse(Attempt::IoUring, EPERM);
            m.files.insert("/proc/sys/kernel/io_uring_disabled", "2\n"); },
        cause: "io_uring_disabled=2", remedy: "sysctl kernel.io_uring_disabled=0" },
    Forced { check: "io-uring", status: Status::Limited,
        take: |m| { m.refuse(Attempt::IoUring, EPERM);
            m.files.insert("/proc/sys/kernel/io_uring_disabled", "0\n"); },
        cause: "seccomp", remedy: "allows io_uring_setup" },
    Forced { check: "io-uring", status: Status::Limited,
        take: |m| m.refuse(Attempt::IoUring, ENOSYS),
        cause: "the kernel has none", remedy: "CONFIG_IO_URING" },
    Forced { check: "landlock", status: Status::Limited,
        take: |m| m.refuse(Attempt::Landlock, EOPNOTSUPP),
        cause: "switched off at boot", remedy: "landlock to lsm=" },
    Forced { check: "landlock", status: Status::Limited,
        take: |m| m.refuse(Attempt::Landlock, ENOSYS),
        cause: "the kernel has none", remedy: "CONFIG_SECURITY_LANDLOCK" },
    Forced { check: "seccomp", status: Status::Limited,
        take: |m| m.refuse(Attempt::Seccomp, EPERM),
        cause: "a filter around this process", remedy: "profile allows seccomp" },
    Forced { check: "load", status: Status::Limited,
        take: |m| { m.files.insert("/proc/loadavg", "7.50 1.00 0.50 9/100 4242\n"); },
        cause: "other programs", remedy: "wait a minute" },
    Forced { check: "steal", status: Status::Limited,
        take: |m| { m.files.insert("/proc/stat", "cpu  100 0 50 700 0 0 10 140 0 0\n"); },
        cause: "other virtual machines", remedy: "dedicated CPUs" },
    Forced { check: "governor", status: Status::Limited,
        take: |m| { m.files.insert("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"); },
        cause: "clock rises", remedy: "cpupower frequency-set -g performance" },
    Forced { check: "congestion-control", status: Status::Limited,
        take: |m| { m.files.insert("/proc/sys/net/ipv4/tcp_congestion_control", "bbr\n"); },
        cause: "without fq", remedy: "default_qdisc=fq" },
    Forced { check: "congestion-control", status: Status::Limited,
        take: |m| { m.refuse(Attempt::Qdisc("fq"), ENOENT);
            m.files.insert("/proc/sys/net/ipv4/tcp_congestion_control", "bbr\n"); },
        cause: "without fq", remedy: "`sysctl net.ipv4.tcp_congestion_control=cubic`" },
    Forced { check: "rmem-max", status: Status::Limited,
        take: |m| { m.files.insert("/proc/sys/net/core/rmem_max", "212992\n"); },
        cause: "made for single packets", remedy: "sysctl net.core.rmem_max=67108864" },
    Forced { check: "io-directory", status: Status::Missing,
        take: |m| m.directory.as_mut().unwrap().in_memory = true,
        cause: "/var/tmp is in memory (tmpfs)", remedy: "--io-dir DIR" },
    Forced { check: "io-directory", status: Status::Missing,
        take: |m| m.directory.as_mut().unwrap().free_bytes = 5_000_000,
        cause: "/home/somebody has 5 MB free", remedy: "1 GB free" },
    Forced { check: "io-directory", status: Status::Missing,
        take: |m| m.directory = Err(EACCES),
        cause: "/var/tmp: Permission denied", remedy: "--io-dir DIR" },
    Forced { check: "resolver", status: Status::Limited,
        take: |m| { m.files.insert("/etc/resolv.conf", "nameserver 127.0.0.53\n"); },
        cause: "on the loopback", remedy: "names the far end" },
];

fn program(link: &str, name: Option<&str>) -> LinkProgram {
    LinkProgram { link: link.to_owned(), program: 12, name: name.map(str::to_owned) }
}

#[test]
fn a_program_of_others_is_named_and_no_fault() {
    for (name, wanted) in [
        (Some("cil_xdp_entry"), "eth0: cil_xdp_entry (number 12)"),
        (None, "eth0: of a name that only root may ask for (number 12)"),
    ] {
        let machine =
            Described { programs: Ok(vec![program("eth0", name)]), ..Described::default() };
        assert_eq!(*finding(&examine(&machine), "xdp-programs"), Finding::ok(wanted));
    }
}

fn finding<'a>(answers: &'a [super::Answer], name: &str) -> &'a Finding {
    let found = answers.iter().find(|(check, _)| check.name == name);
    &found.unwrap_or_else(|| panic!("no check {name}")).1
}

/// The limit is that of others, where root does without it.
#[test]
fn a_relay_that_has_its_socket_buffer_needs_no_larger_limit() {
    let mut machine = Described::default();
    machine.files.insert("/proc/sys/net/core/rmem_max", "212992\n");
    machine.calibrated().backend = "relay/recvmsg".to_owned();
    let wanted = "212992 bytes; the relay may go beyond it";
    assert_eq!(*finding(&examine(&machine), "rmem-max"), Finding::ok(wanted));
}

#[test]
fn a_machine_that_has_everything_is_well() {
    let answers = examine(&Described::default());
    for (check, finding) in &answers {
        assert_eq!(finding.status, Status::Ok, "{}: {finding:?}", check.name);
        assert_eq!((&finding.cause, &finding.remedy), (&None, &None), "{}", check.name);
    }
    assert!(able(&answers));
    assert!(text::render(&answers).ends_with("btu run and btu link work on this machine\n"));
}

#[test]
fn every_line_names_its_cause_and_its_remedy() {
    for forced in FORCED {
        let mut machine = Described::default();
        (forced.take)(&mut machine);
        let answers = examine(&machine);
        let finding = finding(&answers, forced.check);
        let (cause, remedy) = (finding.cause.as_deref(), finding.remedy.as_deref());
        assert_eq!(finding.status, forced.status, "{}: {finding:?}", forced.check);
        assert!(cause.is_some_and(|text| text.contains(forced.cause)), "{finding:?}");
        assert!(remedy.is_some_and(|text| text.contains(forced.remedy)), "{finding:?}");
        let shown = unbroken(&text::render(&answers));
        assert!(shown.contains(forced.cause) && shown.contains(forced.remedy), "{shown}");
    }
}

#[test]
fn without_namespaces_nothing_is_said_of_the_kernel_that_was_not_tried() {
    let mut machine = Described { calibration: Err(ENOENT), ..Described::default() };
    machine.arrival = Err(ENOENT);
    for what in [Attempt::Xdp, Attempt::Qdisc("netem"), Attempt::Namespaces] {
        machine.refuse(what, ENOENT);
    }
    for (check, finding) in examine(&machine) {
        let told = format!("{}: {finding:?}", check.name);
        assert!(!told.contains("modprobe") && !told.contains("the kernel has no"), "{told}");
        assert!(!told.contains("CONFIG_"), "{told}");
    }
}

#[test]
fn no_line_is_wider_than_a_terminal_but_for_words_that_are() {
    let mut machine = Described { cpus: 2, ..Described::default() };
    machine.refuse(Attempt::Qdisc("netem"), ENOENT);
    let shown = text::render(&examine(&machine));
    assert!(shown.contains("limited  qdisc netem"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn each_command_of_a_remedy_is_marked_and_stands_whole_on_one_line() {
    for forced in FORCED {
        let mut machine = Described::default();
        (forced.take)(&mut machine);
        let answers = examine(&machine);
        let shown = text::render(&answers);
        for (_, finding) in &answers {
            for (place, part) in finding.remedy.iter().flat_map(|said| said.split('`').enumerate())
            {
                let is_command = place % 2 == 1;
                let holds = |program: &&str| part.contains(program);
                assert!(is_command || !PROGRAMS.iter().any(holds), "{finding:?}");
                let is_glued = !is_command && place > 0 && part.starts_with([',', ';', '.', ':']);
                assert!(!is_glued, "{finding:?}");
                let is_whole = shown.lines().any(|line| line.contains(part));
                assert!(!is_command || is_whole, "{part} is broken in\n{shown}");
            }
        }
    }
}

/// How commands of remedies begin.
const PROGRAMS: [&str; 11] = [
    "--security-opt ",
    "bpftool ",
    "btu pingpong ",
    "btu run ",
    "chronyc ",
    "cpupower ",
    "dmesg",
    "ip link",
    "modprobe ",
    "mount -",
    "sysctl ",
];

#[test]
fn a_path_that_is_longer_than_its_line_is_not_cut() {
    let mut machine = Described::default();
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    machine.files.remove(path);
    let shown = text::render(&examine(&machine));
    assert!(shown.contains(path), "{shown}");
}

/// A text without its line breaks.
fn unbroken(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_line_is_forced_to_fail_and_names_are_unique() {
    let names: BTreeSet<&str> = CHECKS.iter().map(|check| check.name).collect();
    let forced: BTreeSet<&str> = FORCED.iter().map(|forced| forced.check).collect();
    assert_eq!(names, forced);
    assert_eq!(names.len(), CHECKS.len());
}

/// A line of what nothing needs has remedies that change nothing.
#[test]
fn every_line_is_for_something_that_this_program_has() {
    let program = Cli::command();
    for Check { name, serves, needed, .. } in CHECKS {
        let is_there = match serves {
            Serves::Activity(name) => ACTIVITIES.iter().any(|entry| entry.name() == *name),
            Serves::Backend(name) => BACKENDS.iter().any(|entry| entry.name() == *name),
            Serves::Transport(name) => TRANSPORTS.iter().any(|entry| entry.name() == *name),
            Serves::Verbs(verbs) => {
                !verbs.is_empty()
                    && verbs.iter().all(|verb| program.find_subcommand(verb).is_some())
            }
        };
        assert!(is_there, "{name} is for {serves}, which is not there");
        let all = ["run", "link"];
        let is_for_all = matches!(serves, Serves::Verbs(of) if all.iter().all(|v| of.contains(v)));
        assert!(!needed || is_for_all, "{name} is needed, and for {serves} alone");
    }
}

/// What is left out where it is missing is told by the name that the command line takes.
#[test]
fn a_line_of_a_facility_names_what_does_not_work_without_it() {
    for forced in FORCED {
        let mut machine = Described::default();
        (forced.take)(&mut machine);
        let answers = examine(&machine);
        let (check, finding) =
            answers.iter().find(|(check, _)| check.name == forced.check).unwrap();
        if let Serves::Backend(name) | Serves::Transport(name) = check.serves {
            let shown = unbroken(&text::render(&answers));
            assert!(shown.contains(&format!("(for {})", check.serves)), "{shown}");
            let is_lacking = finding.found.starts_with("no: ");
            assert!(!is_lacking || finding.found.contains(name), "{finding:?}");
        }
    }
}

#[test]
fn only_what_every_run_needs_makes_a_machine_unable() {
    for forced in FORCED {
        let mut machine = Described::default();
        (forced.take)(&mut machine);
        let answers = examine(&machine);
        let needed = CHECKS.iter().any(|check| check.name == forced.check && check.needed);
        let unable = needed && forced.status == Status::Missing;
        assert_eq!(!able(&answers), unable, "{}", forced.check);
    }
}
