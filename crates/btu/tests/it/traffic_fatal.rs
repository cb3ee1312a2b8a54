//! The fatal errors of the paper: which overload ends a sender, when, and which does not. Times of the paper are a
//! tenth or less here and rates ten times as high, sizes as they were.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::program::btu;
use crate::program::read_json;
use crate::program::said;
use crate::quick;

/// Ethernet for 17 Mb/s of TCP payload in segments of 1448 bytes, which take 1538 on the wire.
const LINE: [&str; 4] = ["--rate", "18.057Mbit/s", "--queue", "64kB"];
const MU_BYTES_S: f64 = 17e6 / 8.0;
/// What VBR sends.
const LOAD_BYTES_S: f64 = 185e6 / 8.0;
/// What sockets of `window=65536` and the queue of the line hold at the most: the kernel counts twice what was asked.
const HELD_BYTES: f64 = 5.0 * 65_536.0;

/// A run of one test over the line.
struct Ended {
    code: Option<i32>,
    said: String,
    flow: Value,
    /// How long a thread that did nothing beside it was kept from a CPU.
    held: Duration,
}

impl Ended {
    fn of(transport: &str, sent: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let text = format!(
            "[[cluster]]\n[[cluster.test]]\npath = \"test -> active\"\ntransport = \"{transport}\"\ntype = \"{sent}\"\n"
        );
        std::fs::write(folder.path().join("a.toml"), text).unwrap();
        let mut command = btu();
        command.current_dir(folder.path()).args(["traffic", "a.toml"]).args(LINE);
        command.args(["--seed", "3", "--out", "out", "--quiet"]);
        let (ended, held) = watched(|| command.output().unwrap());
        let errors = said(&ended);
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(folder.path().join("out/result.json").exists(), "{said}{errors}");
        let flow = read_json(&folder.path().join("out/result.json"))["flows"][0].clone();
        Self { code: ended.status.code(), said, flow, held }
    }

    /// A run that is not late, or else the last of several. A busy machine makes it late: a sender that looks late finds
    /// more than its limit, and over a line that is held up more waits sooner.
    fn in_time(transport: &str, sent: &str, is_late: impl Fn(&Self) -> bool) -> Self {
        quick::undisturbed(|_| Self::of(transport, sent), is_late)
    }

    /// Why a late run says nothing of a machine that has CPUs to spare; `None` where this machine had them.
    fn excuse(&self) -> Option<String> {
        let is_busy = self.held >= Duration::from_millis(50);
        is_busy
            .then(|| format!("a thread waited {:?} for a CPU; {}", self.held, self.flow["ended"]))
    }

    fn number(&self, key: &str) -> f64 {
        self.flow[key].as_f64().unwrap_or_else(|| panic!("{key} of {}", self.flow))
    }

    /// The numbers of a fatal error: how much waited or how long, and when it ended, in seconds.
    fn overflow(&self) -> (f64, f64) {
        let told = self.flow["ended"].as_str().unwrap();
        assert_eq!(self.code, Some(6), "{told}");
        let words: Vec<&str> = self.said.split_whitespace().collect();
        let reported = words.join(" ");
        assert!(reported.contains("generator overflow: "), "{reported}");
        assert!(told.starts_with("capped: generator overflow: "), "{told}");
        let words = told.split([' ', ',']).filter_map(|word| word.parse().ok());
        let numbers: Vec<f64> = words.collect();
        let [amount, at] = numbers[..] else { panic!("{told}") };
        (amount, at)
    }
}

/// What `work` gives, and the time for which a thread of this process that wants a CPU each millisecond waited for one.
fn watched<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let (turn, mut held) = (Duration::from_millis(1), Duration::ZERO);
            while !is_over.load(Relaxed) {
                let begun = Instant::now();
                thread::park_timeout(turn);
                // A timer may be late by as much on any machine.
                held += begun.elapsed().saturating_sub(turn * 2);
            }
            held
        });
        let done = work();
        is_over.store(true, Relaxed);
        (done, watching.join().unwrap())
    })
}

/// VBR of the paper (figure 9): 18.5 Mb/s over 1.7, of which 252 MB wait after 120 s; here 42 MB after a
/// sixtieth of that.
#[test]
fn more_unsent_data_than_the_limit_ends_the_sender_when_that_much_waits() {
    needs!();
    let sizes = "blocksize=clamp(exp(256258 B), 8 B, 1048586 B)";
    let sent =
        format!("burstq({sizes}, period=uniform(2 ms, 20 ms), duration=20 s, queue_limit=42 MB)");
    // Somebody looks after each block, of 1 MB at the most.
    let (limit, most) = (42e6, 45e6);
    let is_late = |ended: &Ended| ended.overflow().0 >= most;
    let ended = Ended::in_time("tcp(window=65536 B)", &sent, is_late);
    let (waiting, at) = ended.overflow();
    assert!(waiting >= limit, "{}", ended.flow);
    // Its load is that of its schedule, also where it was held up.
    let load = ended.number("arrived_bytes") / at / LOAD_BYTES_S;
    assert!(at >= 1.5 && load > 0.6, "{load}: {}", ended.flow);
    // What arrived and does not wait went into sockets and line, which take no more than that.
    let taken = ended.number("arrived_bytes") - waiting;
    assert!(taken <= MU_BYTES_S * 1.01 * at + HELD_BYTES, "{taken} in {at} s: {}", ended.flow);
    // Its rates are those of the time that it had, not of 20 s.
    let rate = ended.number("arrived_bytes") * 8.0 / at;
    assert!((ended.number("arrival_rate_bit_s") / rate - 1.0).abs() < 0.02, "{}", ended.flow);
    match ended.excuse().filter(|_| is_late(&ended)) {
        Some(busy) => skip!("machine too busy: {busy}"),
        None => assert!(!is_late(&ended), "{}", ended.flow),
    }
}

/// Bursts of 12500 B at 1.3 times what the line carries: a block that is due at t is finished at 1.3 t, so that of 1 s
/// the oldest one waits after 1 / (1 - 1 / 1.3) = 4.33 s, and of half a second after half of that; buffers give
/// it a little longer. No write takes that long: a block takes 6 ms on the line.
#[test]
fn a_block_that_is_not_finished_so_long_after_it_was_due_ends_the_sender() {
    needs!();
    let period_s = 4.525e-3;
    let sent = "burstq(blocksize=12500 B, period=4525 us, duration=20 s, block_timeout=500 ms)";
    let (limit, most) = (0.5, 0.6);
    let is_late = |ended: &Ended| ended.overflow().0 >= most || ended.overflow().1 < 1.5;
    let ended = Ended::in_time("tcp(window=65536 B)", sent, is_late);
    let (waited, at) = ended.overflow();
    // 1 - 1 / 1.3 of the time, less what buffers give; more where the line is held up.
    assert!(waited >= limit && waited / at > 0.5 / 3.2, "{at}: {}", ended.flow);
    // The one that waited is the first that was not sent, and its time counts from when it was due: both are of one
    // look, told in milliseconds.
    let due = ended.number("blocks_sent") * period_s;
    assert!((at - due - waited).abs() < 0.002, "{at} {due} {waited}: {}", ended.flow);
    assert!(ended.number("delivered_bytes") <= MU_BYTES_S * 1.01 * at + HELD_BYTES);
    match ended.excuse().filter(|_| is_late(&ended)) {
        Some(busy) => skip!("machine too busy: {busy}"),
        None => assert!(!is_late(&ended), "{}", ended.flow),
    }
}

/// Ours, beside it: datagrams never wait for the line. As much of them is more than it carries, is lost there, and the
/// sender goes on to its end.
#[test]
fn datagrams_at_the_same_load_are_lost_and_end_nothing() {
    needs!();
    // 1250 B take 1316 on the wire, 0.583 ms.
    let sent = "burstq(blocksize=1250 B, period=448 us, duration=2 s, block_timeout=500 ms)";
    let ended = Ended::of("udp", sent);
    assert_eq!((ended.code, ended.flow["ended"].as_str()), (Some(0), Some("complete")));
    // 1 - 1 / 1.3, less what the queue still holds at the end.
    assert!(ended.number("lost_share") > 0.15, "{}", ended.flow);
}
