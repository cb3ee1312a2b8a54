//! Bulk at delay 0: through the emulator, over a bare veth pair, and over a TUN device as other
//! emulators use one; and what those published.

use anyhow::Context;
use anyhow::Result;

use super::Options;
use super::comm;
use super::figure;
use crate::bench::pair::Pair;
use crate::bench::paired::Chance;
use crate::bench::paired::Interval;
use crate::bench::paired::Shown;
use crate::bench::paired::Target;
use crate::bench::paired::median;
use crate::repo::Repo;

/// Over the direct veth path of the same run: what must be, what is wanted.
const VETH: Target = Target::AtLeast(0.35);
const VETH_WANTED: Target = Target::AtLeast(0.50);
/// Over TUN without `vnet_hdr`, which passes wire packets one by one.
const TUN: Target = Target::AtLeast(3.0);
const MESSAGE: u64 = 65536;

/// What a block measures, once each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Emulated,
    Tun,
    Veth,
}

/// Paired blocks in random order.
pub(super) fn ratios(repo: &Repo, options: &Options) -> Result<bool> {
    let veth = Pair::veth(repo)?;
    let tun = match Pair::tun(repo) {
        Ok(tun) => Some(tun),
        Err(cause) => {
            println!("  over TUN: not measured: {cause:#}");
            None
        }
    };
    let mut ways = vec![Way::Emulated, Way::Veth];
    ways.extend(tun.as_ref().map(|_| Way::Tun));
    let mut chance = Chance(options.seed);
    let mut rates: Vec<(Way, f64)> = Vec::new();
    for block in 0..=options.blocks {
        chance.shuffle(&mut ways);
        for way in &ways {
            let rate = match (way, &tun) {
                (Way::Tun, Some(tun)) => tun.goodput(repo, MESSAGE, options.seconds)?,
                (Way::Emulated, _) => comm(repo, &[], MESSAGE, options.seconds)?.0,
                (Way::Tun | Way::Veth, _) => veth.goodput(repo, MESSAGE, options.seconds)?,
            };
            // The first block warms up.
            if block > 0 {
                rates.push((*way, rate));
            }
        }
    }
    println!("  {} blocks of {} s, {MESSAGE} B:", options.blocks, options.seconds);
    let over_veth = judged(&rates, Way::Veth, "veth", &[VETH, VETH_WANTED], options.seed)?;
    let over_tun = match tun {
        Some(_) => judged(&rates, Way::Tun, "TUN without vnet_hdr", &[TUN], options.seed)?,
        None => true,
    };
    Ok(over_veth && over_tun)
}

/// The emulator over another way; only the first target is a bound.
fn judged(
    rates: &[(Way, f64)],
    other: Way,
    name: &str,
    targets: &[Target],
    seed: u64,
) -> Result<bool> {
    let of = |wanted: Way| -> Vec<f64> {
        rates.iter().filter(|(way, _)| *way == wanted).map(|(_, rate)| *rate).collect()
    };
    let (ours, theirs) = (of(Way::Emulated), of(other));
    let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a / b).collect();
    let interval = Interval::of(&ratios, seed).context("no block was measured")?;
    let gigabits = |rates: &[f64]| median(rates).unwrap_or_default() / 1e9;
    println!("  emulator {:.2} Gb/s, {name} {:.2} Gb/s", gigabits(&ours), gigabits(&theirs));
    for (target, kind) in targets.iter().zip(["must be", "wanted"]) {
        println!("    ratio {interval}; {kind} {target}: {}", interval.against(*target));
    }
    Ok(targets.first().is_none_or(|bound| interval.against(*bound) != Shown::Missed))
}

/// What is said in public, without the hardware that it was measured on: no bound here.
const PUBLISHED: [(&str, f64, &str); 3] = [
    ("mahimahi", 1.3, "ravinet/mahimahi#144; 0.3 Gb/s with 80 ms of delay"),
    ("rattan, AF_PACKET, per core", 0.81, "stack-rs/rattan, pull request 48"),
    ("rattan, AF_XDP, per core", 1.95, "stack-rs/rattan, pull request 48"),
];

/// Our rate beside them, with the CPU time of the emulator's thread, and where it was measured.
pub(super) fn published(repo: &Repo, options: &Options) -> Result<bool> {
    let (mut rates, mut per_core) = (Vec::new(), Vec::new());
    for _ in 0..options.blocks.max(1) {
        let (rate, stats) = comm(repo, &[], MESSAGE, options.seconds)?;
        let cpu = figure(&stats, "/up/thread_cpu_ns")? / figure(&stats, "/up/elapsed_ns")?;
        rates.push(rate / 1e9);
        per_core.push(rate / 1e9 / cpu.max(f64::EPSILON));
    }
    let (rate, core) = (median(&rates), median(&per_core));
    let (rate, core) = (rate.context("nothing measured")?, core.context("nothing measured")?);
    println!("  here: {}", hardware());
    println!("  ours: {rate:.2} Gb/s, {core:.2} Gb/s per core of the emulator's thread");
    for (name, theirs, source) in PUBLISHED {
        let ours = if name.ends_with("per core") { core } else { rate };
        println!("  {name}: {theirs} Gb/s published ({source}): ours x {:.1}", ours / theirs);
    }
    println!(
        "  their hardware is not published: wanted is 5 x on like hardware, nothing is judged"
    );
    Ok(true)
}

/// `2 CPUs, Intel(R) Xeon(R) ...`
fn hardware() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{cpus} CPUs, {}", model(&text).unwrap_or("model not available"))
}

/// The model's name of `/proc/cpuinfo`.
fn model(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_of_the_cpu_is_read() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC 7763\nflags\t: x\n";
        assert_eq!(model(text), Some("AMD EPYC 7763"));
        assert_eq!(model("Hardware: x"), None);
    }

    #[test]
    fn only_the_first_target_is_a_bound() {
        let block = |rate: f64| [(Way::Emulated, 0.4 * rate), (Way::Veth, rate)];
        let rates: Vec<_> = [1.0, 1.1, 0.9, 1.0].into_iter().flat_map(block).collect();
        assert!(judged(&rates, Way::Veth, "veth", &[VETH, VETH_WANTED], 1).unwrap());
        assert!(!judged(&rates, Way::Veth, "veth", &[VETH_WANTED], 1).unwrap());
        assert!(judged(&rates, Way::Tun, "tun", &[TUN], 1).is_err());
    }
}
