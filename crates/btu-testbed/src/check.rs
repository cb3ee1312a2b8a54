//! Checks that an emulated link does what was asked, before the first cell and after the last.
//!
//! The check is traffic with a known answer, and this crate knows no workload: it asks for traffic
//! through [`Prober`]. Asked and measured stand side by side in the record; what does not fit is a
//! sentence in its `mismatches`.

mod judge;

use std::fmt;

use btu_core::link::ChainSpec;
use btu_core::link::LinkError;
use btu_core::link::Pattern;
use btu_core::link::Reader;
use btu_core::run::cell::Direction;
use btu_core::run::plan::Elements;
use btu_core::sample::DirectionSample;
use btu_core::sample::Quantiles;
use btu_core::sample::VerificationSample;
use btu_core::units::BitRate;
use btu_core::units::Nanos;
use btu_core::words::sentence;

use crate::backend::BackendError;
use crate::backend::Emulator;
use crate::backend::Order;

/// A way between the two hosts of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Without the emulator.
    Direct,
    /// Through the emulator, towards the test host.
    Down,
    /// Through the emulator, away from the test host.
    Up,
}

impl fmt::Display for Way {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Direct => "direct path",
            Self::Down => "down",
            Self::Up => "up",
        })
    }
}

/// Why traffic could not be made, in words.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Makes small traffic with a known answer between the two hosts of one link.
pub trait Prober {
    /// `count` round trips, one after the other, from the test host over a path; `None` for each
    /// that took longer than `patience`.
    fn round_trips(
        &mut self,
        way: Way,
        count: u32,
        patience: Nanos,
    ) -> Result<Vec<Option<Nanos>>, Fault>;

    /// Sends `count` packets in one direction of the emulated path and gives the positions, from 1,
    /// of those that did not come. Nothing else may travel in that direction meanwhile.
    fn missing_packets(&mut self, way: Way, count: u64) -> Result<Vec<u64>, Fault>;

    /// The rate of one TCP connection in one direction over `time`.
    fn bulk_rate(&mut self, way: Way, time: Nanos) -> Result<BitRate, Fault>;
}

/// What to check.
#[derive(Clone, Debug)]
pub struct Check<'a> {
    /// `before` or `after`.
    pub when: &'a str,
    /// The link's name.
    pub link: &'a str,
    /// What the plan's delayed cases have; nothing where it has none of them.
    pub delay: Elements,
    /// What its dropping case has.
    pub drop: Elements,
    /// What all cells have beside it: a line.
    pub always: Elements,
    /// Seed of the plan.
    pub seed: u64,
    /// How much time to take.
    pub effort: Effort,
}

/// How much time a check takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Round trips per path, if they fit into `probing`.
    pub probes: u32,
    /// Time for the round trips with the plan's delay; at least [`FEWEST_PROBES`] are made.
    pub probing: Nanos,
    /// Bulk traffic, each way.
    pub bulk: Nanos,
}

impl Effort {
    /// For a run of a minute: about half a second per link.
    pub const QUICK: Self =
        Self { probes: 200, probing: Nanos::from_millis(200), bulk: Nanos::from_millis(100) };
    /// For a run of half an hour: some seconds per link.
    pub const OFFICIAL: Self =
        Self { probes: 200, probing: Nanos::from_secs(3), bulk: Nanos::from_millis(500) };
}

/// Checks one link. Whatever could not be checked is a mismatch, too.
pub fn check_link(
    emulator: &dyn Emulator,
    prober: &mut dyn Prober,
    check: &Check<'_>,
) -> VerificationSample {
    let mut record = VerificationSample {
        when: check.when.to_owned(),
        link: check.link.to_owned(),
        delay_asked_us: check.delay.constant_ways().round_trip().micros() / 2.0,
        ..VerificationSample::default()
    };
    let mut round = Round { emulator, prober, check, record: &mut record };
    if let Err(cause) = round.run() {
        record.mismatches.push(format!("not checked to the end: {cause}"));
    }
    record
}

/// What kept a check from being made.
#[derive(Debug, thiserror::Error)]
enum Obstacle {
    #[error("{0}")]
    Backend(#[from] BackendError),
    #[error("{0}")]
    Element(#[from] LinkError),
    #[error("{what}: {}", sentence(&**cause))]
    Traffic { what: &'static str, cause: Fault },
}

struct Round<'a> {
    emulator: &'a dyn Emulator,
    prober: &'a mut dyn Prober,
    check: &'a Check<'a>,
    record: &'a mut VerificationSample,
}

impl Round<'_> {
    fn run(&mut self) -> Result<(), Obstacle> {
        self.check_floor()?;
        self.check_delay()?;
        self.check_drops()?;
        self.measure_bulk()
    }

    /// Round trips of both paths without any delay.
    fn check_floor(&mut self) -> Result<(), Obstacle> {
        self.configure(&Elements::default())?;
        self.record.direct_rtt_us = self.round_trips(Way::Direct, self.check.effort.probes)?;
        self.record.emulated_rtt_us = self.round_trips(Way::Up, self.check.effort.probes)?;
        self.check_losses()
    }

    /// Round trips with the plan's delay, as many as fit into the time: with that of the directions where it is foretold.
    fn check_delay(&mut self) -> Result<(), Obstacle> {
        let (all, foretold) = (&self.check.delay, self.check.delay.constant_ways());
        for (way, direction) in WAYS {
            if all.of(direction) != foretold.of(direction) {
                self.try_elements("DL", way, all)?;
            }
        }
        let round_trip = foretold.round_trip();
        if round_trip == Nanos::ZERO {
            return Ok(());
        }
        self.configure(&foretold)?;
        let fitting = self.check.effort.probing.count() / round_trip.count();
        let fitting = u32::try_from(fitting).unwrap_or(u32::MAX).max(FEWEST_PROBES);
        let count = fitting.min(self.check.effort.probes);
        self.record.delayed_rtt_us = self.round_trips(Way::Up, count)?;
        self.record.mismatches.extend(judge::delay(self.record, &foretold));
        self.check_losses()
    }

    /// Drops by a pattern are counted, each way: one of the data alone is tried in both directions.
    fn check_drops(&mut self) -> Result<(), Obstacle> {
        let mut drop = self.check.drop.clone();
        if drop.down.is_empty() && drop.pattern(Direction::Send).is_some() {
            drop.down.clone_from(&drop.up);
        }
        for (way, direction) in WAYS {
            match drop.pattern(direction) {
                Some(pattern) => self.check_pattern(way, &pattern, &drop)?,
                None => self.try_elements("DR", way, &drop)?,
            }
        }
        Ok(())
    }

    /// A known number of packets through the pattern.
    fn check_pattern(
        &mut self,
        way: Way,
        pattern: &Pattern,
        drop: &Elements,
    ) -> Result<(), Obstacle> {
        let count = judge::packets_for(pattern);
        self.configure(drop)?;
        let missing = self.missing_packets(way, count)?;
        self.record.pattern_packets += count;
        self.record.pattern_expected += pattern.count(count);
        self.record.pattern_dropped += u64::try_from(missing.len()).unwrap_or(u64::MAX);
        let found = judge::pattern(pattern, count, &missing);
        self.record.mismatches.extend(found.map(|text| format!("{way}: {text}")));
        self.check_losses()
    }

    /// Packets through elements of which nobody knows beforehand what they do: nothing may be lost but by them.
    fn try_elements(&mut self, of: &str, way: Way, elements: &Elements) -> Result<(), Obstacle> {
        let tried = if way == Way::Up { &elements.up } else { &elements.down };
        if tried.is_empty() {
            return Ok(());
        }
        self.record.not_foretold.push(format!("{of} {way}: {}", tried.join(", ")));
        self.configure(elements)?;
        let missing = self.missing_packets(way, TRIED)?;
        let samples = self.samples()?;
        let sample = samples.iter().find(|sample| sample.direction == way.to_string());
        let found = sample.and_then(|sample| judge::beside_elements(sample, missing.len()));
        self.record.mismatches.extend(found);
        self.check_losses()
    }

    fn missing_packets(&mut self, way: Way, count: u64) -> Result<Vec<u64>, Obstacle> {
        let missing = self.prober.missing_packets(way, count);
        missing.map_err(|cause| Obstacle::Traffic { what: "counted packets", cause })
    }

    /// The emulator's rate: the smaller of both ways.
    fn measure_bulk(&mut self) -> Result<(), Obstacle> {
        self.configure(&Elements::default())?;
        let mut slowest: Option<f64> = None;
        for way in [Way::Up, Way::Down] {
            let rate = self.prober.bulk_rate(way, self.check.effort.bulk);
            let rate = rate.map_err(|cause| Obstacle::Traffic { what: "bulk traffic", cause })?;
            let rate = rate.mbps() * 1e6;
            slowest = Some(slowest.map_or(rate, |other| other.min(rate)));
        }
        self.record.bulk_bit_s = slowest;
        self.check_losses()
    }

    fn round_trips(&mut self, way: Way, count: u32) -> Result<Option<Quantiles>, Obstacle> {
        let patience = PATIENCE + self.check.delay.constant_ways().round_trip() * 2;
        let trips = self.prober.round_trips(way, count, patience);
        let trips = trips.map_err(|cause| Obstacle::Traffic { what: "round trips", cause })?;
        let lost = trips.iter().filter(|trip| trip.is_none()).count();
        if lost > 0 {
            let of = trips.len();
            self.record.mismatches.push(format!("{lost} of {of} round trips were lost ({way})"));
        }
        Ok(judge::quantiles(trips.into_iter().flatten()))
    }

    /// Begins a run of the emulator with the elements of all cells and these.
    fn configure(&self, elements: &Elements) -> Result<(), Obstacle> {
        let all = self.check.always.with(elements);
        let spec = |texts: &[String]| ChainSpec::as_given(texts, &Reader::PLAN);
        let link = self.check.link.to_owned();
        let order = Order { link, up: spec(&all.up)?, down: spec(&all.down)? };
        Ok(self.emulator.configure(&[order], self.check.seed)?)
    }

    /// Losses that nobody asked for, as the emulator counted them since the last order.
    fn check_losses(&mut self) -> Result<(), Obstacle> {
        let found: Vec<String> = self.samples()?.iter().filter_map(judge::unasked).collect();
        self.record.mismatches.extend(found);
        Ok(())
    }

    /// What the emulator counted of this link since the last order.
    fn samples(&self) -> Result<Vec<DirectionSample>, Obstacle> {
        let mut samples = self.emulator.samples()?;
        samples.retain(|sample| sample.link == self.check.link);
        Ok(samples)
    }
}

/// A direction's record in short, for a sentence.
fn direction_name(sample: &DirectionSample) -> String {
    format!("{} {}", sample.link, sample.direction)
}

/// A round trip of more than this, and four times the delay asked for, is lost.
const PATIENCE: Nanos = Nanos::from_millis(200);
/// Packets each way through elements that nobody foretells: each 64 of them that are lost in a row take a tenth of a second.
const TRIED: u64 = 500;
const WAYS: [(Way, Direction); 2] = [(Way::Up, Direction::Send), (Way::Down, Direction::Receive)];
/// Fewer round trips than this say nothing.
pub const FEWEST_PROBES: u32 = 10;

#[cfg(test)]
mod tests;
