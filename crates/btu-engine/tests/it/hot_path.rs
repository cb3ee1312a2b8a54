//! What the timed loops must not do: allocate, call anything but send and recv, leak descriptors.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::thread;

use btu_core::file::sample::Operation;
use btu_core::run::cell::Case;
use btu_core::units::Bytes;
use btu_engine::comm::Amount;
use btu_engine::comm::Preamble;
use btu_engine::comm::Seat;
use btu_engine::comm::stream;
use btu_engine::comm::stream::Cue;
use btu_engine::comm::stream::Incoming;
use btu_engine::comm::stream::Outgoing;
use btu_engine::comm::stream::Progress;
use btu_engine::comm::stream::Unobserved;
use btu_engine::file;
use btu_engine::file::Moments;
use btu_engine::transport::Channel;
use btu_engine::transport::Tcp;
use btu_sys::alloc::Counting;
use btu_sys::alloc::thread_allocations;

use crate::conformance::pair;
use crate::file_service::offer;
use crate::file_service::visit;
use crate::local;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` allocates in the calling thread.
fn allocations<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = thread_allocations();
    let result = work();
    (result, thread_allocations() - before)
}

#[test]
fn the_counting_allocator_counts() {
    assert_eq!(allocations(|| Box::new(7)).1, 1);
    assert_eq!(allocations(|| 7).1, 0);
}

#[test]
fn the_timed_loops_allocate_nothing() {
    let (near, far) = pair(&Tcp);
    let (out, inward) = (Progress::default(), Progress::default());
    let sender = thread::spawn(move || {
        let (block, stop) = (vec![0; 1250], Cue::default());
        let order = Outgoing {
            block: &block,
            messages: 10_000,
            stop: &stop,
            progress: &out,
            observer: &Unobserved,
        };
        let (sent, made) = allocations(|| near.send_messages(&order));
        near.close_sending().unwrap();
        (sent.unwrap(), made)
    });
    let mut space = vec![0; 1250];
    let order = Incoming {
        space: &mut space,
        expected: u64::MAX,
        nearly_over: &Cue::default(),
        progress: &inward,
        observer: &Unobserved,
        first_ns: &AtomicU64::new(0),
    };
    let (received, made) = allocations(|| far.receive_messages(order));
    assert_eq!((received.unwrap().bytes, made), (12_500_000, 0));
    let (sent, made) = sender.join().unwrap();
    assert_eq!((sent.messages, sent.calls, made), (10_000, 10_000, 0));
}

/// A file of FTP has its commands, which are text; a call has nothing but its block.
#[test]
fn calls_of_a_file_service_allocate_nothing() {
    let tcp_rpc = file::by_name("tcp-rpc").unwrap();
    let server = tcp_rpc.serve(&offer(1)).unwrap();
    let mut session = tcp_rpc.open(&visit(&*server, Operation::Call)).unwrap();
    let progress = AtomicU64::new(0);
    let calls = || {
        (0..1000)
            .try_for_each(|number| session.run(number, &mut Moments::from_now(&progress)).map(drop))
    };
    let (outcome, made) = allocations(calls);
    outcome.unwrap();
    assert_eq!(made, 0);
}

/// A request has words; its body has none.
#[cfg(feature = "http")]
#[test]
fn a_file_that_is_stored_over_http_allocates_as_much_as_one_of_a_sixtieth() {
    for name in ["h2", "http"] {
        let protocol = file::by_name(name).unwrap();
        let server = protocol.serve(&offer(2)).unwrap();
        let [few, many] = [1, 60].map(|parts| {
            let mut visit = visit(&*server, Operation::Put);
            visit.errand.size = Bytes::new(parts * 65536);
            let mut session = protocol.open(&visit).unwrap();
            let progress = AtomicU64::new(0);
            let mut put = |number| session.run(number, &mut Moments::from_now(&progress)).unwrap();
            // The first time there is room to be made.
            let _ = put(0);
            allocations(|| put(1)).1
        });
        assert!(many <= few + 10, "{name}: {few} and {many}");
    }
}

/// The run that `only_one_call_per_message_reaches_the_kernel` looks at from outside.
#[test]
fn ten_thousand_messages_are_ten_thousand_sends() {
    let run = local::run(Case::Send, local::terms(1250, Amount::Messages(10_000)));
    let comm = run.comm.unwrap();
    assert_eq!(comm.connections[0].sender.calls, 10_000);
}

/// The run that `large_messages_are_waited_for_and_read_with_nothing_else` looks at from outside.
#[test]
fn a_hundred_large_messages_are_a_hundred_sends() {
    let run = local::run(Case::Send, local::terms(LARGE, Amount::Messages(100)));
    let comm = run.comm.unwrap();
    assert_eq!(comm.connections[0].sender.calls, 100);
}

#[test]
fn only_one_call_per_message_reaches_the_kernel() {
    if !crate::skip::installed("strace") {
        skip!("program missing: strace");
    }
    let [sender, reader] =
        traced("hot_path::ten_thousand_messages_are_ten_thousand_sends", 1250, ", 1250, ");
    assert_eq!((sender.sends, sender.between_sends), (10_000, 0));
    assert_eq!(reader.between_receives, 0, "{reader:?}");
    for end in [sender, reader] {
        assert!(end.readings <= end.hundredths + 3, "more than one reading in 10 ms: {end:?}");
        assert!(end.asks_for_own_files, "each call counts its file up and down: {end:?}");
    }
}

#[test]
fn large_messages_are_waited_for_and_read_with_nothing_else() {
    if !crate::skip::installed("strace") {
        skip!("program missing: strace");
    }
    let test = "hot_path::a_hundred_large_messages_are_a_hundred_sends";
    let [sender, reader] = traced(test, LARGE, "MSG_DONTWAIT");
    assert_eq!((sender.sends, sender.between_sends), (100, 0));
    assert!(reader.receives >= 100, "{reader:?}");
    // One wait before each read but the first.
    assert_eq!(reader.between_receives, reader.receives - 1, "{reader:?}");
}

/// The calls of the sending and of the reading thread of a test that runs under `strace`; reads have this
/// among their arguments.
fn traced(test: &str, message: u64, read: &str) -> [Calls; 2] {
    let traces = tempfile::tempdir().unwrap();
    let outcome = Command::new("strace")
        .args(["-ff", "-qq", "-ttt", "-o"])
        .arg(traces.path().join("thread"))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .output()
        .unwrap();
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
    let threads = fs::read_dir(traces.path()).unwrap();
    let of = |path| Calls::of(&fs::read_to_string(path).unwrap(), message, read);
    let calls: Vec<Calls> = threads.map(|file| of(file.unwrap().path())).collect();
    let most = |count: fn(&Calls) -> usize| *calls.iter().max_by_key(|calls| count(calls)).unwrap();
    [most(|calls| calls.sends), most(|calls| calls.receives)]
}

const LARGE: u64 = stream::LARGE as u64;

/// System calls of one thread, and how many others lie between its first and its last of a kind, but
/// for readings of the connection's counters, which are counted by themselves.
#[derive(Clone, Copy, Debug)]
struct Calls {
    sends: usize,
    receives: usize,
    between_sends: usize,
    between_receives: usize,
    readings: usize,
    /// Hundredths of a second from the first call to the last.
    hundredths: usize,
    /// It wanted a table of open files that no other thread has.
    asks_for_own_files: bool,
}

impl Calls {
    /// Messages have their size; handshakes have one byte.
    fn of(trace: &str, message: u64, read: &str) -> Self {
        let lines = || trace.lines().filter_map(|line| line.split_once(' '));
        let is_reading = |line: &&str| line.starts_with("getsockopt(") && line.contains("TCP_INFO");
        let calls: Vec<&str> = lines().map(|(_, call)| call).collect();
        let others: Vec<&str> = calls.iter().copied().filter(|call| !is_reading(call)).collect();
        let size = format!(", {message}, ");
        let (sends, between_sends) = span(&others, "sendto(", &size);
        let (receives, between_receives) = span(&others, "recvfrom(", read);
        let hundredths: Vec<usize> = lines().filter_map(|(at, _)| hundredth(at)).collect();
        let whole = hundredths.first().zip(hundredths.last());
        Self {
            sends,
            receives,
            between_sends,
            between_receives,
            readings: calls.len() - others.len(),
            hundredths: whole.map_or(0, |(first, last)| last - first),
            asks_for_own_files: trace.contains("CLOSE_RANGE_UNSHARE"),
        }
    }
}

/// A time of strace, `1763841000.123456`, in hundredths of a second.
fn hundredth(at: &str) -> Option<usize> {
    let (seconds, fraction) = at.split_once('.')?;
    Some(seconds.parse::<usize>().ok()? * 100 + fraction.get(..2)?.parse::<usize>().ok()?)
}

/// How many calls are `name` with this argument, and how many others lie among them.
fn span(calls: &[&str], name: &str, argument: &str) -> (usize, usize) {
    let is_one = |line: &&str| line.starts_with(name) && line.contains(argument);
    let count = calls.iter().copied().filter(is_one).count();
    let after_first = calls.iter().copied().skip_while(|line| !is_one(line));
    let mut seen = 0;
    let others = after_first.take_while(|line| {
        seen += usize::from(is_one(line));
        seen < count
    });
    (count, others.filter(|line| !is_one(line)).count())
}

/// Looks at every descriptor of the process while the data connections are open.
#[derive(Debug, Default)]
struct Walk {
    known: BTreeSet<String>,
    leaks: Mutex<Vec<String>>,
    seen: AtomicU64,
}

impl Walk {
    fn look(&self) {
        for number in descriptors().difference(&self.known) {
            let Ok(text) = fs::read_to_string(format!("/proc/self/fdinfo/{number}")) else {
                continue; // closed by another test meanwhile
            };
            let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
            let flags = u32::from_str_radix(flags.unwrap().trim(), 8).unwrap();
            self.seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if flags & CLOSE_ON_EXEC == 0 {
                let target = fs::read_link(format!("/proc/self/fd/{number}"));
                self.leaks.lock().unwrap().push(format!("{number}: {target:?}"));
            }
        }
    }
}

impl Preamble for Walk {
    fn seat(&self, flow: usize) -> Option<Seat> {
        let flow = u16::try_from(flow).ok()?;
        Some(Seat { secret: [1; 32], run: 1, attempt: 1, flow })
    }

    fn came_in(&self, _connection: &dyn Channel) {
        self.look();
    }
}

fn descriptors() -> BTreeSet<String> {
    let names = fs::read_dir("/proc/self/fd").unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn no_descriptor_survives_an_exec_while_a_run_is_active() {
    let walk = Arc::new(Walk { known: descriptors(), ..Walk::default() });
    let mut terms = local::terms(100, Amount::Messages(100));
    terms.preamble = Some(Arc::clone(&walk) as Arc<dyn Preamble>);
    assert!(local::run(Case::SendRecv, terms).outcome.is_complete());
    assert_eq!(*walk.leaks.lock().unwrap(), Vec::<String>::new());
    assert!(walk.seen.load(std::sync::atomic::Ordering::Relaxed) >= 4);
}

/// `O_CLOEXEC` as fdinfo shows it.
const CLOSE_ON_EXEC: u32 = 0o2_000_000;
