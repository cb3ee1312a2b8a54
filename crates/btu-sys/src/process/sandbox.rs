//! Everything that a process gives up before it hears strangers, in one call.
//!
//! Capabilities and new privileges go in any case. Files by Landlock and system calls by seccomp go
//! where the kernel has them; where it has not, the caller learns why and says so.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;

use super::capability::CAP_NET_ADMIN;
use super::confine::give_up_rights;
use super::confine::keep_network_rights;
use super::landlock;
use super::landlock::Reach;
use super::seccomp;

/// What a process may still touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Files to read and to execute.
    pub programs: Vec<PathBuf>,
    /// Files, and directories with all below them, to read.
    pub readable: Vec<PathBuf>,
    /// Directories with all below them, to read and to change.
    pub writable: Vec<PathBuf>,
}

/// The system calls that a process may still make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Those of a process that starts others and ends them.
    Supervisor,
    /// Those of a process that starts threads only, and reaches no other process.
    Worker,
}

/// What holds beside the loss of all capabilities; where it does not, the kernel's answer.
#[derive(Debug)]
pub struct Confinement {
    /// The version of Landlock that bounds files.
    pub files: io::Result<u32>,
    /// Whether seccomp bounds system calls.
    pub calls: io::Result<()>,
}

impl Bounds {
    /// What every process of ours needs: this program and its libraries, and what the kernel says
    /// of the machine.
    pub fn of_this_program() -> io::Result<Self> {
        let readable = ["/proc", "/sys", "/etc/os-release", "/etc/ld.so.cache"];
        let programs = mapped_programs()?;
        Ok(Self { programs, readable: readable.map(PathBuf::from).into(), writable: Vec::new() })
    }
}

/// Gives up all rights but these, for good, in the whole process; what it starts inherits that.
///
/// Threads that run already must have called [`confine_thread`]: an error says that one did not,
/// or that the kernel refused a bound that it knows.
pub fn confine(bounds: &Bounds, calls: Calls) -> io::Result<Confinement> {
    give_up_rights()?;
    let confinement = bound(bounds, calls)?;
    no_thread_has_more_than(NOTHING)?;
    Ok(confinement)
}

/// The same for a process that keeps `CAP_NET_ADMIN`: it may change the network namespace that it is
/// in, and cannot leave it, since that takes a right and a call that it has no more.
pub fn confine_to_network(bounds: &Bounds) -> io::Result<Confinement> {
    keep_network_rights()?;
    let confinement = bound(bounds, Calls::Worker)?;
    no_thread_has_more_than(NETWORK)?;
    Ok(confinement)
}

/// The same for the calling thread and those that it starts later, without a filter of its own.
/// Returns the version of Landlock, or why it bounds nothing.
pub fn confine_thread(bounds: &Bounds) -> io::Result<io::Result<u32>> {
    give_up_rights()?;
    bound_files(bounds, Reach::All)
}

fn bound_files(bounds: &Bounds, reach: Reach) -> io::Result<io::Result<u32>> {
    let version = landlock::version();
    if let Ok(version) = version {
        landlock::restrict(bounds, version, reach)?;
    }
    Ok(version)
}

fn bound(bounds: &Bounds, calls: Calls) -> io::Result<Confinement> {
    // What was started before is not below this process, and has to be ended by whoever starts others.
    let reach = match calls {
        Calls::Supervisor => Reach::All,
        Calls::Worker => Reach::Itself,
    };
    let files = bound_files(bounds, reach)?;
    let filter = seccomp::available();
    if filter.is_ok() {
        seccomp::filter(calls)?;
    }
    Ok(Confinement { files, calls: filter })
}

/// Capabilities are a thread's own: one that keeps them keeps them for the process.
fn no_thread_has_more_than(allowed: u64) -> io::Result<()> {
    for thread in fs::read_dir("/proc/self/task")? {
        let Some(status) = status_of(&thread?.path())? else { continue };
        let set = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(u64::MAX)
        };
        if (set("CapEff:") | set("CapPrm:")) & !allowed != 0 {
            let name = status.lines().next().unwrap_or_default();
            return Err(io::Error::other(format!("the thread {name} keeps capabilities")));
        }
    }
    Ok(())
}

/// The status of a thread; `None` of one that has ended, which has no rights any more.
fn status_of(thread: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(thread.join("status")) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) if cause.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        read => read.map(Some),
    }
}

/// The files whose code this process runs, itself the first.
fn mapped_programs() -> io::Result<Vec<PathBuf>> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let code = maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|r| r.contains('x')));
    let files = code.filter_map(|line| line.find('/').map(|start| &line[start..]));
    let files: BTreeSet<&str> = files.collect();
    // By this name the program is found even where its file was replaced.
    let own = PathBuf::from("/proc/self/exe");
    Ok(std::iter::once(own).chain(files.into_iter().map(PathBuf::from)).collect())
}

const NOTHING: u64 = 0;
const NETWORK: u64 = 1 << CAP_NET_ADMIN;

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::net::TcpStream;
    use std::process::Command;
    use std::process::Stdio;

    use super::*;
    use crate::trial;

    const MARK: &str = "BTU_SYS_SANDBOX";

    /// Runs the calling test again in a process of its own, since nothing gives rights back.
    fn alone(name: &str, folder: &Path) {
        let own = std::env::current_exe().unwrap();
        let name = format!("process::sandbox::tests::{name}");
        let done = Command::new(own)
            .args(["--exact", &name, "--test-threads", "1", "--nocapture"])
            .env(MARK, folder)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    fn number<T>(tried: io::Result<T>) -> Option<i32> {
        tried.err().and_then(|error| error.raw_os_error())
    }

    fn system_call(number: libc::c_long, arguments: [libc::c_long; 3]) -> io::Result<()> {
        let [first, second, third] = arguments;
        // SAFETY: every call that is tried here takes numbers, and is refused before it is begun, or changes
        // nothing.
        let result = unsafe { libc::syscall(number, first, second, third, 0, 0) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    #[test]
    fn a_confined_process_opens_what_it_may_and_nothing_else() {
        let Some(folder) = std::env::var_os(MARK).map(PathBuf::from) else {
            let folder = std::env::temp_dir().join(format!("btu-sandbox-{}", std::process::id()));
            fs::create_dir_all(folder.join("own")).unwrap();
            fs::write(folder.join("other"), "another's").unwrap();
            alone("a_confined_process_opens_what_it_may_and_nothing_else", &folder);
            assert_eq!(fs::read(folder.join("other")).unwrap(), b"another's");
            return fs::remove_dir_all(folder).unwrap();
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (own, other) = (folder.join("own"), folder.join("other"));
        let bounds = Bounds { writable: vec![own.clone()], ..Bounds::of_this_program().unwrap() };
        give_up_rights().unwrap();
        let version = match bound(&bounds, Calls::Supervisor).unwrap().files {
            Ok(version) => version,
            Err(error) => skip!("kernel lacks: Landlock ({error})"),
        };
        fs::write(own.join("a"), "text").unwrap();
        fs::rename(own.join("a"), own.join("b")).unwrap();
        assert_eq!(fs::read(own.join("b")).unwrap(), b"text");
        assert!(!fs::read("/proc/self/status").unwrap().is_empty());
        let denied = Some(libc::EACCES);
        assert_eq!(number(fs::read(&other)), denied);
        assert_eq!(number(fs::write(&other, "mine")), denied);
        assert_eq!(number(fs::write(folder.join("new"), "mine")), denied);
        assert!(fs::rename(own.join("b"), folder.join("b")).is_err());
        assert_eq!(number(Command::new("/bin/true").status()), denied);
        let again = Command::new("/proc/self/exe").arg("--list").stdin(Stdio::inherit()).output();
        let again = again.unwrap();
        assert!(again.status.success(), "the program cannot start itself");
        if version >= 4 {
            assert_eq!(number(TcpStream::connect(listener.local_addr().unwrap())), denied);
        }
    }

    #[test]
    fn a_confined_process_is_refused_what_is_not_on_its_list() {
        if std::env::var_os(MARK).is_none() {
            let nowhere = Path::new("/");
            return alone("a_confined_process_is_refused_what_is_not_on_its_list", nowhere);
        }
        let sealed = nix::sys::memfd::MFdFlags::from_bits_retain(crate::memory::MFD_NOEXEC_SEAL);
        let seals = nix::sys::memfd::memfd_create(c"trial", sealed).is_ok();
        give_up_rights().unwrap();
        let confined = bound(&Bounds::of_this_program().unwrap(), Calls::Worker).unwrap();
        if let Err(error) = confined.calls {
            skip!("kernel lacks: seccomp ({error})");
        }
        let refused = Some(libc::EPERM);
        assert_eq!(number(trial::io_uring()), refused);
        let user_namespace = libc::c_long::from(libc::CLONE_NEWUSER);
        for (call, argument) in [
            (libc::SYS_unshare, user_namespace),
            (libc::SYS_clone, user_namespace),
            (libc::SYS_ptrace, 0),
            (libc::SYS_mount, 0),
            (libc::SYS_execve, 0),
            (libc::SYS_bpf, 0),
            (libc::SYS_perf_event_open, 0),
            (libc::SYS_socket, libc::c_long::from(libc::AF_PACKET)),
            (libc::SYS_socket, libc::c_long::from(libc::AF_XDP)),
            (libc::SYS_kexec_load, 0),
            (libc::SYS_memfd_create, 0),
        ] {
            assert_eq!(number(system_call(call, [argument, 0, 0])), refused, "call {call}");
        }
        // What the list cannot know looks like what an older kernel lacks.
        let unknown = Some(libc::ENOSYS);
        assert_eq!(number(system_call(libc::SYS_clone3, [0; 3])), unknown);
        assert_eq!(number(system_call(99_999, [0; 3])), unknown);
        // What cannot be executed is only memory, where the kernel knows the difference.
        let expected = if seals { Ok(()) } else { Err(nix::errno::Errno::EPERM) };
        assert_eq!(crate::memory::file(c"message").map(drop), expected);
        // Threads and sockets are what its work is made of.
        let worked = std::thread::spawn(|| TcpListener::bind("127.0.0.1:0").is_ok()).join();
        assert!(worked.unwrap());
    }

    /// Whose user it shares is everybody of its agent, and a container's daemon where that is root.
    #[test]
    fn a_confined_worker_reaches_no_other_process() {
        if std::env::var_os(MARK).is_none() {
            return alone("a_confined_worker_reaches_no_other_process", Path::new("/"));
        }
        give_up_rights().unwrap();
        let bounds = Bounds::of_this_program().unwrap();
        if let Err(error) = bound(&bounds, Calls::Worker).unwrap().calls {
            skip!("kernel lacks: seccomp ({error})");
        }
        let (own, other) = (std::process::id().into(), std::os::unix::process::parent_id().into());
        let nobody = libc::c_long::from(libc::AF_UNIX);
        let (every_process_of_a_user, its_own) = (libc::PRIO_USER.into(), 0);
        for (call, arguments) in [
            (libc::SYS_socket, [nobody, libc::SOCK_STREAM.into(), 0]),
            (libc::SYS_socketpair, [nobody, libc::SOCK_DGRAM.into(), 0]),
            (libc::SYS_clone, [libc::SIGCHLD.into(), 0, 0]),
            (libc::SYS_kill, [other, 0, 0]),
            (libc::SYS_tgkill, [other, other, 0]),
            (libc::SYS_prlimit64, [other, libc::RLIMIT_CPU.into(), 0]),
            (libc::SYS_sched_setaffinity, [other, 0, 0]),
            (libc::SYS_sched_setattr, [other, 0, 0]),
            (libc::SYS_setpriority, [libc::PRIO_PROCESS.into(), other, 19]),
            (libc::SYS_setpriority, [every_process_of_a_user, its_own, 19]),
            (libc::SYS_fcntl, [0, libc::F_SETOWN.into(), other]),
            (libc::SYS_fcntl, [0, 10, libc::SIGKILL.into()]),
        ] {
            let refused = Some(libc::EPERM);
            assert_eq!(number(system_call(call, arguments)), refused, "{call} {arguments:?}");
        }
        // All of that is its own to do, but for a thread that is not there.
        let nothing = Some(libc::EINVAL);
        assert_eq!(number(system_call(libc::SYS_tgkill, [own, 0, 0])), nothing);
        system_call(libc::SYS_prlimit64, [0, libc::RLIMIT_CPU.into(), 0]).unwrap();
        system_call(libc::SYS_setpriority, [libc::PRIO_PROCESS.into(), 0, 19]).unwrap();
        crate::cpu::pin(&crate::cpu::allowed().unwrap()).unwrap();
    }

    /// Beside the list of calls, where the kernel has it: a signal has more than one way.
    #[test]
    fn who_reaches_itself_alone_sends_no_signal_and_finds_no_socket_without_a_file() {
        use std::os::linux::net::SocketAddrExt;
        use std::os::unix::net::SocketAddr;
        use std::os::unix::net::UnixListener;
        use std::os::unix::net::UnixStream;

        if std::env::var_os(MARK).is_none() {
            let name =
                "who_reaches_itself_alone_sends_no_signal_and_finds_no_socket_without_a_file";
            let listener = format!("btu-sandbox-{}", std::process::id());
            let at = SocketAddr::from_abstract_name(&listener).unwrap();
            let _listener = UnixListener::bind_addr(&at).unwrap();
            return alone(name, Path::new(&listener));
        }
        let name = std::env::var(MARK).unwrap();
        let at = SocketAddr::from_abstract_name(&name).unwrap();
        UnixStream::connect_addr(&at).unwrap();
        give_up_rights().unwrap();
        match bound_files(&Bounds::of_this_program().unwrap(), Reach::Itself).unwrap() {
            Ok(6..) => {}
            answer => skip!("kernel lacks: Landlock 6 ({answer:?})"),
        }
        let refused = Some(libc::EPERM);
        assert_eq!(number(UnixStream::connect_addr(&at)), refused);
        let [own, other] = [std::process::id(), std::os::unix::process::parent_id()];
        assert_eq!(number(system_call(libc::SYS_kill, [other.into(), 0, 0])), refused);
        system_call(libc::SYS_kill, [own.into(), 0, 0]).unwrap();
    }

    #[test]
    fn a_thread_that_has_ended_keeps_nothing() {
        assert_eq!(status_of(Path::new("/proc/self/task/0")).unwrap(), None);
        assert!(status_of(Path::new("/proc/thread-self")).unwrap().is_some());
        no_thread_has_more_than(u64::MAX).unwrap();
    }

    /// A thread that was there before has its own capabilities.
    #[test]
    fn a_thread_that_keeps_its_rights_is_named() {
        if std::env::var_os(MARK).is_none() {
            return alone("a_thread_that_keeps_its_rights_is_named", Path::new("/"));
        }
        if !crate::namespace::is_privileged() {
            skip!("not root: there are no rights to keep");
        }
        // Beside this one there is the test runner's own thread, too.
        let (end, wait) = std::sync::mpsc::channel::<()>();
        let other = std::thread::Builder::new().name("relay".to_owned());
        let other = other.spawn(move || wait.recv()).unwrap();
        let refused = confine(&Bounds::of_this_program().unwrap(), Calls::Worker).unwrap_err();
        assert!(refused.to_string().contains("keeps capabilities"), "{refused}");
        drop(end);
        assert!(other.join().unwrap().is_err());
    }

    /// What is kept is of the namespace where it is, and no way leads out of that.
    #[test]
    fn who_keeps_its_network_keeps_that_alone() {
        if std::env::var_os(MARK).is_none() {
            return alone("who_keeps_its_network_keeps_that_alone", Path::new("/"));
        }
        if !crate::namespace::is_privileged() {
            skip!("not root: there are no rights to keep");
        }
        // In a thread of its own, since the test runner's keeps its rights.
        let ours = crate::namespace::NetNs::create().unwrap();
        let elsewhere = crate::namespace::NetNs::create().unwrap();
        ours.enter().unwrap();
        let mut netlink = crate::netlink::Netlink::here().unwrap();
        let refused = confine_to_network(&Bounds::of_this_program().unwrap()).unwrap_err();
        assert!(refused.to_string().contains("keeps capabilities"), "{refused}");
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        assert!(status.contains("CapEff:\t0000000000001000"), "{status}");
        assert!(status.contains("CapPrm:\t0000000000001000"), "{status}");
        let loopback = netlink.link("lo").unwrap().index;
        netlink.set_up(loopback).unwrap();
        assert!(elsewhere.enter().is_err());
    }
}
