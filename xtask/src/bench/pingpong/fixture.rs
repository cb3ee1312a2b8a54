//! P3: two writes with Nagle's algorithm, time after time, beside a busy loop on each CPU: both edges to
//! the byte, the cause named.

use std::hint;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::thread::JoinHandle;

use anyhow::Result;
use serde_json::Value;

use crate::bench::verb::Verb;
use crate::bench::verb::judged;

pub(super) fn fixture(program: &Verb<'_>, runs: u64) -> Result<usize> {
    let mut right = 0;
    let _busy = Busy::everywhere();
    for run in 1..=runs {
        let mss: u64 = if run % 2 == 0 { 500 } else { 1460 };
        let set = format!("{mss}B");
        let result = program.measure(
            &format!("p3-{run}"),
            &[
                "tcp",
                "--on",
                "loopback",
                "--header",
                "16B",
                "--nodelay",
                "off",
                "--mss",
                &set,
                "--end",
                "4096B",
                "--perturbation",
                "0B",
                "--reference",
                "off",
                "--chasm-time",
                "600s",
            ],
        )?;
        let found = &result["curves"][0]["chasms"];
        let is_right = is_right(found, mss);
        right += u64::from(is_right);
        println!("P3: run {run} of {runs}: {}", if is_right { "right" } else { "WRONG" });
        if !is_right {
            println!("{found:#}");
        }
    }
    Ok(judged(&format!("P3: {right} of {runs} chasms right to the byte (all)"), right == runs))
}

/// A loop on every CPU for as long as it lives.
struct Busy {
    is_over: Arc<AtomicBool>,
    loops: Vec<JoinHandle<()>>,
}

impl Busy {
    fn everywhere() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let turn = |is_over: Arc<AtomicBool>| {
            move || {
                while !is_over.load(Relaxed) {
                    hint::spin_loop();
                }
            }
        };
        let cpus = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let loops = (0..cpus).map(|_| thread::spawn(turn(Arc::clone(&is_over)))).collect();
        Self { is_over, loops }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
        for one in self.loops.drain(..) {
            let _ = one.join();
        }
    }
}

fn is_right(found: &Value, mss: u64) -> bool {
    let all = found.as_array().map_or(&[][..], Vec::as_slice);
    let confirmed: Vec<&Value> = all.iter().filter(|one| one["finding"] == "confirmed").collect();
    let [chasm] = confirmed.as_slice() else { return false };
    // Time stamps take 12 bytes off a segment.
    let segment = mss - 12;
    let half = (segment / 2).saturating_sub(12);
    let removed =
        chasm["removed_by"].as_array().is_some_and(|by| by.contains(&"TCP_NODELAY".into()));
    let moves = chasm["moved_by"].as_array().is_some_and(|by| {
        by.iter().any(|one| {
            one["factor"].as_str().is_some_and(|name| name.starts_with("TCP_MAXSEG"))
                && one["to_bytes"] == 16 + half - 1
        })
    });
    let edges = chasm["from_bytes"] == 17 && chasm["to_bytes"] == 16 + segment - 1;
    let is_deep = chasm["factor"].as_f64().is_some_and(|factor| factor > 100.0);
    edges && chasm["edges_sure"] == true && is_deep && removed && moves
}
