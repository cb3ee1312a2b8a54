//! Our COMM loop beside iperf3, nuttcp and qperf: paired ratios from complete blocks in random
//! order, the same placement, congestion control, message size and read size for all.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde::Serialize;

use super::Bench;
use super::contender::Contender;
use super::contender::Load;
use super::contender::OURS;
use super::contender::PEERS;
use super::contender::Path;
use super::contender::Rate;
use super::options::Options;
use super::pair::Pair;
use super::paired::Chance;
use super::paired::Interval;
use super::paired::Shown;
use super::paired::Target;
use super::paired::median;
use super::private;
use crate::chore::Verdict;
use crate::program::installed;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "peers",
    about: "the COMM loop beside iperf3, nuttcp and qperf: loopback, veth, lowat, sendfile (--only veth)",
    own_options: &["--only"],
    run,
};

const RAW: &str = "target/bench/peers.json";

/// The least that the paired ratio of rates must be; a size that is not listed takes the last.
static RATE_TARGETS: &[(u64, f64)] =
    &[(100, 0.97), (1024, 0.97), (1250, 0.97), (4096, 1.00), (u64::MAX, 0.97)];

const CPU_TARGET: Target = Target::AtMost(1.00);

/// What is compared under a name.
struct Comparison {
    name: &'static str,
    /// Over a veth pair, as cells without impairment, instead of loopback, where everybody compares.
    over_veth: bool,
    /// The sizes that are compared where they are asked for; none means all.
    sizes: &'static [u64],
    /// Options of our own program, by which it makes other calls.
    calls: &'static str,
    /// The least ratio of rates; none means that of the size.
    least: Option<f64>,
}

impl Comparison {
    const BETWEEN_LIKES: Self =
        Self { name: LOOPBACK, over_veth: false, sizes: &[], calls: "", least: None };
}

const COMPARISONS: &[Comparison] = &[
    Comparison::BETWEEN_LIKES,
    Comparison { name: "veth", over_veth: true, sizes: &[100, 65536], ..Comparison::BETWEEN_LIKES },
    // The peers have no such reader: CPU time is told, and more than parity is wanted of the rate.
    Comparison {
        name: "lowat",
        sizes: &[100],
        calls: "--read lowat",
        least: Some(1.10),
        ..Comparison::BETWEEN_LIKES
    },
    Comparison {
        name: "sendfile",
        sizes: &[1_048_576],
        calls: "--write sendfile",
        ..Comparison::BETWEEN_LIKES
    },
];
const LOOPBACK: &str = "loopback";

/// One raw value, as stored.
#[derive(Clone, Debug, Serialize)]
struct Measured {
    contender: &'static str,
    comparison: &'static str,
    message_bytes: u64,
    block: u64,
    goodput_bit_s: f64,
    cpu_s_per_gb: f64,
    /// Steal was above 1 % of the machine's time meanwhile.
    disturbed: bool,
}

/// A contender whose program was found.
struct Present {
    contender: &'static Contender,
    program: PathBuf,
}

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    if !options.inside {
        return private::enter_with(repo, OURS.program, BENCH.name, options);
    }
    private::prepare(repo)?;
    let present = contenders(repo);
    let mut measured = Vec::new();
    for comparison in options.chosen(COMPARISONS, |one| one.name)? {
        let Comparison { name, sizes, calls, .. } = *comparison;
        let pair = comparison.over_veth.then(|| Pair::veth(repo)).transpose()?;
        let path = pair.as_ref().map_or(Path::Loopback, Path::Veth);
        let asked = options.sizes.iter().filter(|size| sizes.is_empty() || sizes.contains(size));
        let here: Vec<&Present> =
            present.iter().filter(|one| one.contender.within.contains(&name)).collect();
        for &message_bytes in asked {
            let load = Load { message_bytes, seconds: options.seconds, path, calls };
            measured.extend(measure(&here, (name, &load), options)?);
        }
    }
    if measured.is_empty() {
        let all = COMPARISONS.iter().map(|one| format!("{}: {:?}", one.name, one.sizes));
        let all = all.collect::<Vec<_>>().join(", ");
        bail!("no size to measure: comparisons and their sizes (none means all) are {all}");
    }
    store(repo, &measured)?;
    Ok(judge(&measured, options))
}

/// Ours first. A peer that is not installed is named and left out.
fn contenders(repo: &Repo) -> Vec<Present> {
    let own = repo.path(&format!("target/release/examples/{}", OURS.program));
    let mut present = vec![Present { contender: &OURS, program: own }];
    for peer in PEERS {
        match installed(peer.program) {
            Some(program) => present.push(Present { contender: peer, program }),
            None => println!("peers: {} left out: install the package {}", peer.name, peer.package),
        }
    }
    if present.len() == 1 {
        println!("peers: no other program is installed: nothing is compared");
    }
    present
}

/// All blocks of one size over one path.
fn measure(
    present: &[&Present],
    (comparison, load): (&'static str, &Load<'_>),
    options: &Options,
) -> Result<Vec<Measured>> {
    let (mut chance, message_bytes) = (Chance(options.seed), load.message_bytes);
    for each in present {
        once(each, &Load { seconds: 1, ..*load })?;
    }
    let mut measured = Vec::new();
    for block in 0..options.blocks {
        let mut order = present.to_vec();
        chance.shuffle(&mut order);
        for each in order {
            let (rate, disturbed) = once(each, load)?;
            measured.push(Measured {
                contender: each.contender.name,
                comparison,
                message_bytes,
                block,
                goodput_bit_s: rate.bits_per_second,
                cpu_s_per_gb: rate.cpu_seconds_per_gigabyte,
                disturbed,
            });
        }
    }
    println!("peers: {message_bytes} B, {comparison}: {} blocks done", options.blocks);
    Ok(measured)
}

/// Sender and receiver on two CPUs where there are two.
fn once(each: &Present, load: &Load<'_>) -> Result<(Rate, bool)> {
    let two = std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
    let before = MachineTime::now()?;
    let rate = each.contender.measure(&each.program, load, [0, usize::from(two)])?;
    Ok((rate, MachineTime::now()?.stolen_since(&before) > 0.01))
}

/// The first line of `/proc/stat`.
struct MachineTime {
    total: f64,
    steal: f64,
}

impl MachineTime {
    fn now() -> Result<Self> {
        let stat = std::fs::read_to_string("/proc/stat").context("read /proc/stat")?;
        let line = stat.lines().next().unwrap_or_default();
        let fields: Vec<f64> =
            line.split_whitespace().skip(1).filter_map(|f| f.parse().ok()).collect();
        let steal = *fields.get(7).context("read /proc/stat: no steal time")?;
        Ok(Self { total: fields.iter().take(8).sum(), steal })
    }

    fn stolen_since(&self, before: &Self) -> f64 {
        let total = self.total - before.total;
        if total > 0.0 { (self.steal - before.steal) / total } else { 0.0 }
    }
}

fn store(repo: &Repo, measured: &[Measured]) -> Result<()> {
    let path = repo.path(RAW);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    std::fs::write(&path, serde_json::to_string_pretty(measured)?)
        .with_context(|| format!("write {}", path.display()))?;
    println!("peers: raw values in {RAW}");
    Ok(())
}

fn judge(measured: &[Measured], options: &Options) -> Verdict {
    let disturbed = measured.iter().filter(|m| m.disturbed).count();
    println!(
        "\nseed {}, {} blocks of {} s, sender and receiver on different CPUs, {}, {disturbed} of \
         {} measurements disturbed by steal\n",
        options.seed,
        options.blocks,
        options.seconds,
        private::CONGESTION,
        measured.len()
    );
    println!("| message | peer | ours | peer's | rate ours/peer [95 %] | must | |");
    println!("|---|---|---|---|---|---|---|");
    let missed = rows(measured, options, &RATE);
    println!("\n| message | peer | ours s/GB | peer's | CPU ours/peer [95 %] | must | |");
    println!("|---|---|---|---|---|---|---|");
    let missed = missed + rows(measured, options, &CPU);
    println!("\n| message | peer | half-width of ours | peer's | ours/peer |");
    println!("|---|---|---|---|---|");
    spreads(measured);
    println!("\npeers: {missed} targets missed");
    Verdict::of(missed == 0)
}

/// A quantity of which ratios are taken.
struct Quantity {
    of: fn(&Measured) -> f64,
    /// Beside a contender, in a comparison with messages of so many bytes; none where it is only told.
    target: fn(&Contender, Place) -> Option<Target>,
    show: fn(f64) -> String,
}

static RATE: Quantity = Quantity {
    of: |m| m.goodput_bit_s,
    target: |peer, (comparison, bytes)| {
        let listed = RATE_TARGETS.iter().find(|(b, _)| *b == bytes).or(RATE_TARGETS.last());
        let own = COMPARISONS.iter().find(|one| one.name == comparison).and_then(|one| one.least);
        let least = own.or(listed.map(|(_, bound)| *bound));
        peer.judged.then(|| Target::AtLeast(least.unwrap_or(1.0)))
    },
    show: |rate| format!("{:.2} Gb/s", rate / 1e9),
};

static CPU: Quantity = Quantity {
    of: |m| m.cpu_s_per_gb,
    target: |peer, (comparison, _)| (peer.judged && comparison != "lowat").then_some(CPU_TARGET),
    show: |s| format!("{s:.3}"),
};

/// Prints a row per size and peer and returns how many targets were missed.
fn rows(measured: &[Measured], options: &Options, quantity: &Quantity) -> usize {
    let mut missed = 0;
    for place @ (comparison, bytes) in places(measured) {
        let here: Vec<&Measured> =
            measured.iter().filter(|m| (m.comparison, m.message_bytes) == place).collect();
        let ours = by_block(&here, OURS.name, quantity);
        for peer in PEERS {
            let theirs = by_block(&here, peer.name, quantity);
            let ratios: Vec<f64> =
                ours.iter().filter_map(|(block, ours)| Some(ours / theirs.get(block)?)).collect();
            let Some(interval) = Interval::of(&ratios, options.seed) else { continue };
            let target = (quantity.target)(peer, place);
            let shown = target.map(|target| interval.against(target));
            missed += usize::from(shown == Some(Shown::Missed));
            let shown = shown.map_or_else(|| "told, not judged".to_owned(), |it| it.to_string());
            let target = target.map_or_else(|| "-".to_owned(), |it| it.to_string());
            let middle = |of: &BTreeMap<u64, f64>| {
                median(&of.values().copied().collect::<Vec<_>>())
                    .map_or(String::new(), quantity.show)
            };
            println!(
                "| {bytes} B, {comparison} | {} | {} | {} | {interval} | {target} | {shown} |",
                peer.name,
                middle(&ours),
                middle(&theirs)
            );
        }
    }
    missed
}

/// Prints how far the mean rate of five blocks would be uncertain, ours and each peer's, as its 95 % half-width.
fn spreads(measured: &[Measured]) {
    for place @ (comparison, bytes) in places(measured) {
        let here: Vec<&Measured> =
            measured.iter().filter(|m| (m.comparison, m.message_bytes) == place).collect();
        let of = |name: &str| half_width(&here, name);
        for peer in PEERS {
            let (Some(ours), Some(theirs)) = (of(OURS.name), of(peer.name)) else { continue };
            let [percent, theirs_percent] = [ours, theirs].map(|share| share * 100.0);
            println!(
                "| {bytes} B, {comparison} | {} | {percent:.1} % | {theirs_percent:.1} % | {:.2} |",
                peer.name,
                ours / theirs
            );
        }
    }
}

/// Of the mean of five, by the deviations of all blocks; none of fewer than two blocks.
fn half_width(here: &[&Measured], contender: &str) -> Option<f64> {
    let rates: Vec<f64> = by_block(here, contender, &RATE).into_values().collect();
    let n = f64::from(u32::try_from(rates.len()).ok()?);
    let mean = rates.iter().sum::<f64>() / n;
    let squares: f64 = rates.iter().map(|rate| (rate / mean - 1.0).powi(2)).sum();
    (n > 1.0).then(|| T_OF_FIVE * (squares / (n - 1.0) / 5.0).sqrt())
}

/// The 97.5 % quantile of Student's t with four degrees of freedom.
const T_OF_FIVE: f64 = 2.776;

/// A comparison by name, and a size of messages.
type Place = (&'static str, u64);

/// In the order in which they were measured.
fn places(measured: &[Measured]) -> Vec<Place> {
    let mut places: Vec<Place> = measured.iter().map(|m| (m.comparison, m.message_bytes)).collect();
    places.dedup();
    places
}

fn by_block(measured: &[&Measured], contender: &str, quantity: &Quantity) -> BTreeMap<u64, f64> {
    let own = measured.iter().filter(|m| m.contender == contender);
    own.map(|m| (m.block, (quantity.of)(m))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(contender: &'static str, block: u64, rate: f64) -> Measured {
        Measured {
            contender,
            comparison: LOOPBACK,
            message_bytes: 100,
            block,
            goodput_bit_s: rate,
            cpu_s_per_gb: 1.0,
            disturbed: false,
        }
    }

    fn options() -> Options {
        Options { sizes: vec![100], ..Options::parse(&[]).unwrap() }
    }

    #[test]
    fn a_slower_loop_misses_its_target_and_an_equal_one_does_not() {
        let blocks = |factor: f64| -> Vec<Measured> {
            (0..10)
                .flat_map(|b| [measured("btu", b, factor * 1e9), measured("qperf", b, 1e9)])
                .collect()
        };
        assert_eq!(rows(&blocks(0.5), &options(), &RATE), 1);
        assert_eq!(rows(&blocks(1.0), &options(), &RATE), 0);
    }

    /// Blocks of 0.9 and 1.1: their standard deviation is 0.1155 of their mean.
    #[test]
    fn the_half_width_is_that_of_five_blocks() {
        let blocks: Vec<Measured> =
            [0.9, 1.1, 0.9, 1.1].iter().zip(0..).map(|(r, b)| measured("btu", b, *r)).collect();
        let here: Vec<&Measured> = blocks.iter().collect();
        let found = half_width(&here, "btu").unwrap();
        assert!((found - 2.776 * 0.115_47 / 5.0_f64.sqrt()).abs() < 1e-4, "{found}");
        assert_eq!(half_width(&here[..1], "btu"), None);
    }

    #[test]
    fn a_size_has_its_own_target_or_the_last() {
        let peer = PEERS.iter().find(|peer| peer.name == "iperf3").unwrap();
        let target = |place| (RATE.target)(peer, place).unwrap().to_string();
        assert_eq!(target((LOOPBACK, 4096)), ">= 1.00");
        assert_eq!(target((LOOPBACK, 7)), ">= 0.97");
        assert_eq!(target(("lowat", 100)), ">= 1.10");
    }
}
