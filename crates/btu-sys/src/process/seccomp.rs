//! seccomp: which system calls a process may still make (seccomp(2)).
//!
//! A list of what is allowed. A number that is newer than the list is answered as an older kernel
//! would (`ENOSYS`), so that libraries fall back to what they did before; every other call is
//! refused (`EPERM`). The kernel remembers the calls whose answer does not depend on arguments
//! (since Linux 5.11), so that the filter costs nothing where messages are sent.

mod list;

use std::io;

use libc::sock_filter;

use self::list::EVERYBODY;
use self::list::OF_A_PROCESS;
use self::list::SUPERVISOR;
use super::sandbox::Calls;
use crate::memory::MFD_NOEXEC_SEAL;

/// Whether this kernel filters by programs, or why not.
pub(crate) fn available() -> io::Result<()> {
    if ARCHITECTURE.is_none() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let (ask, none) = (libc::SECCOMP_GET_ACTION_AVAIL, 0 as libc::c_ulong);
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the kernel reads one number, which outlives the call.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, ask, none, &raw const action) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Filters the calls of every thread of this process, for good. The process must have given up new
/// privileges before.
pub(super) fn filter(calls: Calls) -> io::Result<()> {
    let Some(architecture) = ARCHITECTURE else { return Err(io::ErrorKind::Unsupported.into()) };
    let mut program = program(architecture, calls);
    let len = u16::try_from(program.len()).map_err(io::Error::other)?;
    let whole = libc::sock_fprog { len, filter: program.as_mut_ptr() };
    let (mode, every_thread) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_TSYNC);
    // SAFETY: the kernel reads a program of this length; it and its description outlive the call.
    match unsafe { libc::syscall(libc::SYS_seccomp, mode, every_thread, &raw const whole) } {
        0 => Ok(()),
        // With this flag the answer may be the number of a thread that cannot follow.
        1.. => Err(io::Error::other("a thread has a filter of its own")),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Loads the number of the call, and compares it with all that have a rule.
fn program(architecture: u32, calls: Calls) -> Vec<sock_filter> {
    let own = match calls {
        Calls::Supervisor => SUPERVISOR,
        Calls::Worker => &[],
    };
    let mut program = vec![
        load(ARCHITECTURE_FIELD),
        jump(libc::BPF_JEQ, architecture, 1, 0),
        answer(libc::SECCOMP_RET_KILL_PROCESS),
        load(NUMBER_FIELD),
    ];
    for call in EVERYBODY.iter().chain(own) {
        program.extend([jump(libc::BPF_JEQ, word(*call), 0, 1), ALLOW]);
    }
    program.extend(match calls {
        Calls::Supervisor => of_a_supervisor(),
        Calls::Worker => of_a_worker(std::process::id()),
    });
    // Any other file in memory could be executed, whatever Landlock says of those on disks.
    let sealed = [(MFD_NOEXEC_SEAL, ALLOW)];
    program.extend(rule(libc::SYS_memfd_create, 1, libc::BPF_JSET, &sealed, REFUSE));
    // Its flags stand in memory, where no filter can look: `clone` is asked instead.
    program.extend([jump(libc::BPF_JEQ, word(libc::SYS_clone3), 0, 1), ABSENT]);
    program.extend([jump(libc::BPF_JGT, NEWEST, 0, 1), ABSENT, REFUSE]);
    program
}

/// Who starts and ends others has their calls in any case.
fn of_a_supervisor() -> Vec<sock_filter> {
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];
    let families = families.map(|family| (family.unsigned_abs(), ALLOW));
    let mut rules = rule(libc::SYS_socket, 0, libc::BPF_JEQ, &families, REFUSE);
    rules.extend(rule(libc::SYS_clone, 0, libc::BPF_JSET, &[(NEW_NAMESPACES, REFUSE)], ALLOW));
    rules.extend(rule(libc::SYS_ioctl, 1, libc::BPF_JEQ, &TYPING, ALLOW));
    for call in
        OF_A_PROCESS.iter().map(|(call, _)| *call).chain([libc::SYS_fcntl, libc::SYS_tgkill])
    {
        rules.extend([jump(libc::BPF_JEQ, word(call), 0, 1), ALLOW]);
    }
    rules
}

/// A worker has no other process than itself, `own`: it starts none, and no other of its user hears of
/// it, be that by a signal, by a limit or by a socket of this host.
fn of_a_worker(own: u32) -> Vec<sock_filter> {
    let families = [libc::AF_INET, libc::AF_INET6];
    let families = families.map(|family| (family.unsigned_abs(), ALLOW));
    let mut rules = rule(libc::SYS_socket, 0, libc::BPF_JEQ, &families, REFUSE);
    let thread = [(NEW_NAMESPACES, REFUSE), (libc::CLONE_THREAD.unsigned_abs(), ALLOW)];
    rules.extend(rule(libc::SYS_clone, 0, libc::BPF_JSET, &thread, REFUSE));
    rules.extend(rule(libc::SYS_tgkill, 0, libc::BPF_JEQ, &[(own, ALLOW)], REFUSE));
    rules.extend(OF_A_PROCESS.iter().flat_map(|(call, arguments)| where_zero(*call, arguments)));
    let owners = [F_SETOWN, F_SETSIG, F_SETOWN_EX].map(|command| (command, REFUSE));
    rules.extend(rule(libc::SYS_fcntl, 1, libc::BPF_JEQ, &owners, ALLOW));
    let requests = [TYPING, [(FIOSETOWN, REFUSE), (SIOCSPGRP, REFUSE)]].concat();
    rules.extend(rule(libc::SYS_ioctl, 1, libc::BPF_JEQ, &requests, ALLOW));
    rules
}

/// The rule of one call: the answer of the first value that fits an argument, and that to all others.
fn rule(
    call: libc::c_long,
    argument: u32,
    comparison: u32,
    fitting: &[(u32, sock_filter)],
    differs: sock_filter,
) -> Vec<sock_filter> {
    let tests = fitting.iter().flat_map(|(value, fits)| [jump(comparison, *value, 0, 1), *fits]);
    let rest: Vec<sock_filter> = tests.chain([differs]).collect();
    let length = u8::try_from(1 + rest.len()).unwrap_or(u8::MAX);
    let begin = [jump(libc::BPF_JEQ, word(call), 0, length), load(argument_field(argument))];
    begin.into_iter().chain(rest).collect()
}

/// The rule of a call that is allowed where all of these arguments are 0.
fn where_zero(call: libc::c_long, arguments: &[u32]) -> Vec<sock_filter> {
    let test =
        |argument: &u32| [load(argument_field(*argument)), jump(libc::BPF_JEQ, 0, 1, 0), REFUSE];
    let rest: Vec<sock_filter> = arguments.iter().flat_map(test).chain([ALLOW]).collect();
    let length = u8::try_from(rest.len()).unwrap_or(u8::MAX);
    [jump(libc::BPF_JEQ, word(call), 0, length)].into_iter().chain(rest).collect()
}

/// Loads a word of `struct seccomp_data`.
const fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

/// Skips so many instructions where the comparison holds, and so many where it does not.
pub(crate) const fn jump(comparison: u32, value: u32, holds: u8, else_: u8) -> sock_filter {
    instruction(libc::BPF_JMP | comparison, holds, else_, value)
}

/// Ends with this value.
pub(crate) const fn answer(value: u32) -> sock_filter {
    instruction(libc::BPF_RET, 0, 0, value)
}

/// One instruction.
#[expect(clippy::cast_possible_truncation, reason = "codes of instructions have 16 bits")]
pub(crate) const fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

/// Numbers of calls are small and positive.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of calls are small and positive"
)]
const fn word(call: libc::c_long) -> u32 {
    call as u32
}

/// The low half of an argument, on the machines below: all of them store it first.
const fn argument_field(argument: u32) -> u32 {
    16 + 8 * argument
}

/// `struct seccomp_data`
const NUMBER_FIELD: u32 = 0;
const ARCHITECTURE_FIELD: u32 = 4;
/// `linux/audit.h`
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: Option<u32> = None;
/// The newest call that was looked at for the list (`file_setattr`, Linux 6.17).
const NEWEST: u32 = 469;
/// `CLONE_NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`, `NEWNS`.
const NEW_NAMESPACES: u32 = 0x7e02_0000;
/// `TIOCSTI`, `TIOCLINUX`: orders to a terminal that type for its user.
const TYPING: [(u32, sock_filter); 2] = [(0x5412, REFUSE), (0x541c, REFUSE)];
/// Whom the kernel sends a signal of a descriptor, and which one: `SIGKILL` is one of them.
const F_SETOWN: u32 = libc::F_SETOWN.unsigned_abs();
const F_SETSIG: u32 = 10;
const F_SETOWN_EX: u32 = 15;
const FIOSETOWN: u32 = 0x8901;
const SIOCSPGRP: u32 = 0x8902;
const ALLOW: sock_filter = answer(libc::SECCOMP_RET_ALLOW);
const REFUSE: sock_filter = answer(libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs());
/// As of a kernel that has no such call.
const ABSENT: sock_filter = answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs());
