//! Rights that a process gives up for good, before it hears the first byte of a stranger.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

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

/// The program that `command` starts dies with the thread that starts it, even while it is stopped.
///
/// Without this a program whose starter is killed goes on; a stopped one keeps everything that waits
/// for it, for ever. What changes the program's credentials goes before this: it clears the signal.
pub fn dies_with_its_starter(command: &mut Command) -> &mut Command {
    let starter = std::process::id();
    let enter = move || -> io::Result<()> {
        number(libc::PR_SET_PDEATHSIG, libc::SIGKILL.unsigned_abs())?;
        let is_alive = std::os::unix::process::parent_id() == starter;
        is_alive.then_some(()).ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))
    };
    // SAFETY: between fork and exec the closure calls prctl and getppid alone; no lock, no memory.
    unsafe { command.pre_exec(enter) }
}

/// No capability from now on, and none to be had by executing anything.
pub fn give_up_rights() -> io::Result<()> {
    number(libc::PR_SET_NO_NEW_PRIVS, 1)?;
    capability::drop_all()
}

/// The rights over the network where it is, and none to be had by executing anything.
pub(super) fn keep_network_rights() -> io::Result<()> {
    number(libc::PR_SET_NO_NEW_PRIVS, 1)?;
    capability::keep_network_alone()
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

    /// What a process of these tests is to do; the variable tells it.
    fn again(mark: &str, name: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = format!("process::confine::tests::{name}");
        command.args(["--exact", &name, "--test-threads", "1", "--nocapture"]).env(mark, "1");
        command
    }

    /// Its state in the kernel's words; a zombie that nobody waits for is gone, too.
    fn is_alive(pid: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
    }

    #[test]
    fn a_stopped_program_dies_with_its_starter() {
        const MARK: &str = "BTU_SYS_STARTER";
        if std::env::var_os(MARK).is_some() {
            let mut sleep = Command::new("sleep");
            let mut child = dies_with_its_starter(sleep.arg("600")).spawn().unwrap();
            let pid = child.id().to_string();
            Command::new("kill").args(["-STOP", &pid]).status().unwrap();
            println!("started {pid}");
            child.wait().unwrap();
            return;
        }
        let mut starter = again(MARK, "a_stopped_program_dies_with_its_starter");
        let mut starter = starter.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let said = io::BufReader::new(starter.stdout.take().unwrap());
        let mut lines = io::BufRead::lines(said).map_while(Result::ok);
        let pid = lines.find_map(|line| Some(line.split_once("started ")?.1.to_owned())).unwrap();
        assert!(is_alive(&pid));
        starter.kill().unwrap();
        starter.wait().unwrap();
        let end = std::time::Instant::now() + std::time::Duration::from_mins(1);
        while is_alive(&pid) {
            assert!(std::time::Instant::now() < end, "{pid} is still there");
            std::thread::yield_now();
        }
    }

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
        let confined = again(MARK, "what_is_given_up_is_gone").output().unwrap();
        assert!(confined.status.success(), "{confined:?}");
    }
}
