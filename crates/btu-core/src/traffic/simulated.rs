//! A serial line without a network: carries a train in virtual time, for tests and for expectations.
//!
//! The oracles of a plan are computed on the schedule that was drawn, not on its mean: the line is
//! given the very blocks that a sender was given, and says what a perfect path would have shown.

use std::sync::Arc;

use super::trace::Read;
use super::trace::Trace;
use super::trace::float;
use crate::traffic::figures::flow::rounded;
use crate::traffic::sending::burst::Block;
use crate::traffic::sending::burst::Bursts;
use crate::traffic::sending::burst::Discipline;
use crate::traffic::sending::burst::Limits;
use crate::units::Bytes;
use crate::units::Nanos;

/// A line of constant rate behind a send buffer.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Bits of user data per second.
    rate: f64,
    /// What the transport takes without waiting for the line.
    buffer: Bytes,
    /// The bytes that are read together.
    segment: Bytes,
    /// From the end of the line to the user.
    length: Nanos,
}

impl Line {
    /// A line of `rate` bit/s with a send buffer of one segment.
    pub fn new(rate: f64) -> Self {
        Self { rate, buffer: Bytes::new(1448), segment: Bytes::new(1448), length: Nanos::ZERO }
    }

    /// The same over a path that takes so long.
    #[must_use]
    pub fn with_length(self, length: Nanos) -> Self {
        Self { length, ..self }
    }

    /// The same with a send buffer.
    #[must_use]
    pub fn with_buffer(self, buffer: Bytes) -> Self {
        Self { buffer, ..self }
    }

    /// What both ends see of a train until everything that was due within `time` is read.
    pub fn carry(&self, train: &[Block], time: Nanos, discipline: Discipline) -> Trace {
        let within: Arc<[Block]> = train.iter().copied().filter(|block| block.due < time).collect();
        let mut bursts = Bursts::new(within, discipline, Limits::default());
        let (mut now, mut free) = (Nanos::ZERO, Nanos::ZERO);
        let mut reads = Vec::new();
        let mut total = 0;
        loop {
            bursts.advance(now);
            let Some(left) = bursts.offer(now) else {
                let Some(due) = bursts.next_due() else { break };
                now = now.max(due);
                continue;
            };
            // What fits the buffer is taken at once, the rest as the line makes room.
            let backlog = self.bytes_in(free.since(now));
            let room = self.buffer.count().saturating_sub(backlog).min(left.count());
            let part = if room > 0 { room } else { left.count().min(self.segment.count()) };
            if room == 0 {
                bursts.refused(now);
                let wait = now + self.time_of(part);
                if let Some(due) = bursts.next_due().filter(|due| *due < wait && *due > now) {
                    now = due;
                    continue;
                }
                now = wait;
            }
            bursts.took(now, Bytes::new(part));
            self.read(&mut reads, &mut free, now, part, &mut total);
        }
        let trace =
            Trace { duration: time, discipline, blocks: bursts.into_records(), ..Trace::default() };
        trace.of_stream(reads)
    }

    /// Puts bytes on the line, segment by segment.
    fn read(
        &self,
        reads: &mut Vec<Read>,
        free: &mut Nanos,
        now: Nanos,
        bytes: u64,
        total: &mut u64,
    ) {
        let mut left = bytes;
        while left > 0 {
            let segment = left.min(self.segment.count());
            *free = (*free).max(now) + self.time_of(segment);
            *total += segment;
            left -= segment;
            reads.push(Read { at: *free + self.length, total: Bytes::new(*total) });
        }
    }

    fn time_of(&self, bytes: u64) -> Nanos {
        Nanos::new(rounded(float(bytes) * 8e9 / self.rate))
    }

    fn bytes_in(&self, time: Nanos) -> u64 {
        rounded(time.seconds() * self.rate / 8.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Dialect;
    use crate::traffic::Timeline;
    use crate::traffic::Train;
    use crate::traffic::Vocabulary;
    use crate::traffic::figures::delay::fluid_window;
    use crate::traffic::figures::flow::Figures;
    use crate::traffic::read_script;

    /// The paper's variable bit rate for 120 s, as a script has it (napier, section 4 c).
    const SCRIPT: &str = "cluster { test a { type = burstq (blocksize=exp(mean=256258, min=8, max=1048586), \
        period=uniform(20000, 200000), duration=120); protocol = tcp (window=65536); own = a:1; peer = b:1; } \
        test b { type = sink (blocksize=262144, duration=120); protocol = tcp; own = b:1; peer = a:1; } }";

    fn drawn(seed: u64, seconds: u64) -> Vec<Block> {
        let words = Vocabulary { files: &|_| Err(String::new()) };
        let scenario = read_script("vbr.ns", SCRIPT, Dialect::NetSpec, &words).unwrap().scenario;
        let cluster = scenario.clusters()[0];
        let test = &cluster.tests[0];
        let train = test.traffic.train(&test.streams(&cluster.name, seed));
        let Some(Train::Open(train)) = train else { panic!("bursts wait for no answer") };
        let blocks = Timeline::new(train).map(|(due, arrival)| Block { due, size: arrival.bytes });
        blocks.take_while(|block| block.due < Nanos::from_secs(seconds)).collect()
    }

    /// The same blocks as drops of a fluid that leaves at 1.7 Mb/s: its mean queue over its arrivals.
    fn fluid(blocks: &[Block], seconds: u64) -> f64 {
        let (rate, end) = (1.7e6 / 8.0, Nanos::from_secs(seconds).seconds());
        let (mut queue, mut area, mut at, mut arrived) = (0.0_f64, 0.0, 0.0, 0.0);
        let mut wait = |queue: &mut f64, time: f64| {
            let busy = time.min(*queue / rate);
            area += busy * (*queue - rate * busy / 2.0);
            *queue -= rate * busy;
        };
        for block in blocks {
            wait(&mut queue, block.due.seconds() - at);
            at = block.due.seconds();
            queue += float(block.size.count());
            arrived += float(block.size.count());
        }
        wait(&mut queue, end - at);
        area / arrived
    }

    /// Figures 9 and 10 on the schedule that was drawn: utilisation near 10.9, delay after 120 s near
    /// 54.5 s and that of a fluid, growing by (1 - 1/rho)/2 each second.
    #[test]
    fn t3_random_bursts_give_the_utilisation_and_the_delay_of_the_paper() {
        let line = Line::new(1.7e6).with_buffer(Bytes::new(65_536));
        for seed in 1..=6 {
            let blocks = drawn(seed, 120);
            let bits: f64 = blocks.iter().map(|block| float(block.size.bits())).sum();
            let rho = bits / (1.7e6 * 120.0);
            assert!((9.6..=11.9).contains(&rho), "seed {seed}: {rho}");
            if seed > 2 {
                continue;
            }
            let mut delays = Vec::new();
            for seconds in [40, 80, 120] {
                let within: Vec<Block> =
                    blocks.iter().copied().filter(|b| b.due < Nanos::from_secs(seconds)).collect();
                // What is read after the end does not count; the line need not be drained.
                let time = Nanos::from_secs(seconds);
                let figures = Figures::of(&line.carry(&within, time, Discipline::Queue));
                let rho = figures.arrival_rate_bit_s / 1.7e6;
                let (got, fluid) = (figures.window_delay_s.unwrap(), fluid(&within, seconds));
                assert!((figures.offered_ratio.unwrap() / rho - 1.0).abs() < 0.01);
                assert!((got / fluid - 1.0).abs() < 0.01, "{seed}, {seconds} s: {got} {fluid}");
                delays.push((got, fluid_window(time.seconds(), rho)));
            }
            let (got, even) = delays[2];
            assert!((52.0..=57.0).contains(&got), "seed {seed}: {got}");
            // Bursts that came evenly would wait nearly as long.
            assert!((got / even - 1.0).abs() < 0.05, "seed {seed}: {got} {even}");
            let slope = (delays[2].0 - delays[0].0) / 80.0;
            assert!((slope / 0.454 - 1.0).abs() < 0.1, "seed {seed}: {slope}");
        }
    }
}
