//! The moments of a trace, one after the other.

use std::sync::Arc;

use crate::units::BitRate;
use crate::units::Nanos;

/// The milliseconds of a trace file.
#[derive(Debug)]
pub(super) struct Recording {
    moments_ms: Vec<u64>,
    once: bool,
}

/// A place in the endless (or, with `once`, single) repetition of a recording.
#[derive(Debug)]
pub(super) struct Opportunities {
    recording: Arc<Recording>,
    start: Option<Nanos>,
    /// Number of the next opportunity, counted over all repetitions.
    next: u64,
}

impl Recording {
    /// One millisecond per line, never falling; `Err` names the line and the cause.
    pub(super) fn parse(text: &str, once: bool) -> Result<Self, (usize, String)> {
        let mut moments_ms: Vec<u64> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let moment = line.parse().ok().filter(|moment| *moment <= LONGEST_MS);
            let moment = moment
                .ok_or_else(|| (index + 1, format!("\"{line}\" is no number of milliseconds")))?;
            if moments_ms.last().is_some_and(|last| moment < *last) {
                return Err((index + 1, format!("{moment} ms is before the line above")));
            }
            moments_ms.push(moment);
        }
        match moments_ms.last() {
            Some(period) if *period > 0 => Ok(Self { moments_ms, once }),
            _ => Err((text.lines().count().max(1), "the last line must be above 0 ms".to_owned())),
        }
    }

    pub(super) const fn is_once(&self) -> bool {
        self.once
    }

    /// 1500 bytes per line over the period.
    pub(super) fn mean_rate(&self) -> BitRate {
        let bits = u128::from(self.count()) * 12_000 * 1_000 / u128::from(self.period_ms().max(1));
        BitRate::new(u64::try_from(bits).unwrap_or(u64::MAX).max(1))
    }

    fn count(&self) -> u64 {
        u64::try_from(self.moments_ms.len()).unwrap_or(u64::MAX)
    }

    fn period_ms(&self) -> u64 {
        self.moments_ms.last().copied().unwrap_or(0)
    }

    /// When the opportunity `number` comes, counted from the start.
    fn moment(&self, number: u64) -> Option<Nanos> {
        let (repetition, line) = (number / self.count(), number % self.count());
        if self.once && repetition > 0 {
            return None;
        }
        let line = self.moments_ms.get(usize::try_from(line).ok()?)?;
        let ms = repetition.checked_mul(self.period_ms())?.checked_add(*line)?;
        Some(Nanos::new(ms.checked_mul(1_000_000)?))
    }

    /// Number of the first opportunity later than `time` after the start.
    fn first_after(&self, time: Nanos) -> u64 {
        let period = Nanos::from_millis(self.period_ms()).count();
        let (repetition, rest) = (time.count() / period, time.count() % period);
        let passed = self.moments_ms.partition_point(|moment| moment * 1_000_000 <= rest);
        repetition * self.count() + u64::try_from(passed).unwrap_or(u64::MAX)
    }
}

impl Opportunities {
    pub(super) const fn new(recording: Arc<Recording>) -> Self {
        Self { recording, start: None, next: 0 }
    }

    /// Time starts with the first packet.
    pub(super) fn begin(&mut self, now: Nanos) {
        self.start.get_or_insert(now);
    }

    /// The moment of the next opportunity later than `time`; those before are lost.
    pub(super) fn after(&mut self, time: Nanos) -> Option<Nanos> {
        self.next = self.number_after(time)?;
        self.peek(time)
    }

    /// The same, with nothing lost.
    pub(super) fn peek(&self, time: Nanos) -> Option<Nanos> {
        let moment = self.recording.moment(self.number_after(time)?)?;
        Some(self.start?.saturating_add(moment))
    }

    /// The next opportunity is used.
    pub(super) const fn advance(&mut self) {
        self.next += 1;
    }

    fn number_after(&self, time: Nanos) -> Option<u64> {
        Some(self.next.max(self.recording.first_after(time.since(self.start?))))
    }
}

/// More than a month.
const LONGEST_MS: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_repeats_with_the_period_of_its_last_line() {
        let recording = Recording::parse("0\n3\n3\n10\n", false).expect("legal");
        let moments: Vec<u64> = (0..9)
            .filter_map(|number| recording.moment(number))
            .map(|moment| moment.count() / 1_000_000)
            .collect();
        assert_eq!(moments, [0, 3, 3, 10, 10, 13, 13, 20, 20]);
        for time_ms in 0..40 {
            let time = Nanos::from_millis(time_ms);
            let number = recording.first_after(time);
            assert!(recording.moment(number) > Some(time));
            assert!(number == 0 || recording.moment(number - 1) <= Some(time));
        }
        assert_eq!(recording.mean_rate(), BitRate::new(4 * 12_000 * 100));
    }

    #[test]
    fn an_illegal_line_is_named() {
        let error = |text: &str| Recording::parse(text, false).expect_err("illegal");
        assert_eq!(error("1\nx\n"), (2, "\"x\" is no number of milliseconds".to_owned()));
        assert_eq!(error("5\n4\n"), (2, "4 ms is before the line above".to_owned()));
        assert_eq!(error("0\n0\n"), (2, "the last line must be above 0 ms".to_owned()));
        assert_eq!(error(""), (1, "the last line must be above 0 ms".to_owned()));
    }
}
