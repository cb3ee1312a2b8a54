//! Parts of the kernel that a backend or a probe needs; the default ones need none of them.

use std::io;

use btu_sys::xdp::PROGRAM_NAME;

use crate::doctor::finding::Check;
use crate::doctor::finding::Finding;
use crate::doctor::machine::Attempt;
use crate::doctor::machine::LinkProgram;
use crate::doctor::machine::Machine;

pub(super) static NETEM: Check = Check {
    name: "netem",
    title: "qdisc netem (for mechanism = \"netem\" of an agent's [front]; the relay does without)",
    needed: false,
    ask: |machine| {
        qdisc(
            machine,
            "netem",
            "no links by the kernel's own emulator; the relay emulates all of them",
        )
    },
};

pub(super) static TBF: Check = Check {
    name: "tbf",
    title: "qdisc tbf",
    needed: false,
    ask: |machine| qdisc(machine, "tbf", "no token bucket in the kernel backend"),
};

pub(super) static FQ: Check = Check {
    name: "fq",
    title: "qdisc fq (pacing)",
    needed: false,
    ask: |machine| qdisc(machine, "fq", "TCP paces with its own timers; no EDT backend"),
};

pub(super) static NUMGEN: Check = Check {
    name: "numgen",
    title: "nftables numgen",
    needed: false,
    ask: |machine| {
        let lost = "no drop patterns in the kernel backend";
        module(machine, Attempt::NumGen, lost, "nft_numgen")
    },
};

pub(super) static TUN: Check = Check {
    name: "tun",
    title: "TUN devices",
    needed: false,
    ask: |machine| match machine.attempt(Attempt::Tun) {
        Ok(()) => Finding::ok("yes"),
        Err(cause) => untried(machine, "no tun backend").unwrap_or_else(|| {
            Finding::limited(
                "no: no tun backend",
                format!("open /dev/net/tun: {cause}"),
                match cause.kind() {
                    io::ErrorKind::NotFound => "as root: `modprobe tun`",
                    _ => "as root: `chmod 666 /dev/net/tun`",
                },
            )
        }),
    },
};

pub(super) static BPF: Check = Check {
    name: "bpf",
    title: "BPF programs",
    needed: false,
    ask: |machine| {
        let lost = "no bpf backend, no probes inside the kernel";
        privilege(machine, Attempt::Bpf, "bpf(BPF_PROG_LOAD)", lost, "CAP_BPF and CAP_NET_ADMIN")
    },
};

pub(super) static XDP: Check = Check {
    name: "af-xdp",
    title: "AF_XDP sockets",
    needed: false,
    ask: |machine| match machine.attempt(Attempt::Xdp) {
        Ok(()) => Finding::ok("yes"),
        Err(cause) => untried(machine, "transport xdp is not available").unwrap_or_else(|| {
            Finding::limited(
                "no: transport xdp is not available",
                format!("socket(AF_XDP): {cause}"),
                match cause.kind() {
                    io::ErrorKind::PermissionDenied => "start as root",
                    _ => "use a kernel with CONFIG_XDP_SOCKETS",
                },
            )
        }),
    },
};

pub(super) static XDP_PROGRAMS: Check = Check {
    name: "xdp-programs",
    title: "XDP programs on links",
    needed: false,
    ask: |machine| match machine.xdp_programs() {
        Ok(programs) => left_behind(&programs),
        Err(cause) => Finding::limited(
            "unknown",
            format!("list the links: {cause}"),
            "look with `ip link` where a program shows as xdp",
        ),
    },
};

/// A program of ours goes with its process; one that is there belongs to a run, or to what is left
/// of one.
fn left_behind(programs: &[LinkProgram]) -> Finding {
    let text = |found: &LinkProgram| {
        let name = found.name.as_deref().unwrap_or("of a name that only root may ask for");
        format!("{}: {name} (number {})", found.link, found.program)
    };
    let listed = programs.iter().map(text).collect::<Vec<_>>().join(", ");
    if !programs.iter().any(|found| found.name.as_deref() == Some(PROGRAM_NAME)) {
        return Finding::ok(if listed.is_empty() { "none".to_owned() } else { listed });
    }
    Finding::limited(
        listed,
        format!("{PROGRAM_NAME} is btu's: a ping-pong over xdp runs, or a process still holds it"),
        "let it end; or `bpftool link` for its number, and `bpftool link detach id NUMBER`",
    )
}

pub(super) static IO_URING: Check = Check {
    name: "io-uring",
    title: "io_uring",
    needed: false,
    ask: |machine| {
        let Err(cause) = machine.attempt(Attempt::IoUring) else { return Finding::ok("yes") };
        let disabled = machine.file("/proc/sys/kernel/io_uring_disabled");
        let (why, remedy) = match disabled.as_deref().map(str::trim) {
            Ok("1") => (
                "kernel.io_uring_disabled=1 allows it to one group only",
                "as root: `sysctl kernel.io_uring_disabled=0`",
            ),
            Ok("2") => (
                "kernel.io_uring_disabled=2 forbids it to everybody",
                "as root: `sysctl kernel.io_uring_disabled=0`",
            ),
            _ if cause.kind() == io::ErrorKind::Unsupported => {
                ("the kernel has none", "use a kernel with CONFIG_IO_URING")
            }
            _ => (
                "a seccomp filter is likely",
                "start the container with a seccomp profile that allows io_uring_setup",
            ),
        };
        Finding::limited("no: transport uring is not available", format!("{cause}: {why}"), remedy)
    },
};

pub(super) static COUNTERS: Check = Check {
    name: "hardware-counters",
    title: "hardware counters",
    needed: false,
    ask: |machine| {
        let Err(cause) = machine.attempt(Attempt::Counter) else { return Finding::ok("yes") };
        let (why, remedy) = match cause.kind() {
            io::ErrorKind::PermissionDenied => (
                "kernel.perf_event_paranoid forbids it",
                "as root: `sysctl kernel.perf_event_paranoid=2`",
            ),
            _ => (
                "this (virtual) machine has no performance monitoring unit",
                "use a machine or instance type whose counters are visible",
            ),
        };
        Finding::limited("no: cycles per byte are not available", format!("{cause}: {why}"), remedy)
    },
};

fn qdisc(machine: &dyn Machine, kind: &'static str, lost: &str) -> Finding {
    module(machine, Attempt::Qdisc(kind), lost, &format!("sch_{kind}"))
}

/// A part of the kernel that may be a module.
fn module(machine: &dyn Machine, attempt: Attempt, lost: &str, name: &str) -> Finding {
    match machine.attempt(attempt) {
        Ok(()) => Finding::ok("yes"),
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Finding::limited(
            format!("unknown: {lost}"),
            format!("not allowed to try: {cause}"),
            NAMESPACES_FIRST,
        ),
        Err(cause) => untried(machine, lost).unwrap_or_else(|| {
            Finding::limited(
                format!("no: {lost}"),
                format!("the kernel has no {name}: {cause}"),
                format!("as root: `modprobe {name}` or use a kernel that was built with it"),
            )
        }),
    }
}

/// What is tried in namespaces of our own says nothing where there are none.
fn untried(machine: &dyn Machine, lost: &str) -> Option<Finding> {
    let cause = machine.attempt(Attempt::Namespaces).err()?;
    let why = format!("no namespaces to try it in: {cause}");
    Some(Finding::limited(format!("unknown: {lost}"), why, NAMESPACES_FIRST))
}

const NAMESPACES_FIRST: &str = "make the line \"namespaces\" work first";

fn privilege(
    machine: &dyn Machine,
    attempt: Attempt,
    call: &str,
    lost: &str,
    needed: &str,
) -> Finding {
    match machine.attempt(attempt) {
        Ok(()) => Finding::ok("yes"),
        Err(cause) if cause.kind() == io::ErrorKind::Unsupported => Finding::limited(
            format!("no: {lost}"),
            format!("{call}: {cause}: the kernel has none"),
            "use a kernel with CONFIG_BPF_SYSCALL",
        ),
        Err(cause) => Finding::limited(
            format!("no: {lost}"),
            format!("{call}: {cause}: it needs {needed} outside of any user namespace"),
            "start as root",
        ),
    }
}
