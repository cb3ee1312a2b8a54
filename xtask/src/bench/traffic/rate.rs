//! The rate that the receiving user had when the time was over, beside the rate that was asked for: on the line up to
//! 0.98 of what it carries, and on a path that is not the limit. What a slow sender delivers later is not in it.

use anyhow::Context;
use anyhow::Result;
use serde_json::Value;

use super::LINE;
use super::LINE_BIT_S;
use super::Verb;
use super::all_of;
use super::judged;
use super::number;

pub(super) fn rate(program: &Verb<'_>) -> Result<usize> {
    let mut missed = 0;
    for load in loads() {
        let name = format!("rate-{}-{}-{:.0}", load.transport, load.bytes, load.asked_bit_s());
        let file = program.results.join(format!("{name}.toml"));
        std::fs::write(&file, load.scenario())?;
        let (file, path) = (file.display().to_string(), load.path);
        let result = program.measure(&name, &[&[file.as_str()][..], path].concat())?;
        let flow = *all_of(&result, "flows").first().context("no flow")?;
        missed += load.judged(flow)?;
    }
    Ok(missed)
}

/// Equal blocks at equal periods: as many as have an end within the time.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Link options; none on the direct path.
    path: &'static [&'static str],
    transport: &'static str,
    bytes: u32,
    blocks: u32,
}

fn loads() -> Vec<Load> {
    let on_line = |(transport, bytes, headers): (&'static str, u32, u32)| {
        let carried = LINE_BIT_S * f64::from(bytes) / f64::from(bytes + headers);
        SHARES.map(|share| Load::of(&LINE, transport, bytes, share * carried))
    };
    let fast = |transport: &'static str| {
        [100e6, 500e6]
            .into_iter()
            .flat_map(move |rate| [1250, 8000].map(|bytes| Load::of(&[], transport, bytes, rate)))
    };
    ON_LINE.into_iter().flat_map(on_line).chain(["udp", "tcp"].into_iter().flat_map(fast)).collect()
}

impl Load {
    fn of(path: &'static [&'static str], transport: &'static str, bytes: u32, bit_s: f64) -> Self {
        let blocks = (bit_s * f64::from(SECONDS) / 8.0 / f64::from(bytes)).floor();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below a million"
        )]
        let blocks = blocks as u32;
        Self { path, transport, bytes, blocks }
    }

    fn asked_bit_s(&self) -> f64 {
        f64::from(self.blocks) * f64::from(self.bytes) * 8.0 / f64::from(SECONDS)
    }

    /// Rounded up, so that no block more falls due.
    fn period_ns(&self) -> u64 {
        (u64::from(SECONDS) * 1_000_000_000).div_ceil(u64::from(self.blocks))
    }

    fn scenario(&self) -> String {
        let Self { transport, bytes, .. } = self;
        // A block of a stream leaves when it is due, as a datagram does.
        let options = if *transport == "tcp" { "(nodelay=yes)" } else { "" };
        format!(
            "[[cluster]]\nname = \"rate\"\n[[cluster.test]]\npath = \"test -> active\"\n\
             transport = \"{transport}{options}\"\n\
             type = \"burstq(blocksize={bytes} B, period={} ns, duration={SECONDS} s)\"\n",
            self.period_ns()
        )
    }

    fn judged(&self, flow: &Value) -> Result<usize> {
        let (got, asked) = (number(flow, "departure_rate_bit_s")?, self.asked_bit_s());
        let told = format!(
            "rate, {} of {} B{}: {got:.0} bit/s by the end, within 0.5 % of {asked:.0}",
            self.transport,
            self.bytes,
            if self.path.is_empty() { "" } else { " on the line" }
        );
        Ok(judged(&told, (got / asked - 1.0).abs() <= 0.005))
    }
}

/// Of what the line carries of such blocks.
const SHARES: [f64; 4] = [0.06, 0.5, 0.9, 0.98];
/// Transport, bytes of a block, and what is beside them on the wire: 38 of Ethernet, 20 of IPv4, 8 of UDP, 32 of TCP with
/// its timestamps.
const ON_LINE: [(&str, u32, u32); 2] = [("udp", 1000, 66), ("tcp", 1250, 90)];
const SECONDS: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_reach_98_percent_of_the_line_and_500_megabits_without_one() {
        for (transport, most) in [("udp", 1_694_000.0), ("tcp", 1_684_500.0)] {
            let of = |on_line: bool| -> Vec<f64> {
                let own = loads().into_iter().filter(|load| load.transport == transport);
                own.filter(|load| load.path.is_empty() != on_line)
                    .map(|load| load.asked_bit_s())
                    .collect()
            };
            let highest = of(true).into_iter().fold(0.0, f64::max) / most;
            assert!((highest - 0.98).abs() < 0.001, "{transport}: {highest} of the line");
            let fastest = of(false).into_iter().fold(0.0, f64::max);
            assert!((fastest / 500e6 - 1.0).abs() < 1e-5, "{transport}: {fastest}");
        }
    }

    /// The last block is due before the end, and the one after it is not.
    #[test]
    fn as_many_blocks_fall_due_as_were_counted() {
        for load in loads() {
            let (blocks, period) = (u64::from(load.blocks), load.period_ns());
            let end = u64::from(SECONDS) * 1_000_000_000;
            assert!((blocks - 1) * period < end && blocks * period >= end, "{load:?}");
        }
    }

    /// It delivers every byte, but half of them when the time is over.
    #[test]
    fn a_sender_at_half_speed_misses_the_bound() {
        for load in loads() {
            let flow = |share: f64| {
                let asked = load.asked_bit_s();
                serde_json::json!({
                    "delivered_bytes": asked / 8.0 * f64::from(SECONDS),
                    "departure_rate_bit_s": share * asked,
                })
            };
            assert_eq!(load.judged(&flow(1.0)).unwrap(), 0);
            for share in [0.5, 0.99] {
                assert_eq!(load.judged(&flow(share)).unwrap(), 1, "{load:?}");
            }
        }
    }
}
