//! The CPUs that a thread may use, and what it used of them.

mod set;

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::thread::JoinHandleExt;
use std::thread::JoinHandle;

use nix::sched::CpuSet as KernelSet;
use nix::sys::resource::UsageWho;
use nix::sys::resource::getrusage;
use nix::sys::time::TimeValLike;
use nix::time::ClockId;
use nix::unistd::Pid;

use crate::clock;
use crate::error::Error;
use crate::error::Result;

pub use set::CpuListError;
pub use set::CpuSet;

/// What one thread used so far, read inside that thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct ThreadUse {
    /// CPU time, exact.
    pub cpu_ns: u64,
    /// Time runnable but not running; `None` where the kernel keeps no schedstat.
    pub run_delay_ns: Option<u64>,
    /// Switches because the thread had to wait.
    pub voluntary_switches: u64,
    /// Switches because somebody else was given the CPU.
    pub involuntary_switches: u64,
}

impl ThreadUse {
    /// What the calling thread used until now.
    pub fn now() -> Self {
        let switches = getrusage(UsageWho::RUSAGE_THREAD).ok();
        let count = |value: i64| u64::try_from(value).unwrap_or(0);
        Self {
            cpu_ns: thread_cpu_ns(),
            run_delay_ns: RunDelay::of_this_thread().ok().and_then(|delay| delay.now_ns()),
            voluntary_switches: switches.map_or(0, |u| count(u.voluntary_context_switches())),
            involuntary_switches: switches.map_or(0, |u| count(u.involuntary_context_switches())),
        }
    }

    /// What was used since `earlier`, a reading of the same thread.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            run_delay_ns: self
                .run_delay_ns
                .zip(earlier.run_delay_ns)
                .map(|(now, then)| now.saturating_sub(then)),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }
}

/// Where one thread is, asked from any other.
#[derive(Debug)]
pub struct Whereabouts {
    stat: fs::File,
}

impl Whereabouts {
    /// Of the calling thread.
    pub fn of_this_thread() -> Result<Self> {
        Ok(Self { stat: open("/proc/thread-self/stat")? })
    }

    /// The CPU on which the thread runs, or ran last; `None` once it has ended. Allocates nothing.
    pub fn cpu(&self) -> Option<u32> {
        let mut space = [0; 1024];
        let length = self.stat.read_at(&mut space, 0).ok()?;
        let text = space.get(..length)?;
        // The name in parentheses may hold anything; field 39 of proc_pid_stat(5) is the processor.
        let after_name = text.iter().rposition(|byte| *byte == b')')? + 1;
        let fields = str::from_utf8(text.get(after_name..)?).ok()?;
        fields.split_ascii_whitespace().nth(36)?.parse().ok()
    }
}

/// How long one thread has waited for a CPU, asked again and again.
#[derive(Debug)]
pub struct RunDelay {
    schedstat: fs::File,
}

impl RunDelay {
    /// Of the calling thread.
    pub fn of_this_thread() -> Result<Self> {
        Ok(Self { schedstat: open("/proc/thread-self/schedstat")? })
    }

    /// Time runnable but not running, since the thread began, ns; `None` once it has ended. Allocates nothing.
    pub fn now_ns(&self) -> Option<u64> {
        let mut space = [0; 96];
        let length = self.schedstat.read_at(&mut space, 0).ok()?;
        let text = str::from_utf8(space.get(..length)?).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}

fn open(path: &str) -> Result<fs::File> {
    fs::File::open(path).map_err(|cause| Error::new(format!("open {path}"), cause))
}

/// CPU time of the calling thread.
#[inline]
pub fn thread_cpu_ns() -> u64 {
    clock::now_ns(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of another thread of this process; `None` once it has ended.
pub fn cpu_ns_of<T>(thread: &JoinHandle<T>) -> Option<u64> {
    let mut clock = 0;
    // SAFETY: the handle keeps the thread joinable, so that its identity stays valid; `clock` is a live `clockid_t`.
    let refused = unsafe { libc::pthread_getcpuclockid(thread.as_pthread_t(), &raw mut clock) };
    let time = (refused == 0).then(|| ClockId::from_raw(clock).now().ok()).flatten()?;
    u64::try_from(time.num_nanoseconds()).ok()
}

/// CPU time of the whole process, threads that ended included.
pub fn process_cpu_ns() -> u64 {
    clock::now_ns(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// The CPU on which the calling thread runs at this moment.
pub fn current() -> Option<u32> {
    // SAFETY: takes no arguments and touches no memory of ours.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).ok()
}

/// The CPUs that the calling thread may use.
pub fn allowed() -> Result<CpuSet> {
    let set = nix::sched::sched_getaffinity(Pid::from_raw(0))
        .map_err(|cause| Error::new("sched_getaffinity of this thread", cause))?;
    Ok((0..KernelSet::count()).filter(|cpu| set.is_set(*cpu) == Ok(true)).map(narrow).collect())
}

/// Restricts the calling thread to the CPUs of `set`; threads that it starts later inherit them.
pub fn pin(set: &CpuSet) -> Result<()> {
    let operation = || format!("pin this thread to CPUs {set}");
    let mut kernel = KernelSet::new();
    for cpu in set.iter() {
        let index = usize::try_from(cpu).unwrap_or(usize::MAX);
        kernel.set(index).map_err(|cause| Error::new(operation(), cause))?;
    }
    nix::sched::sched_setaffinity(Pid::from_raw(0), &kernel)
        .map_err(|cause| Error::new(operation(), cause))
}

/// Lets the timers of the calling thread end up to `slack_ns` late (the default is 50 us; the least is 1).
pub fn set_timer_slack(slack_ns: u64) -> Result<()> {
    nix::sys::prctl::set_timerslack(slack_ns.max(1))
        .map_err(|cause| Error::new(format!("set the timer slack to {slack_ns} ns"), cause))
}

/// Asks the scheduler to run the calling thread soon after it wakes up, beside others on its CPU.
///
/// Sets the shortest slice (0.1 ms: with EEVDF a short slice means an early deadline, Linux 6.12),
/// which needs no right, and the best nice value, which needs `CAP_SYS_NICE`. No real-time policy: its
/// throttle would stop a busy thread for 50 ms in each second ([`go_first`] is for others). Tells what was
/// granted.
pub fn prefer_latency() -> Latency {
    Latency {
        short_slice: set_slice(SHORTEST_SLICE_NS).is_ok(),
        high_weight: set_nice(-20).is_ok(),
    }
}

/// Lets the calling thread run as soon as it wakes up, before all ordinary ones: the lowest rank of `SCHED_FIFO`.
///
/// Needs `CAP_SYS_NICE`, or `RLIMIT_RTPRIO`. For a thread that sleeps most of the time: one that does not keeps
/// all others from its CPU, and the kernel then stops it for 50 ms in each second. [`prefer_latency`] takes
/// it back.
///
/// # Errors
/// It was not granted.
pub fn go_first() -> Result<()> {
    set_scheduler(&SchedAttributes {
        policy: libc::SCHED_FIFO.unsigned_abs(),
        priority: 1,
        ..SchedAttributes::default()
    })
    .map_err(|cause| Error::new("run before ordinary threads", cause))
}

/// What [`prefer_latency`] was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// A short slice.
    pub short_slice: bool,
    /// The best nice value.
    pub high_weight: bool,
}

/// Sets the slice of the calling thread under the ordinary policy. Its nice value stays: one that is lower
/// needs a right.
fn set_slice(slice_ns: u64) -> Result<()> {
    set_scheduler(&SchedAttributes { slice_ns, nice: nice(), ..SchedAttributes::default() })
        .map_err(|cause| Error::new(format!("set a slice of {slice_ns} ns"), cause))
}

/// Of the calling thread.
fn set_scheduler(wanted: &SchedAttributes) -> io::Result<()> {
    let size = u32::try_from(size_of::<SchedAttributes>()).unwrap_or(0);
    let attributes = SchedAttributes { size, ..*wanted };
    // SAFETY: the kernel reads `size` bytes of a record that lives until the call returns.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The nice value of the calling thread.
fn nice() -> i32 {
    // SAFETY: takes numbers only. Of the calling thread it cannot fail.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

/// Sets the nice value of the calling thread; on Linux it is a thread's, not a process's.
fn set_nice(nice: i32) -> Result<()> {
    let which = libc::PRIO_PROCESS;
    // SAFETY: takes numbers only.
    let answer = unsafe { libc::setpriority(which, 0, nice) };
    if answer == 0 { Ok(()) } else { Err(Error::last(format!("set nice to {nice}"))) }
}

/// `struct sched_attr` of `sched_setattr(2)`, without its later fields.
#[repr(C)]
#[derive(Default)]
struct SchedAttributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    slice_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

const SHORTEST_SLICE_NS: u64 = 100_000;

/// CPU numbers are small: the kernel's largest set has 1024.
fn narrow(cpu: usize) -> u32 {
    u32::try_from(cpu).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
