//! Which values the sizes of a configuration may have.

use std::fmt;

use super::Configuration;
use crate::units::Bytes;

/// A size that no socket takes, or that would be another than was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The key in a plan.
    pub key: &'static str,
    /// What was asked for.
    pub value: Bytes,
    /// The least and the most.
    pub legal: [Bytes; 2],
}

/// `10B: write 68B to 65535B`
impl fmt::Display for OutOfRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [least, most] = self.legal;
        write!(out, "{}: write {least} to {most}", self.value)
    }
}

impl Configuration {
    /// The first of its sizes that is out of its range.
    pub fn out_of_range(&self) -> Option<OutOfRange> {
        let sizes = [
            ("mtu_bytes", self.mtu_bytes, MTU),
            ("max_segment_bytes", self.max_segment_bytes, MAX_SEGMENT),
            ("send_buffer_bytes", self.send_buffer_bytes, BUFFER),
            ("receive_buffer_bytes", self.receive_buffer_bytes, BUFFER),
            ("send_offset_bytes", Some(self.send_offset_bytes), OFFSET),
            ("receive_offset_bytes", Some(self.receive_offset_bytes), OFFSET),
        ];
        let beyond = |(key, value, [least, most]): (&'static str, Option<Bytes>, [u64; 2])| {
            let value = value.filter(|value| !(least..=most).contains(&value.count()))?;
            Some(OutOfRange { key, value, legal: [Bytes::new(least), Bytes::new(most)] })
        };
        sizes.into_iter().find_map(beyond)
    }
}

/// RFC 791, 3.2: the least that every link carries; the most that a length of 16 bits can say.
const MTU: [u64; 2] = [68, 65_535];
/// The values of `TCP_MAXSEG` that Linux takes (tcp(7)).
pub(in crate::pingpong) const MAX_SEGMENT: [u64; 2] = [88, 32_767];
/// The kernel doubles what it is asked for, and keeps it in 32 bits with a sign (socket(7)).
const BUFFER: [u64; 2] = [1, (1 << 30) - 1];
/// Within a page: beyond it the copy does not change (decision 22).
const OFFSET: [u64; 2] = [0, 4095];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_out_of_its_range_is_told_with_the_legal_ones() {
        let tcp = Configuration::new("tcp");
        assert_eq!(tcp.out_of_range(), None);
        let four_gigabytes = Some(Bytes::new(1 << 32));
        for (one, key, told) in [
            (
                Configuration { receive_buffer_bytes: four_gigabytes, ..tcp.clone() },
                "receive_buffer_bytes",
                "4GiB: write 1B to 1073741823B",
            ),
            (
                Configuration { max_segment_bytes: Some(Bytes::new(87)), ..tcp.clone() },
                "max_segment_bytes",
                "87B: write 88B to 32767B",
            ),
            (
                Configuration { send_offset_bytes: Bytes::new(5000), ..tcp.clone() },
                "send_offset_bytes",
                "5kB: write 0B to 4095B",
            ),
        ] {
            let found = one.out_of_range().unwrap();
            assert_eq!((found.key, found.to_string().as_str()), (key, told));
        }
    }
}
