//! What the threads and processes of a server use: CPU time, calls and bytes of a disk, by the kernel's count of each.
//!
//! `/proc/PID/schedstat` is of the main thread alone, and a thread that ended is gone from `/proc`: each adds its own
//! when it ends. The kernel counts calls that read and write files (`task_io_accounting`), `send` and `recv` it does
//! not: these the server counts itself. A process counts with all that it started; its clock and `/proc/PID/io` hold what
//! its threads used that ended.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::file::sample::ServerSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_core::words::sentence;
use btu_sys::process;

/// The account of a server.
#[derive(Clone, Debug, Default)]
pub struct Account(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    roll: Mutex<Roll>,
    /// `send` and `recv`.
    calls: AtomicU64,
    /// Why nobody counts them.
    uncounted: Option<&'static str>,
}

/// Threads and processes that go on, and what those used that ended.
#[derive(Debug, Default)]
struct Roll {
    going_on: Vec<Worker>,
    ended: Usage,
}

/// Who works for the server.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Worker {
    /// A process and all that it started, by its number.
    Process(u32),
    /// A thread of this process, in `/proc`.
    Thread(PathBuf),
}

/// A thread or a process on the roll. Dropped, by that thread or before anybody waits for the process, it leaves what
/// it used.
#[derive(Debug)]
pub(crate) struct Enrolled {
    account: Account,
    worker: Worker,
}

/// What threads used, or why nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Time on a CPU, in ns.
    pub cpu_ns: Result<u64, String>,
    /// Calls that read and wrote, files and sockets alike.
    pub calls: Result<u64, String>,
    /// Bytes that came from a disk.
    pub disk_read_bytes: Result<u64, String>,
    /// Bytes that go to a disk.
    pub disk_written_bytes: Result<u64, String>,
}

impl Account {
    /// One whose server cannot count its calls, for this reason.
    pub(crate) fn without_calls(reason: &'static str) -> Self {
        Self(Arc::new(Shared { uncounted: Some(reason), ..Shared::default() }))
    }

    /// Takes the calling thread on the roll until the value is dropped by it.
    pub(crate) fn enrol(&self) -> Enrolled {
        let own = fs::read_link("/proc/thread-self").unwrap_or_default();
        self.take_on(Worker::Thread(Path::new("/proc").join(own)))
    }

    /// Takes a process that was just started on the roll, with all that it will start, until the value is dropped:
    /// before anybody waits for its end, which takes its figures with it.
    pub(crate) fn enrol_process(&self, process: u32) -> Enrolled {
        self.take_on(Worker::Process(process))
    }

    fn take_on(&self, worker: Worker) -> Enrolled {
        self.lock().going_on.push(worker.clone());
        Enrolled { account: self.clone(), worker }
    }

    /// A call that the kernel does not count was made.
    #[inline]
    pub(crate) fn count_call(&self) {
        self.0.calls.fetch_add(1, Relaxed);
    }

    /// What all threads and processes used so far.
    pub fn usage(&self) -> Usage {
        // Nobody leaves the roll meanwhile: no thread is counted twice, or not at all.
        let roll = self.lock();
        let living = roll.going_on.iter().map(Worker::usage);
        let all = living.fold(roll.ended.clone(), |sum, one| sum.plus(&one));
        let own = self.0.calls.load(Relaxed);
        let calls = self.0.uncounted.map_or(Ok(own), |reason| Err(reason.to_owned()));
        all.plus(&Usage { calls, ..Usage::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Roll> {
        self.0.roll.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Enrolled {
    fn drop(&mut self) {
        let mut roll = self.account.lock();
        roll.going_on.retain(|worker| *worker != self.worker);
        roll.ended = roll.ended.plus(&self.worker.usage());
    }
}

impl Worker {
    fn usage(&self) -> Usage {
        match self {
            Self::Process(process) => Usage::of_family(*process),
            Self::Thread(path) => Usage::of_thread(path),
        }
    }
}

impl Usage {
    fn of_thread(thread: &Path) -> Self {
        let cpu_ns = read(thread, "schedstat", THREAD).and_then(|text| first(&text));
        Self { cpu_ns, ..Self::of_io(thread, THREAD) }
    }

    /// Of a process and all that it started.
    fn of_family(process: u32) -> Self {
        let family = match process::family(process) {
            Ok(family) => family,
            Err(cause) => return Self::unknown(&sentence(&cause)),
        };
        let read = family.into_iter().map(|one| (one, Self::of_process(one)));
        // What a child used that ended meanwhile has whoever waited for it.
        let there = read.filter(|(one, _)| *one == process || folder_of(*one).exists());
        there.fold(Self::default(), |sum, (_, one)| sum.plus(&one))
    }

    fn of_process(process: u32) -> Self {
        let cpu_ns = process::cpu_with_waited_for(process).map_err(|cause| sentence(&cause));
        Self { cpu_ns, ..Self::of_io(&folder_of(process), PROCESS) }
    }

    /// All but the CPU time.
    fn of_io(folder: &Path, shown: &str) -> Self {
        let io = read(folder, "io", shown);
        let counter = |name| io.as_deref().map_err(Clone::clone).and_then(|io| number(io, name));
        let calls = counter("syscr:").and_then(|read| Ok(read + counter("syscw:")?));
        Self {
            calls,
            disk_read_bytes: counter("read_bytes:"),
            disk_written_bytes: counter("write_bytes:"),
            ..Self::default()
        }
    }

    fn unknown(reason: &str) -> Self {
        let unknown = || Err(reason.to_owned());
        Self {
            cpu_ns: unknown(),
            calls: unknown(),
            disk_read_bytes: unknown(),
            disk_written_bytes: unknown(),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// What came since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.with(earlier, u64::saturating_sub)
    }

    fn with(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let join = |own: &Result<u64, String>, other: &Result<u64, String>| {
            Ok(join(own.clone()?, other.clone()?))
        };
        Self {
            cpu_ns: join(&self.cpu_ns, &other.cpu_ns),
            calls: join(&self.calls, &other.calls),
            disk_read_bytes: join(&self.disk_read_bytes, &other.disk_read_bytes),
            disk_written_bytes: join(&self.disk_written_bytes, &other.disk_written_bytes),
        }
    }

    /// As a sample has it: what is not known is named with its reason.
    pub fn sample(self, host: &str, elapsed_ns: Nanos) -> ServerSample {
        let mut sample =
            ServerSample { host: host.to_owned(), elapsed_ns, ..ServerSample::default() };
        let mut known = |name: &str, figure: Result<u64, String>| {
            let told = |reason| sample.not_available.insert(name.to_owned(), reason);
            figure.map_err(told).ok()
        };
        let cpu_ns = known("cpu_ns", self.cpu_ns).map(Nanos::new);
        let calls = known("calls", self.calls);
        let disk_read = known("disk_read", self.disk_read_bytes).map(Bytes::new);
        let disk_written = known("disk_written", self.disk_written_bytes).map(Bytes::new);
        ServerSample { cpu_ns, calls, disk_read, disk_written, ..sample }
    }
}

/// Of nobody.
impl Default for Usage {
    fn default() -> Self {
        Self { cpu_ns: Ok(0), calls: Ok(0), disk_read_bytes: Ok(0), disk_written_bytes: Ok(0) }
    }
}

fn folder_of(process: u32) -> PathBuf {
    Path::new("/proc").join(process.to_string())
}

/// Reads a file of a thread or a process, which errors call by the same name for all of them, so that the reasons of two
/// runs are equal.
fn read(folder: &Path, file: &str, shown: &str) -> Result<String, String> {
    let named = |cause| format!("read {shown}/{file}: {cause}");
    fs::read_to_string(folder.join(file)).map_err(named)
}

/// Field 1 of schedstat (Documentation/scheduler/sched-stats.rst of Linux): time on a CPU, in ns.
fn first(text: &str) -> Result<u64, String> {
    let field = text.split_ascii_whitespace().next().and_then(|field| field.parse().ok());
    field.ok_or_else(|| "/proc/self/task/TID/schedstat has no first field".to_owned())
}

fn number(text: &str, name: &str) -> Result<u64, String> {
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    let value = value.and_then(|value| value.trim().parse().ok());
    value.ok_or_else(|| format!("io in /proc has no {name}"))
}

const PROCESS: &str = "/proc/PID";
const THREAD: &str = "/proc/self/task/TID";

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::io::BufRead;
    use std::io::BufReader;
    use std::process::Child;
    use std::process::Command;
    use std::process::Stdio;
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    fn work_for(time: Nanos) {
        let end = btu_sys::cpu::thread_cpu_ns() + time.count();
        while btu_sys::cpu::thread_cpu_ns() < end {
            black_box((0..1000_u64).fold(0, u64::wrapping_add));
        }
    }

    #[test]
    fn threads_that_ended_and_threads_that_go_on_are_counted_once() {
        let account = Account::default();
        let (done, is_done) = mpsc::channel();
        let (leave, may_leave) = mpsc::channel::<()>();
        let ended = thread::spawn({
            let account = account.clone();
            move || {
                let _enrolled = account.enrol();
                work_for(Nanos::from_millis(30));
            }
        });
        ended.join().unwrap();
        let goes_on = thread::spawn({
            let account = account.clone();
            move || {
                let _enrolled = account.enrol();
                work_for(Nanos::from_millis(30));
                account.count_call();
                done.send(()).unwrap();
                let _ = may_leave.recv();
            }
        });
        is_done.recv().unwrap();
        let usage = account.usage();
        drop(leave);
        goes_on.join().unwrap();
        // What a thread used is written at a tick of the scheduler: each may lack 10 ms.
        let is_once = |used: u64| (40_000_000..85_000_000).contains(&used);
        match usage.cpu_ns {
            Ok(used) => assert!(is_once(used), "{used} ns"),
            Err(reason) => skip!("not readable: {reason}"),
        }
        if let Ok(calls) = usage.calls {
            assert!(calls >= 1);
        }
        let after = account.usage().cpu_ns.unwrap();
        assert!(is_once(after), "{after} ns");
    }

    #[test]
    fn processes_that_ended_and_processes_that_go_on_are_counted_once() {
        let account = Account::default();
        let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; echo done; read x; read x";
        let mut children: Vec<Child> = (0..2).map(|_| shell(work)).collect();
        let mut enrolled: Vec<Enrolled> =
            children.iter().map(|child| account.enrol_process(child.id())).collect();
        children.iter_mut().for_each(hear_a_line);
        let both = account.usage();
        let mut ended = children.remove(0);
        ended.kill().unwrap();
        drop(enrolled.remove(0));
        ended.wait().unwrap();
        let after = account.usage();
        children[0].kill().unwrap();
        children[0].wait().unwrap();
        let (both_ns, after_ns) = (both.cpu_ns.unwrap(), after.cpu_ns.unwrap());
        // They work no more, but are killed: that may take a moment, too.
        assert!(both_ns > 0 && (both_ns..both_ns + 20_000_000).contains(&after_ns), "{after_ns}");
        match (both.calls, after.calls) {
            (Ok(both), Ok(after)) => assert!(both >= 2 && after >= both),
            (Err(reason), _) | (_, Err(reason)) => skip!("not readable: {reason}"),
        }
    }

    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        process::dies_with_its_starter(&mut command).spawn().unwrap()
    }

    fn hear_a_line(child: &mut Child) {
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_reason() {
        let usage = Usage::of_thread(Path::new("/proc/self/task/0")).since(&Usage::default());
        let sample = usage.sample("b", Nanos::from_millis(1));
        assert_eq!((sample.host.as_str(), sample.cpu_ns, sample.calls), ("b", None, None));
        assert_eq!(sample.not_available.len(), 4);
        assert!(sample.not_available["cpu_ns"].contains("schedstat"));
    }
}
