//! What a receiver of media tells its sender: which packets came when, how many were lost, whether it needs a key frame.
//!
//! The form is our own; what it tells is that of draft-holmer-rmcat-transport-wide-cc-extensions-01, of the loss of
//! RFC 3550 and of the picture loss indication of RFC 4585, 6.3.1.

use super::packet::at;
use crate::units::Nanos;

/// A report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number after the highest that came.
    pub expected: u64,
    /// How many different packets came, all in all.
    pub received: u64,
    /// From the last packet of it to when it was made.
    pub held: Nanos,
    /// Whether nothing can be shown before a key frame.
    pub wants_key: bool,
    /// The packets that came since the report before, as they came.
    pub came: Vec<Came>,
}

/// A packet that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    /// Its number.
    pub number: u64,
    /// When, by the receiver's clock.
    pub at: Nanos,
}

impl Report {
    /// The bytes of it. Of packets there are as many as it has room for; times are whole steps of 4 us.
    pub fn write(&self) -> Vec<u8> {
        let first = self.came.first().copied().unwrap_or(Came { number: 0, at: Nanos::ZERO });
        let mut data = Vec::with_capacity(LONGEST_REPORT);
        for value in [self.expected, self.received, first.number, steps(first.at), steps(self.held)]
        {
            data.extend(value.to_le_bytes());
        }
        data.push(self.wants_key.into());
        for one in self.came.iter().take(MOST_CAME) {
            data.extend(one.offset(first).to_le_bytes());
            data.extend(one.after(first).to_le_bytes());
        }
        data
    }

    /// What a datagram says; nothing where it is no report.
    pub fn read(data: &[u8]) -> Option<Self> {
        let value = |place: usize| at(data, 8 * place).map(u64::from_le_bytes);
        let [expected, received, number, began, held] =
            [value(0)?, value(1)?, value(2)?, value(3)?, value(4)?];
        let [wants_key] = at(data, 40)?;
        let (parts, rest) = data.get(41..)?.as_chunks::<4>();
        let came = parts.iter().map(|[a, b, c, d]| {
            let number = number.checked_add_signed(i16::from_le_bytes([*a, *b]).into())?;
            let at = time(began.saturating_add(u16::from_le_bytes([*c, *d]).into()));
            Some(Came { number, at })
        });
        let came = came.collect::<Option<Vec<Came>>>()?;
        let is_one = rest.is_empty() && wants_key <= 1;
        is_one.then(|| Self {
            expected,
            received,
            held: time(held),
            wants_key: wants_key == 1,
            came,
        })
    }

    /// Whether another packet still fits beside those that are there.
    pub(super) fn has_room_for(&self, next: Came) -> bool {
        let Some(first) = self.came.first() else { return true };
        let apart = next.number.abs_diff(first.number);
        let later = steps(next.at).saturating_sub(steps(first.at));
        self.came.len() < MOST_CAME && i16::try_from(apart).is_ok() && u16::try_from(later).is_ok()
    }
}

impl Came {
    /// Its number less that of the first.
    fn offset(self, first: Self) -> i16 {
        let apart = i16::try_from(self.number.abs_diff(first.number)).unwrap_or(i16::MAX);
        if self.number < first.number { -apart } else { apart }
    }

    fn after(self, first: Self) -> u16 {
        u16::try_from(steps(self.at).saturating_sub(steps(first.at))).unwrap_or(u16::MAX)
    }
}

fn steps(time: Nanos) -> u64 {
    time.count() / STEP.count()
}

fn time(steps: u64) -> Nanos {
    STEP.saturating_mul(steps)
}

const STEP: Nanos = Nanos::from_micros(4);
/// Packets of one report: more make it go at once.
const MOST_CAME: usize = 280;
/// Bytes of the longest report.
pub const LONGEST_REPORT: usize = 41 + 4 * MOST_CAME;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::packet::Head;
    use super::*;

    proptest! {
        /// Whatever a datagram holds: it is read or it is not, and what is read is written in the same bytes.
        #[test]
        fn any_bytes_are_a_report_or_none(data in prop::collection::vec(any::<u8>(), 0..120)) {
            let head = Head::read(&data).map(|head| head.write());
            prop_assert!(head.is_none_or(|head| head[..8] == data[..8]));
            let again = Report::read(&data).map(|report| Report::read(&report.write()));
            prop_assert!(again.is_none_or(|again| again.is_some()));
        }
    }

    #[test]
    fn a_report_is_read_as_it_was_written_and_nothing_else_is() {
        let came = |number, micros| Came { number, at: Nanos::from_micros(micros) };
        let all = vec![came(70_000, 8_000_000), came(69_999, 8_000_004), came(70_300, 8_099_000)];
        for (wants_key, came) in [(true, all), (false, Vec::new())] {
            let held = Nanos::from_micros(1200);
            let report = Report { expected: 70_301, received: 70_000, held, wants_key, came };
            let data = report.write();
            assert_eq!(Report::read(&data), Some(report));
            assert_eq!(Report::read(&data[..data.len() - 1]), None);
            assert_eq!(Report::read(&[&data[..], &[0]].concat()), None);
        }
    }

    #[test]
    fn a_report_has_room_for_what_can_be_told_beside_its_first_packet() {
        let came = |number, millis| Came { number, at: Nanos::from_millis(millis) };
        let mut report = Report { came: vec![came(40_000, 1000)], ..Report::default() };
        assert!(report.has_room_for(came(72_767, 1262)) && report.has_room_for(came(7_233, 1000)));
        assert!(!report.has_room_for(came(72_768, 1000)) && !report.has_room_for(came(1, 1263)));
        report.came = vec![came(1, 1); MOST_CAME];
        assert!(!report.has_room_for(came(2, 2)));
        assert_eq!(report.write().len(), LONGEST_REPORT);
    }
}
