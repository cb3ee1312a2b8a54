//! Landlock: which files a thread, and what it starts later, may still open (landlock(7)).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::fd::FromRawFd;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::sandbox::Bounds;

/// Which other processes a thread may still reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All that it could reach before.
    All,
    /// Only its own, and those that it starts.
    Itself,
}

/// The version of Landlock that this kernel speaks, or why there is none.
pub(crate) fn version() -> io::Result<u32> {
    let (nothing, none, flag) = (std::ptr::null::<Attributes>(), 0_usize, ASK_VERSION);
    // SAFETY: with this flag the kernel reads no attributes and answers with a number.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, none, flag) };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// Bounds the calling thread for good; threads that it starts later inherit it.
///
/// The process must have given up new privileges before.
pub(super) fn restrict(bounds: &Bounds, version: u32, reach: Reach) -> io::Result<()> {
    let known = known_rights(version);
    let ruleset = create(version, known, reach)?;
    for path in &bounds.programs {
        allow(&ruleset, path, known & (READ | EXECUTE))?;
    }
    for path in &bounds.readable {
        allow(&ruleset, path, known & READ)?;
    }
    for path in &bounds.writable {
        allow(&ruleset, path, known & (READ | CHANGE))?;
    }
    let none = 0_u32;
    // SAFETY: takes a descriptor that is open and a number.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), none) })
}

/// What each version added; a kernel refuses rights that it does not know.
const fn known_rights(version: u32) -> u64 {
    match version {
        0 | 1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        _ => (1 << 16) - 1,
    }
}

/// A set of rules in which nothing is allowed yet. It judges files, and since version 4 whom the
/// process may connect to by TCP: nobody. Since version 6 it can keep signals and sockets without a file
/// inside, too.
fn create(version: u32, known: u64, reach: Reach) -> io::Result<OwnedFd> {
    let kept_inside = if reach == Reach::Itself { ABSTRACT_SOCKETS | SIGNALS } else { 0 };
    let attributes = Attributes { files: known, ports: CONNECT_TCP, kept_inside };
    let size = match version {
        0..4 => size_of::<u64>(),
        4..6 => 2 * size_of::<u64>(),
        _ => size_of::<Attributes>(),
    };
    let none = 0_u32;
    // SAFETY: the kernel reads `size` bytes of attributes that outlive the call.
    let made = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size, none)
    };
    let made = i32::try_from(made).ok().filter(|descriptor| *descriptor >= 0);
    let Some(made) = made else { return Err(io::Error::last_os_error()) };
    // SAFETY: the kernel has just returned this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

/// Allows something below a path. What is not there needs no rule.
fn allow(ruleset: &OwnedFd, path: &Path, rights: u64) -> io::Result<()> {
    let flags = libc::O_PATH | libc::O_CLOEXEC;
    let beneath = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let rights = if beneath.metadata()?.is_dir() { rights } else { rights & OF_A_FILE };
    let rule = PathBeneath { rights, parent: beneath.as_raw_fd() };
    let none = 0_u32;
    // SAFETY: the kernel reads one rule, packed as it wants it, which outlives the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            RULE_PATH_BENEATH,
            &raw const rule,
            none,
        )
    })
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// `struct landlock_ruleset_attr` up to version 6.
#[repr(C)]
struct Attributes {
    files: u64,
    ports: u64,
    kept_inside: u64,
}

/// `struct landlock_path_beneath_attr`
#[repr(C, packed)]
struct PathBeneath {
    rights: u64,
    parent: i32,
}

/// `linux/landlock.h`
const ASK_VERSION: u32 = 1;
const RULE_PATH_BENEATH: u32 = 1;
const CONNECT_TCP: u64 = 1 << 1;
const ABSTRACT_SOCKETS: u64 = 1;
const SIGNALS: u64 = 1 << 1;
const EXECUTE: u64 = 1;
/// Files and directories.
const READ: u64 = (1 << 2) | (1 << 3);
/// Write, remove directories and files, make directories and regular files, move, truncate.
const CHANGE: u64 = (1 << 1) | (1 << 4) | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 13) | (1 << 14);
/// What has a meaning for a file: execute, write, read, truncate, device control.
const OF_A_FILE: u64 = 1 | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15);
