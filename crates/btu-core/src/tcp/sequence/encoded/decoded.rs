//! The bytes of a time-sequence chart as its data again.

use super::PUSHED;
use crate::tcp::Limit;
use crate::tcp::Mark;
use crate::tcp::SegmentPoint;
use crate::tcp::SequenceData;
use crate::tcp::Sign;

impl SequenceData {
    /// What [`SequenceData::encoded`] made bytes of; `None` where they are of no chart. A window whose end
    /// lies one byte before what is acknowledged reads as one that is not known.
    pub fn decoded(bytes: &[u8]) -> Option<Self> {
        let mut columns = Columns { rest: bytes };
        let segments = columns.segments()?;
        let [at, acknowledged, window] = columns.rows()?;
        let answers = three(&at, &acknowledged, &window, |at, acknowledged, window| {
            Some((at, acknowledged, (window != -1).then(|| acknowledged.wrapping_add(window))))
        });
        let [at, from, length] = columns.rows()?;
        let sacks = three(&at, &from, &length, |at, from, length| {
            Some((at, from, from.wrapping_add(length)))
        });
        let [at, time] = columns.rows()?;
        let trips = at.into_iter().zip(time).collect();
        let [from, length, limit] = columns.rows()?;
        let pauses = three(&from, &length, &limit, |from, length, limit| {
            let place = usize::try_from(limit).ok()?;
            Some((from, from.wrapping_add(length), place, Limit::ALL.get(place)?.words()))
        });
        let [from, length] = columns.rows()?;
        let shut =
            from.into_iter().zip(length).map(|(from, length)| (from, from.wrapping_add(length)));
        let [at, bytes] = columns.rows()?;
        let windows = at.into_iter().zip(bytes).collect();
        let [at, place, sign] = columns.rows()?;
        let signs = three(&at, &place, &sign, |at, place, sign| {
            Some((at, place, listed(&Sign::ALL, sign)?))
        });
        let (answers, sacks, pauses, signs) = (answers?, sacks?, pauses?, signs?);
        let shut = shut.collect();
        let whole = Self { segments, answers, sacks, trips, windows, pauses, shut, signs };
        columns.rest.is_empty().then_some(whole)
    }
}

/// Rows of three columns of the same length; `None` where one of them is of no chart.
fn three<T>(
    first: &[i64],
    second: &[i64],
    third: &[i64],
    row: impl Fn(i64, i64, i64) -> Option<T>,
) -> Option<Vec<T>> {
    first.iter().zip(second).zip(third).map(|((a, b), c)| row(*a, *b, *c)).collect()
}

/// The entry of a list at a place.
fn listed<T: Copy>(all: &[T], place: i64) -> Option<T> {
    all.get(usize::try_from(place).ok()?).copied()
}

/// What is left of the columns.
struct Columns<'a> {
    rest: &'a [u8],
}

impl Columns<'_> {
    fn segments(&mut self) -> Option<Vec<SegmentPoint>> {
        let [at, from, length, marks, flight] = self.rows()?;
        let point = |place: usize| {
            let mark = marks[place];
            Some(SegmentPoint {
                at: at[place],
                from: from[place],
                to: from[place].wrapping_add(length[place]),
                mark: listed(&Mark::ALL, mark % PUSHED)?,
                is_pushed: mark >= PUSHED,
                flight: flight[place],
            })
        };
        (0..at.len()).map(point).collect()
    }

    /// So many columns of the same length.
    fn rows<const N: usize>(&mut self) -> Option<[Vec<i64>; N]> {
        let mut found = [const { Vec::new() }; N];
        for column in &mut found {
            *column = self.column()?;
        }
        let length = found[0].len();
        found.iter().all(|column| column.len() == length).then_some(found)
    }

    fn column(&mut self) -> Option<Vec<i64>> {
        let length = usize::try_from(self.varint()?).ok()?;
        // Each value has a byte: whoever announces more of them than there are gets no memory for it.
        let mut found =
            Vec::with_capacity(Some(length).filter(|length| *length <= self.rest.len())?);
        let mut value = 0_i64;
        for _ in 0..length {
            let step = self.varint()?;
            value = value.wrapping_add((step >> 1).cast_signed() ^ -((step & 1).cast_signed()));
            found.push(value);
        }
        Some(found)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> SequenceData {
        let segment = |(place, mark): (usize, &Mark)| {
            let at = i64::try_from(place).unwrap() * 1_000;
            let is_pushed = place % 2 == 0;
            SegmentPoint {
                at,
                from: at,
                to: at - 7 + i64::MAX / 2,
                mark: *mark,
                is_pushed,
                flight: 9,
            }
        };
        let limits = Limit::ALL.iter().enumerate();
        let signs = Sign::ALL.iter().zip(-3_i64..);
        SequenceData {
            segments: Mark::ALL.iter().enumerate().map(segment).collect(),
            answers: vec![(5, 100, Some(65_000)), (4, 90, None), (i64::MAX, -1, Some(i64::MIN))],
            sacks: vec![(1, 2, 3)],
            trips: vec![(1, 2), (3, 4)],
            windows: vec![(10, 14_480)],
            pauses: limits.map(|(place, limit)| (1, 4, place, limit.words())).collect(),
            shut: vec![(8, 9)],
            signs: signs.map(|(sign, at)| (at, 2 * at, *sign)).collect(),
        }
    }

    #[test]
    fn a_chart_reads_back_as_it_was() {
        for data in [data(), SequenceData::default()] {
            assert_eq!(SequenceData::decoded(&data.encoded()), Some(data));
        }
    }

    #[test]
    fn what_is_cut_off_or_goes_on_is_no_chart() {
        let mut bytes = data().encoded();
        for cut in 0..bytes.len() {
            assert_eq!(SequenceData::decoded(&bytes[..cut]), None, "{cut}");
        }
        bytes.push(0);
        assert_eq!(SequenceData::decoded(&bytes), None);
        assert_eq!(SequenceData::decoded(&[0xff; 9]), None, "more than there are");
    }

    #[test]
    fn what_is_damaged_is_another_chart_or_none() {
        let whole = data().encoded();
        for at in 0..whole.len() {
            for flip in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << flip;
                if let Some(other) = SequenceData::decoded(&bytes) {
                    assert_eq!(SequenceData::decoded(&other.encoded()), Some(other), "{at} {flip}");
                }
            }
        }
    }
}
