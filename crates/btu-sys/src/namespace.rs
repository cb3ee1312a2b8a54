//! User and network namespaces, held by descriptors so that they go when the process goes.
//!
//! A network namespace is a [`NetNs`]: an open file. No name appears below `/run/netns`, nothing
//! is mounted, and the kernel removes namespace, links and addresses with the last descriptor,
//! however the process ends. Who lacks `CAP_SYS_ADMIN` enters a user namespace of his own first.

mod mounts;
mod refusal;

use std::fmt;
use std::fs;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

use nix::sched::CloneFlags;

pub use mounts::MountNs;
pub use mounts::Root;
pub use refusal::Refusal;
pub use refusal::refusals;

use crate::limit;

/// How the ids of the caller appear inside a user namespace of his own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdMap {
    /// The caller keeps his ids: files look as before. Capabilities are lost at the next `exec`
    /// unless they are raised to the ambient set before.
    Identity,
    /// The caller is root inside, so that capabilities survive `exec`.
    Root,
}

/// What kept a namespace from being made or entered.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// `unshare` of a user namespace was refused.
    #[error("create a user namespace: {refusal}")]
    User {
        /// What on this machine forbids it.
        refusal: Refusal,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The kernel allows a user namespace only to a process with one thread.
    #[error(
        "create a user namespace: the process has {threads} threads, the kernel allows it with one"
    )]
    Threads {
        /// How many it has.
        threads: usize,
    },
    /// The namespace came, but its id map or the rights in it were refused.
    #[error("write {file}: {refusal}")]
    Map {
        /// The file below `/proc/self`.
        file: &'static str,
        /// What on this machine forbids it.
        refusal: Refusal,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A network namespace was refused.
    #[error("create a network namespace: {refusal}")]
    Net {
        /// What on this machine forbids it.
        refusal: Refusal,
        /// The kernel's answer.
        source: io::Error,
    },
    /// What is done in a network namespace is done on a thread of its own.
    #[error("start a thread; {}", limit::of_threads())]
    Thread(#[source] io::Error),
    /// A network namespace exists, but the thread could not enter it.
    #[error("enter a network namespace")]
    Enter(#[source] io::Error),
    /// The thread's namespace could not be opened.
    #[error("open {path}")]
    Open {
        /// Below `/proc/thread-self/ns`.
        path: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// True where namespaces and links can be made without a user namespace: effective
/// `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`, as root has them outside of restricted containers.
pub fn is_privileged() -> bool {
    let needed = capability(CAP_SYS_ADMIN) | capability(CAP_NET_ADMIN);
    effective_capabilities().is_some_and(|held| held & needed == needed)
}

/// Moves the whole process into a user namespace of its own, with all capabilities there.
///
/// Call it first thing, before any thread exists; to do the same to a child use
/// [`in_user_namespace`].
pub fn enter_user_namespace(map: IdMap) -> Result<(), NamespaceError> {
    let maps = MapFiles::of_caller(map);
    nix::sched::unshare(CloneFlags::CLONE_NEWUSER).map_err(user_error)?;
    maps.write().map_err(|(file, source)| {
        let refusal = Refusal::of(&source);
        NamespaceError::Map { file, refusal, source }
    })
}

/// Makes `command` start in a user namespace of its own. Works from a process with many threads,
/// since the child has one until it executes.
///
/// A refusal is the [`io::Error`] of `spawn`; [`Refusal::of`] names its cause.
pub fn in_user_namespace(command: &mut Command, map: IdMap) -> &mut Command {
    let maps = MapFiles::of_caller(map);
    let enter = move || -> io::Result<()> {
        nix::sched::unshare(CloneFlags::CLONE_NEWUSER)?;
        maps.write().map_err(|(_, source)| source)
    };
    // SAFETY: between fork and exec the closure calls only unshare, open, write and close on
    // strings that were made before the fork; it takes no lock and does not allocate.
    unsafe { command.pre_exec(enter) }
}

/// A network namespace, kept alive by an open file.
#[derive(Debug)]
pub struct NetNs {
    file: File,
}

impl NetNs {
    /// A new, empty namespace: one loopback device, down.
    ///
    /// Needs [`is_privileged`], or a user namespace entered before.
    pub fn create() -> Result<Self, NamespaceError> {
        let unshared = || nix::sched::unshare(CloneFlags::CLONE_NEWNET).map(|()| Self::current());
        let made = aside(unshared).map_err(NamespaceError::Thread)?;
        made.unwrap_or_else(|errno| Err(net_error(errno.into())))
    }

    /// The namespace of the calling thread.
    pub fn current() -> Result<Self, NamespaceError> {
        let path = "/proc/thread-self/ns/net";
        let file = File::open(path).map_err(|source| NamespaceError::Open { path, source })?;
        Ok(Self { file })
    }

    /// Moves the calling thread into this namespace; sockets made from now on live there.
    pub fn enter(&self) -> Result<(), NamespaceError> {
        nix::sched::setns(&self.file, CloneFlags::CLONE_NEWNET)
            .map_err(|errno| NamespaceError::Enter(errno.into()))
    }

    /// Runs `work` inside this namespace on a thread of its own, and waits for it.
    ///
    /// # Panics
    /// Where `work` panics.
    pub fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
        aside(|| self.enter().map(|()| work())).map_err(NamespaceError::Thread)?
    }

    /// The inode number by which the kernel names this namespace (`net:[4026531840]`).
    pub fn inode(&self) -> io::Result<u64> {
        use std::os::unix::fs::MetadataExt;
        self.file.metadata().map(|found| found.ino())
    }

    /// A second handle on the same namespace.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()? })
    }
}

impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl From<File> for NetNs {
    /// A namespace that somebody else opened (`/proc/PID/ns/net`, a received descriptor).
    fn from(file: File) -> Self {
        Self { file }
    }
}

impl fmt::Display for IdMap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Identity => "identity",
            Self::Root => "root",
        })
    }
}

/// The lines of `uid_map` and `gid_map`, made before a fork.
struct MapFiles {
    uid_map: String,
    gid_map: String,
}

impl MapFiles {
    fn of_caller(map: IdMap) -> Self {
        let uid = nix::unistd::geteuid().as_raw();
        let gid = nix::unistd::getegid().as_raw();
        let line = |id: u32| match map {
            IdMap::Identity => format!("{id} {id} 1"),
            IdMap::Root => format!("0 {id} 1"),
        };
        Self { uid_map: line(uid), gid_map: line(gid) }
    }

    /// `setgroups` must be denied before an unprivileged `gid_map` is accepted (since Linux 3.19).
    fn write(&self) -> Result<(), (&'static str, io::Error)> {
        write_file(c"/proc/self/setgroups", b"deny").map_err(|cause| ("setgroups", cause))?;
        write_file(c"/proc/self/uid_map", self.uid_map.as_bytes())
            .map_err(|cause| ("uid_map", cause))?;
        write_file(c"/proc/self/gid_map", self.gid_map.as_bytes())
            .map_err(|cause| ("gid_map", cause))
    }
}

/// Writes without allocating, for the time between fork and exec.
fn write_file(path: &std::ffi::CStr, content: &[u8]) -> io::Result<()> {
    use nix::fcntl::OFlag;
    let flags = OFlag::O_WRONLY | OFlag::O_CLOEXEC;
    let file = nix::fcntl::open(path, flags, nix::sys::stat::Mode::empty())?;
    nix::unistd::write(&file, content)?;
    Ok(())
}

fn user_error(errno: nix::Error) -> NamespaceError {
    let source = io::Error::from(errno);
    match (errno, thread_count()) {
        (nix::Error::EINVAL, Some(threads)) if threads > 1 => NamespaceError::Threads { threads },
        _ => NamespaceError::User { refusal: Refusal::of(&source), source },
    }
}

/// Does it on a thread of its own, and waits; a panic is passed on.
fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, work)?;
        Ok(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn net_error(source: io::Error) -> NamespaceError {
    NamespaceError::Net { refusal: Refusal::of(&source), source }
}

fn thread_count() -> Option<usize> {
    status_field("Threads:")?.parse().ok()
}

/// Asked of the kernel itself: root is root where `/proc` is not mounted, too.
fn effective_capabilities() -> Option<u64> {
    let mut header = CapabilityHeader { version: CAPABILITY_VERSION, pid: 0 };
    let mut found = [CapabilitySets::default(); 2];
    // SAFETY: both are live and laid out as in linux/capability.h; this version fills two records.
    let answer = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, found.as_mut_ptr()) };
    let [low, high] = found.map(|sets| u64::from(sets.effective));
    (answer == 0).then_some(low | high << 32)
}

/// `struct __user_cap_header_struct`
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

/// `struct __user_cap_data_struct`
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct CapabilitySets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// One field of `/proc/self/status`.
fn status_field(name: &str) -> Option<String> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().to_owned())
}

const fn capability(number: u32) -> u64 {
    1 << number
}

/// Numbers of `linux/capability.h`.
const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;
/// `_LINUX_CAPABILITY_VERSION_3`
const CAPABILITY_VERSION: u32 = 0x2008_0522;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_of_capabilities_what_proc_says() {
        let told = u64::from_str_radix(&status_field("CapEff:").unwrap(), 16).unwrap();
        assert_eq!(effective_capabilities(), Some(told));
    }
}
