//! The parent's side of a compartment: makes it, gives orders, hears what happened, takes it down.

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFd;
use nix::poll::PollFlags;
use nix::poll::PollTimeout;
use nix::sys::signal::Signal;
use nix::sys::socket::AddressFamily;
use nix::sys::socket::SockFlag;
use nix::sys::socket::SockType;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

use super::Arrived;
use super::Ended;
use super::Event;
use super::Happening;
use super::ProcessError;
use super::Program;
use super::ReplacedFile;
use super::SignalQueue;
use super::init::Init;
use super::init::STEPS;
use super::message;
use super::message::Answer;
use super::message::Order;

/// A fresh PID and mount namespace with an init of ours. Dropping it kills all that runs inside
/// and waits until it is gone; the death of this process, by whatever cause, does the same.
pub struct Compartment {
    init: Pid,
    control: OwnedFd,
    proc_is_fresh: bool,
    /// How init ended, once it was waited for: its number may be somebody else's from then on.
    ended: OnceLock<String>,
}

impl Compartment {
    /// Forks init, which knows `programs` from then on; none of them runs yet.
    ///
    /// Needs `CAP_SYS_ADMIN` in the current user namespace, and a process with one thread.
    pub fn create(programs: &[Program<'_>], files: &[ReplacedFile]) -> Result<Self, ProcessError> {
        if programs.iter().any(|program| program.argv.is_empty()) {
            return Err(ProcessError::NoProgram);
        }
        only_one_thread()?;
        let (control, theirs) = socket_pair()?;
        // SAFETY: the process has one thread, so the copy can go on as a whole process; the child
        // branch below never returns into code of the parent.
        match unsafe { fork_into_namespaces() } {
            Err(source) => {
                Err(ProcessError::Call { operation: "fork into a PID namespace", source })
            }
            Ok(None) => {
                drop(control);
                live_as_init(programs, files, theirs.as_fd())
            }
            Ok(Some(init)) => {
                drop(theirs);
                Self { init, control, proc_is_fresh: false, ended: OnceLock::new() }.prepared()
            }
        }
    }

    /// Hears whether init could prepare the namespaces.
    fn prepared(mut self) -> Result<Self, ProcessError> {
        match self.hear()? {
            Some(Answer::Ready(fresh)) => self.proc_is_fresh = fresh == 1,
            Some(Answer::Unprepared(step, errno)) => {
                let step = STEPS.get(usize::from(step)).copied().unwrap_or("an unknown step");
                let source = io::Error::from_raw_os_error(errno);
                return Err(ProcessError::Prepare { step, source });
            }
            Some(_) | None => return Err(self.init_gone()),
        }
        Ok(self)
    }

    /// Executes the program with this index; its [`Event::Started`] or [`Event::Refused`] follows.
    pub fn start(&self, program: usize) -> Result<(), ProcessError> {
        self.order(Order::Start(index(program)))
    }

    /// Sends a signal to the program with this index, if it runs.
    pub fn signal(&self, program: usize, signal: i32) -> Result<(), ProcessError> {
        self.order(Order::Signal(index(program), signal))
    }

    /// True while a program runs inside, or what one left behind: the kernel gives orphans to init.
    /// True as well where the kernel does not list children, or where `/proc` is of another namespace:
    /// the number of init is that of somebody else there.
    pub fn runs_anything(&self) -> bool {
        let init = self.init;
        let this = fs::read_link("/proc/self").unwrap_or_default();
        if !is_of_process(&this, nix::unistd::getpid()) {
            return true;
        }
        let children = fs::read_to_string(format!("/proc/{init}/task/{init}/children"));
        children.map_or(true, |children| !children.trim().is_empty())
    }

    /// Waits for an event inside or a signal from outside; `None` where `timeout` passed first.
    pub fn wait(
        &self,
        signals: &SignalQueue,
        timeout: Option<Duration>,
    ) -> Result<Option<Happening>, ProcessError> {
        let timeout = timeout.map_or(PollTimeout::NONE, |span| {
            PollTimeout::try_from(span).unwrap_or(PollTimeout::MAX)
        });
        let readable = PollFlags::POLLIN;
        let mut polled =
            [PollFd::new(signals.as_fd(), readable), PollFd::new(self.as_fd(), readable)];
        match nix::poll::poll(&mut polled, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(ProcessError::call("wait for the compartment")(errno)),
        }
        let [signalled, heard] = polled.map(|one| one.any().unwrap_or(false));
        if let Some(signal) = next_signal(signals, signalled)? {
            return Ok(Some(Happening::Signal(signal)));
        }
        heard.then(|| self.next_event().map(Happening::Inside)).transpose()
    }

    /// Waits for what happens next inside.
    pub fn next_event(&self) -> Result<Event, ProcessError> {
        loop {
            match self.hear()? {
                None => return Err(self.init_gone()),
                Some(answer) => {
                    if let Some(event) = event(answer) {
                        return Ok(event);
                    }
                }
            }
        }
    }

    /// True where `/proc` inside shows the processes inside only.
    pub const fn proc_is_fresh(&self) -> bool {
        self.proc_is_fresh
    }

    fn order(&self, order: Order) -> Result<(), ProcessError> {
        message::send(&self.control, order.encode())
            .map_err(ProcessError::call("give init an order"))
    }

    fn hear(&self) -> Result<Option<Answer>, ProcessError> {
        let heard = message::receive(&self.control)
            .map_err(|source| ProcessError::Call { operation: "hear from init", source })?;
        Ok(heard.and_then(Answer::decode))
    }

    fn init_gone(&self) -> ProcessError {
        ProcessError::InitGone(self.ended.get_or_init(|| ended(self.init)).clone())
    }
}

impl AsFd for Compartment {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }
}

impl Drop for Compartment {
    /// Init is dead only once everything in its namespace is (`zap_pid_ns_processes`).
    fn drop(&mut self) {
        let init = self.init;
        self.ended.get_or_init(|| {
            let _ = nix::sys::signal::kill(init, Signal::SIGKILL);
            ended(init)
        });
    }
}

impl fmt::Debug for Compartment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Compartment").field("init", &self.init).finish_non_exhaustive()
    }
}

/// Waits until init is gone; how it ended.
fn ended(init: Pid) -> String {
    loop {
        return match nix::sys::wait::waitpid(init, None) {
            Err(Errno::EINTR) => continue,
            Ok(WaitStatus::Signaled(_, signal, _)) => format!("killed by {signal}"),
            Ok(WaitStatus::Exited(_, status)) => format!("status {status}"),
            Ok(other) => format!("{other:?}"),
            Err(errno) => errno.to_string(),
        };
    }
}

/// The next signal, where poll saw one. One that came after poll stays for the next wait.
fn next_signal(signals: &SignalQueue, is_seen: bool) -> Result<Option<Arrived>, ProcessError> {
    let read = |source| ProcessError::Call { operation: "read the queue of signals", source };
    if is_seen { signals.next().map_err(read) } else { Ok(None) }
}

/// True where `/proc/self` leads to a process by the number that it has for itself.
fn is_of_process(this: &Path, own: Pid) -> bool {
    this == Path::new(&own.to_string())
}

fn event(answer: Answer) -> Option<Event> {
    let byte = |value: i32| u8::try_from(value).unwrap_or(u8::MAX);
    let ended = |program: u8, ended: Ended| Event::Ended { program: program.into(), ended };
    match answer {
        Answer::Ready(_) | Answer::Unprepared(..) => None,
        Answer::Started(program) => Some(Event::Started { program: program.into() }),
        Answer::Refused(program, errno) => {
            let cause = io::Error::from_raw_os_error(errno);
            Some(Event::Refused { program: program.into(), cause })
        }
        Answer::Exited(program, status) => Some(ended(program, Ended::Exited(byte(status)))),
        Answer::Signalled(program, signal) => Some(ended(program, Ended::Signalled(byte(signal)))),
    }
}

fn index(program: usize) -> u8 {
    u8::try_from(program).unwrap_or(u8::MAX)
}

/// The child's whole life. Nothing of the parent may be unwound or run at exit in the copy.
fn live_as_init(programs: &[Program<'_>], files: &[ReplacedFile], control: BorrowedFd<'_>) -> ! {
    let life = || Init::new(programs, control).serve(files);
    let status = match std::panic::catch_unwind(AssertUnwindSafe(life)) {
        Ok(Ok(())) => 0,
        Ok(Err(_)) => 1,
        Err(_panic) => 2,
    };
    // SAFETY: ends the process at once; takes a number only.
    unsafe { libc::_exit(status) }
}

/// `fork` and new PID and mount namespaces in one step: `unshare` would move all later children of
/// this process, and forbid it new threads. `None` in the child.
///
/// # Safety
/// The calling process must have one thread: locks that others hold stay locked in the copy.
unsafe fn fork_into_namespaces() -> io::Result<Option<Pid>> {
    let flags = libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::SIGCHLD;
    let flags = libc::c_long::from(flags);
    // SAFETY: without CLONE_VM and with no stack given, the child gets a copy of everything, as
    // with fork; the caller sees to the locks.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) };
    match i32::try_from(pid) {
        Ok(0) => Ok(None),
        Ok(pid) if pid > 0 => Ok(Some(Pid::from_raw(pid))),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A thread that was joined may stay in the kernel's list for a moment more.
fn only_one_thread() -> Result<(), ProcessError> {
    let mut threads = thread_count();
    for _ in 0..1000 {
        if threads == 1 {
            return Ok(());
        }
        thread::yield_now();
        threads = thread_count();
    }
    Err(ProcessError::Threads(threads))
}

fn thread_count() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

fn socket_pair() -> Result<(OwnedFd, OwnedFd), ProcessError> {
    let (family, kind) = (AddressFamily::Unix, SockType::SeqPacket);
    nix::sys::socket::socketpair(family, kind, None, SockFlag::SOCK_CLOEXEC)
        .map_err(ProcessError::call("make a socket pair"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_comes_after_poll_stays_for_the_next_wait() {
        let signals = SignalQueue::open().unwrap();
        nix::sys::signal::raise(Signal::SIGUSR2).unwrap();
        assert_eq!(next_signal(&signals, false).unwrap(), None);
        let arrived = next_signal(&signals, true).unwrap().unwrap();
        assert_eq!(arrived.signal, libc::SIGUSR2);
        assert_eq!(next_signal(&signals, true).unwrap(), None);
    }

    /// Its number may belong to somebody else then: it is waited for, and killed, no more.
    #[test]
    #[expect(clippy::zombie_processes, reason = "the compartment waits for it")]
    fn an_init_that_is_gone_stays_gone() {
        let init = std::process::Command::new("false").spawn().unwrap();
        let init = Pid::from_raw(init.id().try_into().unwrap());
        let (control, _) = socket_pair().unwrap();
        let compartment =
            Compartment { init, control, proc_is_fresh: false, ended: OnceLock::new() };
        for _ in 0..2 {
            let ProcessError::InitGone(how) = compartment.init_gone() else { panic!() };
            assert_eq!(how, "status 1");
        }
    }

    #[test]
    fn the_processes_of_another_namespace_are_told_from_ours() {
        let this = fs::read_link("/proc/self").unwrap();
        assert!(is_of_process(&this, nix::unistd::getpid()));
        // In a namespace within, where /proc could not be mounted anew, the same process is the second.
        assert!(!is_of_process(&this, Pid::from_raw(2)));
        assert!(!is_of_process(Path::new(""), nix::unistd::getpid()));
    }
}
