//! Rights that a process gives up for good, before it hears the first byte of a stranger.

use std::io;

use super::capability;

/// The calling process dies with the thread that started it, whose process must be `parent`.
pub fn die_with_parent(parent: u32) -> io::Result<()> {
    number(libc::PR_SET_PDEATHSIG, libc::SIGKILL.unsigned_abs())?;
    // The parent may have ended before the kernel was told.
    if std::os::unix::process::parent_id() == parent {
        Ok(())
    } else {
        Err(io::Error::other("the process that started this one is gone"))
    }
}

/// No capability from now on, and none to be had by executing anything.
pub fn give_up_rights() -> io::Result<()> {
    number(libc::PR_SET_NO_NEW_PRIVS, 1)?;
    capability::drop_all()
}

/// Nobody else's debugger, and no core file: the process holds a key.
pub fn hide_memory() -> io::Result<()> {
    number(libc::PR_SET_DUMPABLE, 0)
}

fn number(option: libc::c_int, value: u32) -> io::Result<()> {
    let (value, none) = (libc::c_ulong::from(value), 0 as libc::c_ulong);
    // SAFETY: these options take numbers only.
    let result = unsafe { libc::prctl(option, value, none, none, none) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a process of its own, since nothing gives rights back.
    #[test]
    fn what_is_given_up_is_gone() {
        const MARK: &str = "BTU_SYS_CONFINED";
        if std::env::var_os(MARK).is_some() {
            die_with_parent(std::os::unix::process::parent_id()).unwrap();
            give_up_rights().unwrap();
            hide_memory().unwrap();
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name));
                line.unwrap().trim().to_owned()
            };
            assert_eq!(field("NoNewPrivs:"), "1");
            for set in ["CapPrm:", "CapEff:", "CapInh:", "CapAmb:"] {
                assert_eq!(field(set), "0000000000000000", "{set}");
            }
            assert!(die_with_parent(0).is_err());
            return;
        }
        let own = std::env::current_exe().unwrap();
        let name = "process::confine::tests::what_is_given_up_is_gone";
        let confined = std::process::Command::new(own)
            .args(["--exact", name, "--test-threads", "1"])
            .env(MARK, "1")
            .output()
            .unwrap();
        assert!(confined.status.success(), "{confined:?}");
    }
}
