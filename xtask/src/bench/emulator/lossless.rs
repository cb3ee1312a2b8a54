//! Loss that nobody asked for: TCP at full speed, without delay and with 5 ms each way.

use anyhow::Result;
use serde_json::Value;

use super::Options;
use super::comm;
use super::figure;
use crate::repo::Repo;

const DELAYS: [&str; 2] = ["0ms", "5ms"];
const RUNS: u32 = 10;
const SECONDS: u64 = 3;
const MESSAGE: u64 = 65536;

/// What a direction may lose without being asked to.
const COUNTERS: [&str; 3] = ["socket_drops", "overflow", "send_errors"];

pub(super) fn unasked(repo: &Repo, _options: &Options) -> Result<bool> {
    let mut lossless = true;
    for delay in DELAYS {
        let (mut lost, mut packets) = ([0.0; COUNTERS.len()], 0.0);
        for _ in 0..RUNS {
            let (_, stats) = comm(repo, &["--delay", delay], MESSAGE, SECONDS)?;
            packets += figure(&stats, "/up/packets")?;
            for (sum, counter) in lost.iter_mut().zip(COUNTERS) {
                *sum += both(&stats, counter)?;
            }
        }
        let told: Vec<String> =
            COUNTERS.iter().zip(lost).map(|(counter, lost)| format!("{counter} {lost}")).collect();
        let none = lost.iter().all(|lost| *lost == 0.0);
        println!("  delay {delay}: {packets} packets; {}; none lost: {none}", told.join(", "));
        lossless &= none;
    }
    Ok(lossless)
}

fn both(stats: &Value, counter: &str) -> Result<f64> {
    Ok(figure(stats, &format!("/up/{counter}"))? + figure(stats, &format!("/down/{counter}"))?)
}
