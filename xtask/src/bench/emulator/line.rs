//! TCP over a serial line: the payload's share of the rate.

use anyhow::Result;

use super::Options;
use super::figure;
use super::file;
use super::link;
use super::read_json;
use crate::repo::Repo;

/// Name for the link, and bits per second.
const RATES: [(&str, f64); 4] =
    [("1.7Mbit/s", 1.7e6), ("10Mbit/s", 10e6), ("100Mbit/s", 100e6), ("1Gbit/s", 1e9)];
/// Payload of a full packet over its bytes on the line.
const PAYLOAD: f64 = 1448.0 / 1538.0;
const WITHIN: f64 = 0.01;
/// 1.7 Mbit/s are 138 packets a second: one of them more or less is 0.1 % of so many seconds.
const LEAST_SECONDS: u64 = 8;

/// iperf3 after two seconds of start, with cubic: BBR empties the queue every ten seconds.
pub(super) fn goodput(repo: &Repo, options: &Options) -> Result<bool> {
    let mut good = true;
    let seconds = options.seconds.max(LEAST_SECONDS);
    for (rate, bits) in RATES {
        let found = file(repo, "iperf3.json")?;
        let script = format!(
            "exec iperf3 -C cubic -O 2 -t {seconds} -J -c $BTU_LINK_FAR > {}",
            found.display()
        );
        let line = format!("rate {rate} queue 100ms");
        let options = ["--up", &line, "--far", "exec iperf3 -s -1 > /dev/null"];
        let stats = link(repo, &options, &script)?;
        let received = figure(&read_json(&found)?, "/end/sum_received/bits_per_second")?;
        let share = received / (bits * PAYLOAD);
        let held = (share - 1.0).abs() <= WITHIN;
        let dropped = figure(&stats, "/up/queue_dropped")?;
        println!(
            "  {rate}: {:.3} Mbit/s, {:.2} % of the payload's share, within {:.0} %: {held} \
             ({dropped} dropped by the queue)",
            received / 1e6,
            100.0 * share,
            100.0 * WITHIN
        );
        good &= held;
    }
    Ok(good)
}
