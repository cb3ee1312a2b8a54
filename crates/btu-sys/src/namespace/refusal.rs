//! Why this machine forbids namespaces: the settings that can, each with its remedy.

use std::fmt;
use std::fs;
use std::io;

/// A setting of this machine that forbids namespaces to ordinary users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Ubuntu 23.10 and later: the namespace comes, the rights in it do not.
    AppArmor,
    /// Debian's own switch is off.
    CloneSysctl,
    /// The limit on user namespaces is zero, as on RHEL 7.
    Limit,
    /// Namespaces are nested too deep, or the user has reached the limit.
    Nesting,
    /// The files that give a namespace its ids are not there: a chroot or container without `/proc`.
    NoProc,
    /// Those files can only be read.
    ReadOnlyProc,
    /// A seccomp filter, as container engines install one.
    Seccomp,
    /// None of the known settings: the kernel's own answer is all there is.
    Unknown,
}

impl Refusal {
    /// The likeliest cause of `answer` on this machine.
    pub fn of(answer: &io::Error) -> Self {
        Self::given(answer, &|path| fs::read_to_string(path).ok())
    }

    /// The likeliest cause of `answer` on a machine whose files below `/proc` read like this.
    pub fn given(answer: &io::Error, file: &dyn Fn(&str) -> Option<String>) -> Self {
        match answer.raw_os_error() {
            Some(libc::ENOSPC | libc::EUSERS) if known(Self::Limit, file) => Self::Limit,
            Some(libc::ENOSPC | libc::EUSERS) => Self::Nesting,
            Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => {
                SUREST_FIRST.into_iter().find(|cause| known(*cause, file)).unwrap_or(Self::Unknown)
            }
            Some(libc::ENOENT) if known(Self::NoProc, file) => Self::NoProc,
            Some(libc::EROFS) => Self::ReadOnlyProc,
            _ => Self::Unknown,
        }
    }

    /// What a reader can do about it, commands between backticks.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::AppArmor => {
                "as root: `sysctl kernel.apparmor_restrict_unprivileged_userns=0` \
                 or an AppArmor profile with \"userns,\" for this program"
            }
            Self::CloneSysctl => "as root: `sysctl kernel.unprivileged_userns_clone=1`",
            Self::Limit => "as root: `sysctl user.max_user_namespaces=15000`",
            Self::Nesting => "start it outside of other namespaces, or end programs that hold some",
            Self::NoProc => "mount /proc: `mount -t proc proc /proc`",
            Self::ReadOnlyProc => "as root: `mount -o remount,rw /proc`",
            Self::Seccomp => {
                "start the container with a seccomp profile that allows unshare, \
                 or with --privileged"
            }
            Self::Unknown => "start it as root",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::AppArmor => "forbidden by kernel.apparmor_restrict_unprivileged_userns=1",
            Self::CloneSysctl => "forbidden by kernel.unprivileged_userns_clone=0",
            Self::Limit => "forbidden by user.max_user_namespaces=0",
            Self::Nesting => "the limit on namespaces is reached",
            Self::NoProc => "/proc is not mounted, or is that of other processes",
            Self::ReadOnlyProc => "/proc is mounted read-only",
            Self::Seccomp => "a seccomp filter is active and may forbid it",
            Self::Unknown => "refused",
        })
    }
}

/// Every setting of this machine that can forbid namespaces, the surest first.
pub fn refusals() -> Vec<Refusal> {
    let file = |path: &str| fs::read_to_string(path).ok();
    SUREST_FIRST.into_iter().filter(|cause| known(*cause, &file)).collect()
}

fn known(cause: Refusal, file: &dyn Fn(&str) -> Option<String>) -> bool {
    let sysctl_is = |name: &str, value: &str| {
        file(&format!("/proc/sys/{name}")).is_some_and(|found| found.trim() == value)
    };
    match cause {
        Refusal::AppArmor => sysctl_is("kernel/apparmor_restrict_unprivileged_userns", "1"),
        Refusal::CloneSysctl => sysctl_is("kernel/unprivileged_userns_clone", "0"),
        Refusal::Limit => sysctl_is("user/max_user_namespaces", "0"),
        Refusal::Seccomp => file("/proc/thread-self/status").is_some_and(|status| {
            let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
            mode.is_some_and(|mode| mode.trim() == "2")
        }),
        // A /proc of another PID namespace is mounted as well, but has no `self` of this process.
        Refusal::NoProc => file("/proc/self/status").is_none(),
        Refusal::Nesting | Refusal::ReadOnlyProc | Refusal::Unknown => false,
    }
}

const SUREST_FIRST: [Refusal; 4] =
    [Refusal::Limit, Refusal::CloneSysctl, Refusal::AppArmor, Refusal::Seccomp];
