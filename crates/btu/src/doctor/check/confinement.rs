//! What bounds the processes of `btu agent` beside the loss of their capabilities.

use btu_sys::errno::EOPNOTSUPP;
use std::io;

use crate::doctor::finding::Check;
use crate::doctor::finding::Finding;
use crate::doctor::finding::Serves;
use crate::doctor::machine::Attempt;
use crate::doctor::machine::Machine;

pub(super) static LANDLOCK: Check = Check {
    name: "landlock",
    title: "Landlock (files of btu agent)",
    serves: Serves::Verbs(&["agent"]),
    needed: false,
    ask: |machine| {
        let lost = "no: an agent reads and writes what its user may";
        bound(machine, Attempt::Landlock, lost, "landlock", "CONFIG_SECURITY_LANDLOCK")
    },
};

pub(super) static SECCOMP: Check = Check {
    name: "seccomp",
    title: "seccomp (system calls of btu agent)",
    serves: Serves::Verbs(&["agent"]),
    needed: false,
    ask: |machine| {
        let lost = "no: an agent makes what system calls its user may";
        bound(machine, Attempt::Seccomp, lost, "seccomp", "CONFIG_SECCOMP_FILTER")
    },
};

fn bound(machine: &dyn Machine, what: Attempt, lost: &str, name: &str, option: &str) -> Finding {
    let Err(cause) = machine.attempt(what) else { return Finding::ok("yes") };
    let (why, remedy) = match cause.raw_os_error() {
        Some(EOPNOTSUPP) => (
            "it was switched off at boot",
            format!("add {name} to lsm= on the kernel's command line"),
        ),
        _ if cause.kind() == io::ErrorKind::Unsupported => {
            ("the kernel has none", format!("use a kernel with {option}"))
        }
        _ => (
            "a filter around this process is likely",
            format!("start it in a container whose seccomp profile allows {name}"),
        ),
    };
    Finding::limited(lost, format!("{cause}: {why}"), remedy)
}
