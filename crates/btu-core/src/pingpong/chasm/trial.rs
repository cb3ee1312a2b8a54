//! Sizes measured beside clean ones of the same minute, and whether they are slow.

use super::Finder;
use super::Pause;
use super::Settings;
use super::candidate::Baseline;
use super::request::Probe;
use super::request::Purpose;
use super::request::Request;
use super::request::Tape;
use crate::pingpong::configuration::Configuration;
use crate::pingpong::configuration::size_f64;
use crate::stats::mann_whitney_greater;
use crate::stats::median;
use crate::units::Bytes;

/// How sizes are tried with one configuration: beside which references, against which threshold.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) settings: Settings,
    pub(super) configuration: Configuration,
    pub(super) references: Vec<Bytes>,
    base: Configuration,
    baseline: Baseline,
    threshold: f64,
}

/// What a trial saw: for each size, the ratio to what is expected of it, round by round.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    ratios: Vec<(Bytes, Vec<f64>)>,
    reference: Vec<f64>,
}

impl Trial {
    pub(super) fn new(
        finder: &Finder,
        configuration: &Configuration,
        references: Vec<Bytes>,
    ) -> Self {
        Self {
            settings: finder.settings,
            configuration: configuration.clone(),
            references,
            base: finder.base.clone(),
            baseline: finder.baseline.clone(),
            threshold: finder.settings.ratio,
        }
    }

    /// The same trial of a chasm whose depth is known: the geometric middle between clean and slow
    /// decides, for the noise of a busy machine multiplies, and 1.3 is soon passed.
    pub(super) fn deepened(&self, depth: f64) -> Self {
        let threshold = depth.max(1.0).sqrt().max(self.settings.ratio);
        Self { threshold, ..self.clone() }
    }

    /// The same trial with another configuration.
    pub(super) fn with(&self, configuration: &Configuration, references: Vec<Bytes>) -> Self {
        Self { configuration: configuration.clone(), references, ..self.clone() }
    }

    /// True for a chasm so deep that a single exchange tells slow from clean.
    pub(super) fn is_deep(&self) -> bool {
        self.threshold * self.threshold >= DEEP
    }

    /// Measures the sizes and the references, interleaved. A round in which a reference itself was
    /// slow says nothing of the others: the machine was busy with something else. It is asked for again,
    /// some times.
    pub(super) fn measure(
        &self,
        tape: &mut Tape<'_>,
        purpose: &Purpose,
        sizes: &[Bytes],
        rounds: u32,
    ) -> Result<Seen, Pause> {
        let (wanted, mut all, mut quiet) = (usize::try_from(rounds).unwrap_or(1), vec![], vec![]);
        for _ in 0..ASKED {
            let times = tape.ask(self.request(purpose.clone(), sizes, rounds))?;
            let seen = (0..wanted).map(|round| times.iter().map(|of| of[round]).collect());
            let seen: Vec<Vec<f64>> = seen.collect();
            quiet.extend(seen.iter().filter(|round| self.is_quiet(round, sizes)).cloned());
            all.extend(seen);
            if quiet.len() >= wanted {
                quiet.truncate(wanted);
                return Ok(self.seen(sizes, &quiet));
            }
        }
        Ok(self.seen(sizes, if quiet.len() * 2 >= wanted { &quiet } else { &all }))
    }

    /// True for a round whose references took about what is expected of them.
    fn is_quiet(&self, round: &[f64], sizes: &[Bytes]) -> bool {
        let most = self.threshold.max(DISTURBED);
        let references = self.references.iter().zip(round.iter().skip(sizes.len()));
        references.clone().all(|(size, time)| time / self.baseline.at(*size) < most)
    }

    /// What rounds say, each a time of every size and every reference.
    fn seen(&self, sizes: &[Bytes], rounds: &[Vec<f64>]) -> Seen {
        let scales: Vec<Vec<(Bytes, f64)>> =
            rounds.iter().map(|round| self.scale(&round[sizes.len()..])).collect();
        let ratios = |(at, size): (usize, &Bytes)| {
            let ratio = |(round, scale): (&Vec<f64>, &Vec<(Bytes, f64)>)| {
                round[at] / self.expected(*size, scale)
            };
            (*size, rounds.iter().zip(&scales).map(ratio).collect())
        };
        let reference = scales.iter().flatten().map(|(_, log)| log.exp()).collect();
        Seen { ratios: sizes.iter().enumerate().map(ratios).collect(), reference }
    }

    /// Every size and every reference as a probe.
    fn request(&self, purpose: Purpose, sizes: &[Bytes], rounds: u32) -> Request {
        let probe = |size: &Bytes| Probe { size: *size, configuration: self.configuration.clone() };
        let expected = sizes.iter().chain(&self.references).map(|size| self.baseline.at(*size));
        let most = expected.max_by(f64::total_cmp).unwrap_or(f64::INFINITY);
        Request {
            purpose,
            probes: sizes.iter().chain(&self.references).map(probe).collect(),
            base: Box::new(self.base.clone()),
            rounds,
            exchanges: self.settings.exchanges,
            enough_above_us: ENOUGH * most,
        }
    }

    /// How far each reference is from the baseline in a round, on logs.
    fn scale(&self, references: &[f64]) -> Vec<(Bytes, f64)> {
        let at = self.references.iter().zip(references);
        at.map(|(size, time)| (*size, (time / self.baseline.at(*size)).ln())).collect()
    }

    /// What a size should take: the baseline, moved as the references have moved, between them on
    /// the scale of log n.
    fn expected(&self, size: Bytes, scale: &[(Bytes, f64)]) -> f64 {
        let log = match scale {
            [(low, at_low), (high, at_high)] => {
                let position = |size: Bytes| size_f64(size).ln();
                let share = (position(size) - position(*low)) / (position(*high) - position(*low));
                at_low + share.clamp(0.0, 1.0) * (at_high - at_low)
            }
            [(_, only)] => *only,
            _ => 0.0,
        };
        self.baseline.at(size) * log.exp()
    }
}

impl Seen {
    /// The ratios of a size to what is expected of it, round by round.
    pub(super) fn ratios(&self, size: Bytes) -> Vec<f64> {
        let found = self.ratios.iter().find(|(seen, _)| *seen == size);
        found.map(|(_, ratios)| ratios.clone()).unwrap_or_default()
    }

    /// The probability that the size came out so slow by chance: its ratios against 1, with the
    /// scatter of the references in the same rounds.
    pub(super) fn p_slow(&self, size: Bytes) -> f64 {
        let middle = median(&self.reference).unwrap_or(1.0);
        let clean: Vec<f64> = self.reference.iter().map(|scale| scale / middle).collect();
        mann_whitney_greater(&self.ratios(size), &clean).unwrap_or(1.0)
    }

    /// True where the median ratio is above the trial's threshold, and not by chance.
    pub(super) fn is_slow(&self, size: Bytes, trial: &Trial) -> bool {
        self.looks_slow(size, trial) && self.p_slow(size) < trial.settings.p
    }

    /// True where the median ratio is above the trial's threshold.
    pub(super) fn looks_slow(&self, size: Bytes, trial: &Trial) -> bool {
        median(&self.ratios(size)).is_some_and(|ratio| ratio > trial.threshold)
    }
}

/// How often a round is asked for again whose references were slow themselves.
const ASKED: u32 = 4;
/// A reference that takes so many times what is expected of it was disturbed.
const DISTURBED: f64 = 5.0;
/// The depth from which single exchanges tell slow from clean.
const DEEP: f64 = 20.0;
/// One exchange so many times slower than expected is enough for its visit.
const ENOUGH: f64 = 20.0;
