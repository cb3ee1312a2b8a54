//! A transport in virtual time: programmed times, dips, holes and noise; what tests run against.

mod dip;
mod noise;

use super::chasm::Answer;
use super::chasm::Probe;
use super::chasm::Request;
use super::configuration::Configuration;
use super::configuration::Mode;
use super::configuration::size_f64;
use super::curve::Line;
use super::sample::Ended;
use super::sample::Times;
use super::sample::VisitSample;
use super::schedule::Division;
use super::schedule::Schedule;
use super::schedule::Sounding;
use super::schedule::Stream;
use super::schedule::Visit;
use super::schedule::whole;
use crate::stats::median;
use crate::units::Bytes;
use crate::units::Nanos;

pub use dip::Dip;
pub use dip::Reach;
pub use noise::Bursts;
pub use noise::Noise;

/// A path that takes the time it is told to take.
#[derive(Debug)]
pub struct Simulated {
    regimes: Vec<(Bytes, Line)>,
    dips: Vec<Dip>,
    noise: Noise,
    acknowledgement: Nanos,
    now: Nanos,
}

impl Simulated {
    /// A path whose blocks take `fixed_us` and `ns_per_byte`, one way, without noise.
    pub fn new(fixed_us: f64, ns_per_byte: f64) -> Self {
        let line = Line { fixed: fixed_us, per_byte: ns_per_byte / 1e3 };
        let regimes = vec![(Bytes::ZERO, line)];
        let (noise, acknowledgement) = (Noise::none(), Nanos::ZERO);
        Self { regimes, dips: Vec::new(), noise, acknowledgement, now: Nanos::ZERO }
    }

    /// From blocks of `from` on, another line holds: a rendezvous, or memory out of the cache.
    #[must_use]
    pub fn then(mut self, from: Bytes, fixed_us: f64, ns_per_byte: f64) -> Self {
        self.regimes.push((from, Line { fixed: fixed_us, per_byte: ns_per_byte / 1e3 }));
        self
    }

    /// With a dip.
    #[must_use]
    pub fn with_dip(mut self, dip: Dip) -> Self {
        self.dips.push(dip);
        self
    }

    /// With noise.
    #[must_use]
    pub fn with_noise(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    /// With so much time until a sender learns that the last block of a unit was read.
    #[must_use]
    pub fn acknowledged_after(mut self, time: Nanos) -> Self {
        self.acknowledgement = time;
        self
    }

    /// The virtual time.
    pub const fn now(&self) -> Nanos {
        self.now
    }

    /// The time of a block one way, without noise.
    pub fn time_us(&self, size: Bytes, configuration: &Configuration) -> f64 {
        let regime = self.regimes.iter().rev().find(|(from, _)| *from <= size);
        let clean = regime.map_or(0.0, |(_, line)| line.at(size_f64(size)));
        self.dips.iter().fold(clean, |time, dip| dip.apply(time, size, configuration))
    }

    /// Makes one exchange; returns its time.
    pub fn exchange(&mut self, size: Bytes, configuration: &Configuration) -> Nanos {
        let ways = if configuration.mode == Mode::PingPong { 2.0 } else { 1.0 };
        let quiet = self.time_us(size, configuration) * 1e3 * ways;
        let taken = whole((quiet * self.noise.factor(self.now)).max(1.0));
        self.now = self.now.saturating_add(taken);
        taken
    }

    /// Makes a visit as an engine does: warm-up, units, and its limit.
    pub fn visit(&mut self, visit: &Visit, configuration: &Configuration) -> VisitSample {
        let began = self.now;
        for _ in 0..visit.warm_up {
            if self.exchange(visit.size, configuration) > visit.limit.longest {
                break;
            }
        }
        let division = visit.stream.map(|stream| {
            let found = self.sound(visit.size, configuration, stream);
            stream.divide(&found, visit.units)
        });
        let (most, batch) = division
            .map_or((visit.units, visit.batch), |division| (division.units, division.batch));
        let limit = visit.limit.of_units(division.map_or(1, |division| division.batch));
        let (first, mut units, mut ended) = (self.now, Vec::new(), Ended::Complete);
        let mut fastest = Nanos::MAX;
        while units.len() < usize::try_from(most).unwrap_or(usize::MAX) {
            let unit = self.unit(visit.size, configuration, batch);
            fastest = fastest.min(unit);
            units.push(unit.count());
            let done = u32::try_from(units.len()).unwrap_or(u32::MAX);
            if let Some(cause) = limit.reached(done, self.now.since(first), fastest) {
                ended = Ended::Early { cause };
                break;
            }
        }
        let times = Times::fold(&units, batch, 64);
        let flags = Vec::from_iter(division.as_ref().and_then(Division::flag));
        VisitSample { times, flags, ..VisitSample::of(visit, self.now.since(began), ended) }
    }

    /// Some exchanges in a row, and what ends them.
    fn unit(&mut self, size: Bytes, configuration: &Configuration, batch: u32) -> Nanos {
        let blocks: Nanos = (0..batch).map(|_| self.exchange(size, configuration)).sum();
        self.acknowledged(blocks, configuration)
    }

    /// What a stream takes before its first timed unit.
    fn sound(&mut self, size: Bytes, configuration: &Configuration, stream: Stream) -> Sounding {
        let (mut blocks, mut together) = (0, Nanos::ZERO);
        while !stream.is_sounded(blocks, together) {
            together += self.exchange(size, configuration);
            blocks += 1;
        }
        let together = self.acknowledged(together, configuration);
        let has_time = stream.has_time(together);
        let single = has_time.then(|| self.unit(size, configuration, 1));
        Sounding { blocks, together, single }
    }

    /// So much time, with the acknowledgement of a stream.
    fn acknowledged(&mut self, blocks: Nanos, configuration: &Configuration) -> Nanos {
        if configuration.mode != Mode::Streaming {
            return blocks;
        }
        self.now = self.now.saturating_add(self.acknowledgement);
        blocks + self.acknowledgement
    }

    /// Answers the chasm finder as an engine does.
    pub fn answer(&mut self, request: &Request) -> Answer {
        let mut medians_us = vec![Vec::new(); request.probes.len()];
        for round in 1..=request.rounds {
            for at in request.order(round) {
                medians_us[at].push(self.probe(&request.probes[at], request));
            }
        }
        Answer::Measured { medians_us }
    }

    /// The median T of one visit of a probe.
    fn probe(&mut self, probe: &Probe, request: &Request) -> f64 {
        let mut times_us = Vec::new();
        for _ in 0..request.exchanges.max(1) {
            let taken = self.exchange(probe.size, &probe.configuration);
            times_us.push(probe.configuration.mode.time_us(taken.micros() * 1e3, 1));
            if times_us.last().is_some_and(|time| *time > request.enough_above_us) {
                break;
            }
        }
        median(&times_us).unwrap_or(f64::NAN)
    }

    /// Runs a whole schedule; `configurations` are numbered from 1 as in its sweep.
    pub fn sweep(
        &mut self,
        schedule: &mut Schedule,
        configurations: &[Configuration],
    ) -> Vec<VisitSample> {
        let mut samples = Vec::new();
        while let Some(visit) = schedule.next_visit() {
            let at = usize::try_from(visit.configuration.0).unwrap_or(usize::MAX);
            let Some(configuration) = at.checked_sub(1).and_then(|at| configurations.get(at))
            else {
                continue;
            };
            let sample = self.visit(&visit, configuration);
            schedule.record(&visit, &sample);
            samples.push(sample);
        }
        samples
    }
}
