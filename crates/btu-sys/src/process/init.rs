//! Process 1 of a compartment: starts programs, passes signals on, reaps, and dies with its parent.

use std::io;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::process::Stdio;

use nix::errno::Errno;
use nix::poll::PollFd;
use nix::poll::PollFlags;
use nix::poll::PollTimeout;
use nix::sched::CloneFlags;
use nix::sys::signal::SigSet;
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::WaitPidFlag;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

use super::Privileges;
use super::Program;
use super::ReplacedFile;
use super::Stdin;
use super::Stdout;
use super::capability;
use super::message;
use super::message::Answer;
use super::message::Order;
use super::mounts;

/// Steps of the preparation, by the index that [`Answer::Unprepared`] carries.
pub(super) const STEPS: [&str; 4] = [
    "tie init to its parent",
    "separate the mounts",
    "replace files such as /etc/resolv.conf",
    "read signals",
];

/// The state of init.
pub(super) struct Init<'p> {
    programs: &'p [Program<'p>],
    running: Vec<Option<Pid>>,
    control: BorrowedFd<'p>,
}

impl<'p> Init<'p> {
    pub(super) fn new(programs: &'p [Program<'p>], control: BorrowedFd<'p>) -> Self {
        Self { programs, running: vec![None; programs.len()], control }
    }

    /// Serves the parent until it closes its end, which is also what its death does.
    pub(super) fn serve(&mut self, files: &[ReplacedFile]) -> io::Result<()> {
        let (children, fresh) = match prepare(files) {
            Ok(prepared) => prepared,
            Err((step, cause)) => {
                let errno = cause.raw_os_error().unwrap_or(libc::EIO);
                return self.answer(Answer::Unprepared(step, errno));
            }
        };
        self.answer(Answer::Ready(i32::from(fresh)))?;
        while let Some(ready) = self.wait(&children)? {
            if ready.child {
                children.read_signal()?;
                self.reap()?;
            }
            if ready.order && !self.obey()? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn wait(&self, children: &SignalFd) -> io::Result<Option<Ready>> {
        let readable = PollFlags::POLLIN;
        let mut polled =
            [PollFd::new(self.control, readable), PollFd::new(children.as_fd(), readable)];
        match nix::poll::poll(&mut polled, PollTimeout::NONE) {
            Ok(_) => {
                let [order, child] = polled.map(|one| one.any().unwrap_or(true));
                Ok(Some(Ready { order, child }))
            }
            Err(Errno::EINTR) => Ok(Some(Ready { order: false, child: false })),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Carries out one order; false once the parent is gone.
    fn obey(&mut self) -> io::Result<bool> {
        let Some(words) = message::receive(self.control)? else { return Ok(false) };
        match Order::decode(words) {
            Some(Order::Start(program)) => self.start(program)?,
            Some(Order::Signal(program, signal)) => self.signal(program, signal),
            None => {}
        }
        Ok(true)
    }

    fn start(&mut self, index: u8) -> io::Result<()> {
        let Some(program) = self.programs.get(usize::from(index)) else { return Ok(()) };
        match spawn(program) {
            Ok(pid) => {
                self.running[usize::from(index)] = Some(pid);
                self.answer(Answer::Started(index))
            }
            Err(cause) => {
                let errno = cause.raw_os_error().unwrap_or(libc::EIO);
                self.answer(Answer::Refused(index, errno))
            }
        }
    }

    fn signal(&self, index: u8, signal: i32) {
        let running = self.running.get(usize::from(index)).copied().flatten();
        if let (Some(pid), Ok(signal)) = (running, Signal::try_from(signal)) {
            // It may have ended a moment ago; then its end is on the way to the parent.
            let _ = nix::sys::signal::kill(pid, signal);
        }
    }

    /// Reaps every child that ended, adopted orphans included.
    fn reap(&mut self) -> io::Result<()> {
        loop {
            match nix::sys::wait::waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(()),
                Ok(WaitStatus::Exited(pid, status)) => {
                    self.ended(pid, |program| Answer::Exited(program, status))?;
                }
                Ok(WaitStatus::Signaled(pid, signal, _)) => {
                    self.ended(pid, |program| Answer::Signalled(program, signal as i32))?;
                }
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn ended(&mut self, pid: Pid, answer: impl FnOnce(u8) -> Answer) -> io::Result<()> {
        let Some(index) = self.running.iter().position(|one| *one == Some(pid)) else {
            return Ok(());
        };
        self.running[index] = None;
        self.answer(answer(u8::try_from(index).unwrap_or(u8::MAX)))
    }

    fn answer(&self, answer: Answer) -> io::Result<()> {
        message::send(self.control, answer.encode()).map_err(Into::into)
    }
}

/// What woke init up.
struct Ready {
    order: bool,
    child: bool,
}

/// Everything before the first program: the queue of dead children, and whether `/proc` is fresh.
fn prepare(files: &[ReplacedFile]) -> Result<(SignalFd, bool), (u8, io::Error)> {
    let at = |step: u8| move |cause: io::Error| (step, cause);
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(|errno| at(0)(errno.into()))?;
    mounts::separate().map_err(at(1))?;
    let fresh = mounts::fresh_proc().is_ok();
    mounts::replace(files).map_err(at(2))?;
    let _ = nix::sys::prctl::set_name(c"btu-init");
    let children = dead_children().map_err(|errno| at(3)(errno.into()))?;
    Ok((children, fresh))
}

/// Blocks every signal: init is part of the terminal's foreground group and must not die of a key.
fn dead_children() -> nix::Result<SignalFd> {
    SigSet::all().thread_block()?;
    let mut child = SigSet::empty();
    child.add(Signal::SIGCHLD);
    SignalFd::with_flags(&child, nix::sys::signalfd::SfdFlags::SFD_CLOEXEC)
}

/// Forks and executes one program. `Command` passes our signal mask on, in which everything is
/// blocked, so the program gets an empty one.
fn spawn(program: &Program<'_>) -> io::Result<Pid> {
    let (name, arguments) = program.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(name);
    command.args(arguments);
    for (name, value) in &program.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    match program.stdin {
        Stdin::Inherited => command.stdin(Stdio::inherit()),
        Stdin::Null => command.stdin(Stdio::null()),
    };
    match program.stdout {
        Stdout::Inherited => command.stdout(Stdio::inherit()),
        Stdout::Stderr => command.stdout(io::stderr().as_fd().try_clone_to_owned()?),
    };
    let (network, privileges) = (program.network, program.privileges);
    let network = network.map(|fd| fd.try_clone_to_owned()).transpose()?;
    let enter = move || -> io::Result<()> {
        SigSet::empty().thread_set_mask()?;
        if let Some(network) = &network {
            nix::sched::setns(network, CloneFlags::CLONE_NEWNET)?;
        }
        match privileges {
            Privileges::Ambient => capability::keep_across_exec(&capability::NESTING),
            Privileges::Plain => capability::drop_for_exec(),
        }
    };
    // SAFETY: init has one thread, so no lock can be held by another one across this fork, and the
    // closure may do what the program itself may do.
    unsafe { command.pre_exec(enter) };
    let child = command.spawn()?;
    Ok(Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX)))
}
