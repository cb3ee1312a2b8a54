//! Which capabilities survive `exec`.

use std::io;

/// Numbers of `linux/capability.h`: what a program needs to nest another link.
pub(super) const NESTING: [u32; 3] = [CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN];

/// Raises those of `wanted` that the process holds into its ambient set.
pub(super) fn keep_across_exec(wanted: &[u32]) -> io::Result<()> {
    let mut sets = Sets::of_this_process()?;
    let held: Vec<u32> = wanted.iter().copied().filter(|cap| sets.permits(*cap)).collect();
    for cap in &held {
        sets.make_inheritable(*cap);
    }
    sets.apply()?;
    held.iter().try_for_each(|cap| ambient(libc::PR_CAP_AMBIENT_RAISE, *cap))
}

/// Leaves nothing for `exec` to inherit.
///
/// To user id 0, `exec` gives the whole bounding set, so network and system administration leave
/// that, too; `CAP_NET_RAW` stays, or a `ping` with file capabilities could not be executed.
pub(super) fn drop_for_exec() -> io::Result<()> {
    ambient(libc::PR_CAP_AMBIENT_CLEAR_ALL, 0)?;
    if !nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    [CAP_NET_ADMIN, CAP_SYS_ADMIN].into_iter().try_for_each(drop_from_bounding_set)
}

/// Leaves the process without a capability.
pub(super) fn drop_all() -> io::Result<()> {
    ambient(libc::PR_CAP_AMBIENT_CLEAR_ALL, 0)?;
    Sets::default().apply()
}

/// Leaves the process with the rights over its network, and those not for what it executes.
pub(super) fn keep_network_alone() -> io::Result<()> {
    ambient(libc::PR_CAP_AMBIENT_CLEAR_ALL, 0)?;
    let (half, bit) = place(CAP_NET_ADMIN);
    let mut sets = Sets::default();
    (sets.0[half].effective, sets.0[half].permitted) = (bit, bit);
    sets.apply()
}

/// The three sets of a process, as `capget` and `capset` pass them (version 3: 64 bits in two).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Sets([Half; 2]);

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Half {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

impl Sets {
    fn of_this_process() -> io::Result<Self> {
        let mut sets = Self::default();
        let header = Header { version: VERSION_3, pid: 0 };
        // SAFETY: version 3 reads one header and writes two halves; both outlive the call.
        check(unsafe { libc::syscall(libc::SYS_capget, &raw const header, &raw mut sets) })?;
        Ok(sets)
    }

    fn apply(&self) -> io::Result<()> {
        let header = Header { version: VERSION_3, pid: 0 };
        // SAFETY: version 3 reads one header and two halves; both outlive the call.
        check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, &raw const *self) })
    }

    fn permits(&self, cap: u32) -> bool {
        let (half, bit) = place(cap);
        self.0[half].permitted & bit != 0
    }

    fn make_inheritable(&mut self, cap: u32) {
        let (half, bit) = place(cap);
        self.0[half].inheritable |= bit;
    }
}

const fn place(cap: u32) -> (usize, u32) {
    ((cap / 32 % 2) as usize, 1 << (cap % 32))
}

fn ambient(operation: libc::c_int, cap: u32) -> io::Result<()> {
    let (operation, cap) = (long(operation.unsigned_abs()), long(cap));
    // SAFETY: this prctl takes numbers only.
    let result = unsafe { libc::prctl(libc::PR_CAP_AMBIENT, operation, cap, long(0), long(0)) };
    check(result.into())
}

fn drop_from_bounding_set(cap: u32) -> io::Result<()> {
    // SAFETY: this prctl takes numbers only.
    let result =
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, long(cap), long(0), long(0), long(0)) };
    check(result.into())
}

/// The width in which prctl reads its arguments.
const fn long(value: u32) -> libc::c_ulong {
    value as libc::c_ulong
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// `_LINUX_CAPABILITY_VERSION_3`
const VERSION_3: u32 = 0x2008_0522;
pub(super) const CAP_NET_ADMIN: u32 = 12;
const CAP_NET_RAW: u32 = 13;
const CAP_SYS_ADMIN: u32 = 21;
