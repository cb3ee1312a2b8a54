//! The data of a time-sequence chart as bytes, for whoever draws it elsewhere or later.

mod decoded;

use super::Mark;
use super::SequenceData;
use super::Sign;

impl SequenceData {
    /// Its 23 columns one behind the other: the length of each, then its values as differences from the one
    /// before, zigzag, seven bits per byte, lowest first. Marks, signs and limits are their places in
    /// their lists, and a segment with PSH has 16 more than its mark.
    pub fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let segments = &self.segments;
        column(&mut out, segments.iter().map(|one| one.at));
        column(&mut out, segments.iter().map(|one| one.from));
        column(&mut out, segments.iter().map(|one| one.to.wrapping_sub(one.from)));
        column(
            &mut out,
            segments
                .iter()
                .map(|one| place(&Mark::ALL, &one.mark) + PUSHED * i64::from(one.is_pushed)),
        );
        column(&mut out, segments.iter().map(|one| one.flight));
        column(&mut out, self.answers.iter().map(|one| one.0));
        column(&mut out, self.answers.iter().map(|one| one.1));
        column(
            &mut out,
            self.answers.iter().map(|one| one.2.map_or(-1, |edge| edge.wrapping_sub(one.1))),
        );
        column(&mut out, self.sacks.iter().map(|one| one.0));
        column(&mut out, self.sacks.iter().map(|one| one.1));
        column(&mut out, self.sacks.iter().map(|one| one.2.wrapping_sub(one.1)));
        column(&mut out, self.trips.iter().map(|one| one.0));
        column(&mut out, self.trips.iter().map(|one| one.1));
        column(&mut out, self.pauses.iter().map(|one| one.0));
        column(&mut out, self.pauses.iter().map(|one| one.1.wrapping_sub(one.0)));
        column(&mut out, self.pauses.iter().map(|one| i64::try_from(one.2).unwrap_or(0)));
        column(&mut out, self.shut.iter().map(|one| one.0));
        column(&mut out, self.shut.iter().map(|one| one.1.wrapping_sub(one.0)));
        column(&mut out, self.windows.iter().map(|one| one.0));
        column(&mut out, self.windows.iter().map(|one| one.1));
        column(&mut out, self.signs.iter().map(|one| one.0));
        column(&mut out, self.signs.iter().map(|one| one.1));
        column(&mut out, self.signs.iter().map(|one| place(&Sign::ALL, &one.2)));
        out
    }
}

/// Place in the list of all.
fn place<T: PartialEq>(all: &[T], one: &T) -> i64 {
    let found = all.iter().position(|other| other == one).unwrap_or(0);
    i64::try_from(found).unwrap_or(0)
}

/// Stands beside the mark.
const PUSHED: i64 = 16;

fn column(out: &mut Vec<u8>, values: impl ExactSizeIterator<Item = i64>) {
    varint(out, values.len() as u64);
    let mut before = 0_i64;
    for value in values {
        let step = value.wrapping_sub(before);
        varint(out, ((step << 1) ^ (step >> 63)).cast_unsigned());
        before = value;
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 127 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inverse, as a script of the page does it.
    fn unpack(bytes: &[u8]) -> Vec<Vec<i64>> {
        let mut rest = bytes.iter();
        let mut number = || {
            let (mut value, mut shift) = (0_u64, 0);
            for byte in rest.by_ref() {
                value |= u64::from(byte & 127) << shift;
                shift += 7;
                if *byte < 128 {
                    return Some(value);
                }
            }
            None
        };
        let mut found = Vec::new();
        while let Some(length) = number() {
            let mut value = 0;
            let column = (0..length).map(|_| {
                let step = number().unwrap();
                value += (step >> 1).cast_signed() ^ -((step & 1).cast_signed());
                value
            });
            found.push(column.collect());
        }
        found
    }

    #[test]
    fn columns_are_packed_and_unpacked() {
        let mut out = Vec::new();
        let columns = [vec![0, 5, -7, 1 << 50, 3], vec![], vec![-1, 127, 128, 300]];
        for values in &columns {
            column(&mut out, values.iter().copied());
        }
        assert_eq!(unpack(&out), columns);
    }

    #[test]
    fn what_is_not_there_is_an_empty_column() {
        let signs = vec![(7, 9, Sign::Fin)];
        let found = unpack(&SequenceData { signs, ..SequenceData::default() }.encoded());
        assert_eq!(found.len(), 23);
        assert_eq!(found[20..], [vec![7], vec![9], vec![1]]);
        assert!(found[..20].iter().all(Vec::is_empty));
    }
}
