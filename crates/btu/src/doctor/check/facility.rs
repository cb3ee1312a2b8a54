//! Parts of the kernel that one backend or transport needs; the default ones need none of them.

use std::io;

use btu_sys::xdp::PROGRAM_NAME;

use crate::doctor::finding::Check;
use crate::doctor::finding::Finding;
use crate::doctor::finding::Serves;
use crate::doctor::machine::Attempt;
use crate::doctor::machine::LinkProgram;
use crate::doctor::machine::Machine;

pub(super) static NETEM: Check = Check {
    name: "netem",
    title: "qdisc netem",
    serves: Serves::Backend("netem"),
    needed: false,
    ask: |machine| {
        let lost =
            "mechanism = \"netem\" of an agent's [front] is refused, the relay emulates all links";
        module(machine, Attempt::Qdisc("netem"), lost, "sch_netem")
    },
};

pub(super) static XDP: Check = Check {
    name: "af-xdp",
    title: "AF_XDP sockets, and XDP programs for them",
    serves: XDP_TRANSPORT,
    needed: false,
    ask: |machine| match machine.attempt(Attempt::Xdp) {
        Ok(()) => Finding::ok("yes"),
        Err(cause) => untried(machine, "not tried").unwrap_or_else(|| {
            let (why, remedy) = match cause.kind() {
                io::ErrorKind::PermissionDenied => (
                    "it needs CAP_BPF and CAP_NET_ADMIN outside of any user namespace",
                    "start as root",
                ),
                _ => (
                    "the kernel has none",
                    "use a kernel with CONFIG_BPF_SYSCALL and CONFIG_XDP_SOCKETS",
                ),
            };
            let lost = format!("no: {XDP_TRANSPORT} is not available");
            Finding::limited(lost, format!("{cause}: {why}"), remedy)
        }),
    },
};

pub(super) static XDP_PROGRAMS: Check = Check {
    name: "xdp-programs",
    title: "XDP programs on links",
    serves: XDP_TRANSPORT,
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
    serves: URING_TRANSPORT,
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
        let lost = format!("no: {URING_TRANSPORT} is not available");
        Finding::limited(lost, format!("{cause}: {why}"), remedy)
    },
};

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

const XDP_TRANSPORT: Serves = Serves::Transport("xdp");
const URING_TRANSPORT: Serves = Serves::Transport("uring");
