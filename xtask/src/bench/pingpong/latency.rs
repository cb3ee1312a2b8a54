//! Half a round trip beside qperf, sockperf and `NPtcp`: all in turn within each block, in random order,
//! pinned to the same two CPUs, each peer against our figure of the same kind at its own size.

use anyhow::Context;
use anyhow::Result;
use serde_json::Value;

use super::at;
use super::compared;
use super::is_there;
use super::points;
use crate::bench::options::Options;
use crate::bench::paired::Chance;
use crate::bench::paired::Interval;
use crate::bench::paired::Target;
use crate::bench::process::End;
use crate::bench::verb::Verb;

/// A program that measures half a round trip between two blocking ends.
struct Peer {
    name: &'static str,
    package: &'static str,
    server: &'static str,
    client: &'static str,
    port: u16,
    /// The block that it sends.
    bytes: u64,
    /// Our statistic of the same kind.
    statistic: &'static str,
    /// Microseconds, from what its client prints.
    read: fn(&str) -> Option<f64>,
}

static PEERS: [Peer; 3] = [
    Peer {
        name: "qperf",
        package: "qperf",
        server: "qperf",
        client: "qperf 127.0.0.1 -t 2 -m 1 -uu tcp_lat",
        port: 19_765,
        bytes: 1,
        statistic: "mean_us",
        read: qperf,
    },
    Peer {
        name: "sockperf",
        package: "sockperf",
        server: "sockperf sr --tcp -i 127.0.0.1 -p 11111",
        client: "sockperf pp --tcp -i 127.0.0.1 -p 11111 -t 2 --msg-size 14",
        port: 11_111,
        bytes: 14,
        statistic: "mean_us",
        read: sockperf,
    },
    Peer {
        name: "NPtcp",
        package: "netpipe-tcp",
        server: "NPtcp",
        client: "NPtcp -h 127.0.0.1 -u 3 -o /dev/stdout",
        port: 5002,
        bytes: 1,
        statistic: "netpipe_us",
        read: netpipe,
    },
];

/// One block: our block and spin at 1 and 14 bytes, and what each peer said.
struct Block {
    ours: Value,
    theirs: Vec<Option<f64>>,
}

pub(super) fn latency(program: &Verb<'_>, options: &Options) -> Result<usize> {
    let present: Vec<&Peer> =
        PEERS.iter().filter(|peer| is_there(peer.name, peer.package)).collect();
    let mut chance = Chance(options.seed);
    let blocks: Vec<Block> = (1..=options.blocks)
        .map(|number| measure(program, &present, number, &mut chance))
        .collect::<Result<_>>()?;
    let mut missed = PEERS.len() - present.len();
    for (at, peer) in present.iter().enumerate() {
        for (wait, bound) in [("block", 1.03), ("spin", 0.5)] {
            let ratios: Vec<f64> =
                blocks.iter().filter_map(|block| block.ratio(at, peer, wait)).collect();
            let shown = Interval::of(&ratios, options.seed)
                .with_context(|| format!("{}: no block has both figures", peer.name))?;
            let Peer { name, bytes, statistic, .. } = peer;
            let what = format!("latency: {wait} over {name} at {bytes} B, {statistic}");
            missed += compared(&what, &shown, Target::AtMost(bound));
        }
    }
    Ok(missed)
}

impl Peer {
    /// Half a round trip, in microseconds; the end that starts on the first CPU, as ours.
    fn measure(&self) -> Result<Option<f64>> {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let server = End::start(1, &words(self.server))?;
        server.listens(self.port)?;
        let mut client = End::start(0, &words(self.client))?;
        let said = client.output()?;
        client.succeeded()?;
        Ok((self.read)(&said))
    }
}

impl Block {
    fn ratio(&self, at: usize, peer: &Peer, wait: &str) -> Option<f64> {
        let curve = points(&self.ours, &format!("tcp {wait}")).ok()?;
        Some(self::at(curve, peer.bytes, peer.statistic).ok()? / (*self.theirs.get(at)?)?)
    }
}

/// All of a block, in an order of its own.
fn measure(program: &Verb<'_>, peers: &[&Peer], number: u64, chance: &mut Chance) -> Result<Block> {
    let (mut ours, mut theirs) = (Value::Null, vec![None; peers.len()]);
    let mut turns: Vec<usize> = (0..=peers.len()).collect();
    while !turns.is_empty() {
        let turn = turns.swap_remove(chance.below(turns.len()));
        match peers.get(turn) {
            Some(peer) => theirs[turn] = peer.measure()?,
            None => ours = our_own(program, number)?,
        }
    }
    let block = Block { ours, theirs };
    for (at, peer) in peers.iter().enumerate() {
        let ratio = |wait| block.ratio(at, peer, wait).unwrap_or(f64::NAN);
        let (name, theirs) = (peer.name, block.theirs[at].unwrap_or(f64::NAN));
        println!(
            "latency: block {number}: {name} {theirs:.2} us, ours/theirs {:.3} block, {:.3} spin",
            ratio("block"),
            ratio("spin")
        );
    }
    Ok(block)
}

fn our_own(program: &Verb<'_>, number: u64) -> Result<Value> {
    let args = "tcp --on loopback --wait block,spin --sizes 1B,14B --point-time 1s --chasms off \
                --reference off --cpus 0/1";
    let args: Vec<&str> = args.split_whitespace().collect();
    program.measure(&format!("latency-{number}"), &args)
}

/// `latency  =  8.07 us`
fn qperf(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.trim_start().starts_with("latency"))?;
    let mut words = line.split_whitespace().skip(2);
    let value: f64 = words.next()?.replace(',', "").parse().ok()?;
    match words.next()? {
        "ns" => Some(value / 1e3),
        "us" => Some(value),
        "ms" => Some(value * 1e3),
        "sec" => Some(value * 1e6),
        _ => None,
    }
}

/// `sockperf: Summary: Latency is 8.023 usec`, in colours.
fn sockperf(text: &str) -> Option<f64> {
    let (_, rest) = text.split_once("Latency is ")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The first row of an `np.out` that has three columns: bytes, rate, seconds.
fn netpipe(text: &str) -> Option<f64> {
    let row = |line: &str| {
        let cells: Vec<f64> = line.split_whitespace().map_while(|cell| cell.parse().ok()).collect();
        let is_row = cells.len() == 3 && cells.len() == line.split_whitespace().count();
        (is_row && cells[0] <= 1.0).then(|| cells[2] * 1e6)
    };
    text.lines().find_map(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_peer_prints_is_read_in_microseconds() {
        let close = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-9;
        assert!(close(qperf("tcp_lat:\n    latency  =  8070 ns\n"), 8.07));
        assert!(close(qperf("tcp_lat:\n    latency  =  8.07 us\n"), 8.07));
        let colours = "\u{1b}[2;35msockperf: ====> avg-latency=8.023 (std-dev=1.1)\n\
                       sockperf: Summary: Latency is 8.023 usec\u{1b}[0m\n";
        assert!(close(sockperf(colours), 8.023));
        let text =
            "Send and receive buffers are 16384 and 131072 bytes\n       1 0.876453   0.00000870\n";
        assert!(close(netpipe(text), 8.7));
        assert_eq!(qperf("nothing"), None);
    }
}
