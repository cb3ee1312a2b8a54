//! `btu traffic viseum`: the paper's measurements again, figure by figure, over a link like the paper's.

use btu_core::traffic::language::recipe::BURST;
use btu_core::traffic::language::recipe::STREAM;
use btu_core::traffic::language::recipe::TCP;
use btu_core::traffic::language::recipe::bursts;
use btu_core::traffic::language::recipe::drained;
use btu_core::traffic::language::recipe::full;
use btu_core::traffic::language::recipe::one_test;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Link;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Study;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::options::ViseumArgs;
use super::sweep::Cells;
use super::sweep::vbr;

/// How much of the paper is measured.
struct Extent {
    /// Every rate is multiplied and every time divided by this.
    scale: u32,
    /// Of the full streams.
    streams: u32,
    /// Seconds of a full stream, before scaling.
    stream_s: u64,
    /// Of the path, each way.
    delay_ms: u64,
    passes: u32,
    block_sizes: &'static [u64],
    sessions: &'static [u32],
    periods_ms: &'static [u64],
    times_s: &'static [u64],
    vbr_passes: u32,
}

/// napier, section 4: 30 s eight times; 10 s two or three times; 10 to 120 s once, here with five more
/// seeds. The paper gives no delay of its link: 70 ms each way are ours.
static WHOLE: Extent = Extent {
    scale: 1,
    streams: 8,
    stream_s: 30,
    delay_ms: 70,
    passes: 3,
    block_sizes: &[64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576],
    sessions: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    periods_ms: &[10, 15, 20, 30, 40, 50, 60, 70, 80, 100, 150, 200, 400, 1000],
    times_s: &[10, 30, 60, 90, 120],
    vbr_passes: 6,
};

/// Without a delay: what waits is then the fluid's to within a packet, which is what the checks of a quick run compare.
static QUICK: Extent = Extent {
    scale: 10,
    streams: 3,
    stream_s: 30,
    delay_ms: 0,
    passes: 3,
    block_sizes: &[64, 1024, 16_384, 262_144],
    sessions: &[1, 2, 4, 8, 16],
    periods_ms: &[10, 20, 30, 40, 50, 60, 80, 100, 200, 500],
    times_s: &[10, 30, 60, 120],
    vbr_passes: 2,
};

static SMOKE: Extent = Extent {
    scale: 10,
    streams: 1,
    stream_s: 3,
    delay_ms: 0,
    passes: 1,
    block_sizes: &[1024, 16_384],
    sessions: &[1, 2, 4],
    periods_ms: &[20, 40, 80, 200],
    times_s: &[5, 10],
    vbr_passes: 1,
};

pub(super) fn plan(args: &ViseumArgs) -> Plan {
    let extent = match (args.quick, args.smoke) {
        (_, true) => &SMOKE,
        (true, _) => &QUICK,
        _ => &WHOLE,
    };
    let seed = args.seed.unwrap_or_else(crate::measurement::fresh_seed);
    let plan = Plan::new(Study::Viseum, extent.cells(), seed);
    Plan {
        passes: extent.passes,
        scale: extent.scale,
        link: Some(extent.line(VISEUM_BIT_S)),
        stall_ns: Nanos::from_secs(20),
        ..plan
    }
}

impl Extent {
    fn seconds(&self, seconds: u64) -> Nanos {
        Nanos::new(Nanos::from_secs(seconds).count() / u64::from(self.scale))
    }

    /// A serial line for so much TCP goodput, with the queue of the paper's shaper, and the length of the way.
    fn line(&self, wire_bit_s: u64) -> Link {
        let rate = wire_bit_s * u64::from(self.scale);
        let mut chain = vec![format!("rate {rate}bit/s queue 64kB")];
        if self.delay_ms > 0 {
            chain.push(format!("delay {}ms", self.delay_ms));
        }
        Link { up: chain.clone(), down: chain, wire: "ethernet".to_owned() }
    }

    fn cells(&self) -> Vec<Cell> {
        let mut cells = Cells::default();
        let (stream, bursts_for) = (self.seconds(self.stream_s), self.seconds(10));
        let passes = Some(self.streams);
        cells.add(Group::Capacity, "16 KiB".to_owned(), 1.0, &full(STREAM, stream)).passes = passes;
        for size in self.block_sizes {
            let script = full(Bytes::new(*size), stream);
            let label = Bytes::new(*size).to_string();
            #[expect(clippy::cast_precision_loss, reason = "block sizes")]
            let x = *size as f64;
            cells.add(Group::BlockSize, label, x, &script).passes = passes;
        }
        for count in self.sessions {
            let cell = cells.add(
                Group::Sessions,
                count.to_string(),
                f64::from(*count),
                &full(STREAM, stream),
            );
            cell.sessions = *count;
        }
        for period in self.periods_ms {
            let (label, x, period) = self.period(*period);
            // Figure 8 has delays beyond half of the duration: those until the queue is empty.
            let script = drained(TCP, BURST, period, bursts_for);
            cells.add(Group::Period, label, x, &script);
        }
        for period in UNQUEUED_MS.iter().filter(|_| self.passes > 1) {
            let (label, x, period) = self.period(*period);
            let script = bursts("burst", TCP, BURST, period, bursts_for);
            cells.add(Group::Unqueued, label, x, &script).passes = Some(1);
        }
        for time in self.times_s {
            let time = self.seconds(*time);
            let cell = cells.add(
                Group::Time,
                time.to_string(),
                time.seconds(),
                &vbr(TCP, time, self.scale),
            );
            cell.passes = Some(self.vbr_passes);
        }
        self.others(&mut cells, stream);
        cells.0
    }

    fn period(&self, millis: u64) -> (String, f64, Nanos) {
        let period = Nanos::new(Nanos::from_millis(millis).count() / u64::from(self.scale));
        (period.to_string(), period.millis(), period)
    }

    /// The second line of main finding 1, and datagrams at 1.3 times what the line carries: what "a
    /// conventional Ethernet" did to them.
    fn others(&self, cells: &mut Cells, stream: Nanos) {
        let cell = cells.add(Group::SlowLine, "0.45 Mb/s".to_owned(), 0.45, &full(STREAM, stream));
        cell.link = Some(self.line(T1_BIT_S));
        let rate = 1.3 * f64::from(self.scale) * DATAGRAM_MU_BIT_S;
        let period = Nanos::new(nanos(f64::from(DATAGRAM) * 8e9 / rate));
        let traffic = format!(
            "burstq(blocksize={DATAGRAM} B, period={} ns, duration={} ns)",
            period.count(),
            self.seconds(10).count()
        );
        cells.add(Group::Datagrams, "1.3 mu".to_owned(), 1.3, &one_test(&traffic, "udp", ""));
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive period")]
fn nanos(value: f64) -> u64 {
    value.round() as u64
}

/// 1.7 Mb/s of TCP payload at an MTU of 1500: 1448 of 1538 bytes on the wire.
const VISEUM_BIT_S: u64 = 1_805_700;
/// 0.45 Mb/s, the other line of main finding 1.
const T1_BIT_S: u64 = 477_970;
/// Datagrams of one packet each; 1472 of 1538 bytes on the wire.
const DATAGRAM: u32 = 1472;
const DATAGRAM_MU_BIT_S: f64 = 1_805_700.0 * 1472.0 / 1538.0;
/// Half, nine tenths, eleven tenths of the 58.8 ms that a burst takes, and twice that.
const UNQUEUED_MS: [u64; 4] = [29, 53, 65, 118];

#[cfg(test)]
mod tests {
    use btu_core::link::ChainSpec;
    use btu_core::link::Reader;

    use super::*;

    /// The window of the streams holds what the longer way has under way: 1.7 Mb/s for 140 ms are 30 kB.
    #[test]
    fn the_whole_of_the_paper_has_a_way_of_70_ms_and_every_number_of_sessions() {
        let whole = WHOLE.line(VISEUM_BIT_S);
        assert_eq!(whole.up, ["rate 1805700bit/s queue 64kB", "delay 70ms"]);
        assert_eq!(whole.up, whole.down);
        let chain = ChainSpec::as_given(&whole.up, &Reader::PLAN).unwrap();
        assert_eq!(chain.texts().len(), 2, "two elements");
        for shorter in [&QUICK, &SMOKE] {
            assert_eq!(shorter.line(VISEUM_BIT_S).up, ["rate 18057000bit/s queue 64kB"]);
        }
        let cells = WHOLE.cells();
        let of = |group: Group| cells.iter().filter(move |cell| cell.group == group);
        let sessions: Vec<u32> = of(Group::Sessions).map(|cell| cell.sessions).collect();
        assert_eq!(sessions, (1..=16).collect::<Vec<u32>>());
        let slow = of(Group::SlowLine).next().and_then(|cell| cell.link.as_ref()).unwrap();
        assert_eq!(slow.up, ["rate 477970bit/s queue 64kB", "delay 70ms"]);
    }
}
