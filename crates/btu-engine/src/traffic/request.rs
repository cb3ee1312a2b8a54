//! How requests of a conversation are written: how long one and its answer are is told as long as that changes.
//!
//! The first byte of a request says whether it and its answer are as long as those before them on the connection:
//! 0 where they are, else in how many bytes the two numbers stand that follow (4 bits each, the request's first).
//! A request that is shorter than this head begins after it; of any other one the head is the beginning. So a
//! request has the bytes that its train drew, and a key of a terminal is one, but for the first of each session.

use std::io;

use super::answerer::to_count;
use super::answerer::to_length;

/// How long a request and its answer are, in bytes; neither is less than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    request: u64,
    answer: u64,
}

/// What says how long a request and its answer are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    bytes: [u8; MOST],
    length: usize,
}

/// A connection on which requests are heard: where their bytes go, and when one has come.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    head: [u8; MOST],
    filled: usize,
    /// What is left of the request whose head was heard.
    unread: Option<u64>,
    last: Option<Lengths>,
}

impl Lengths {
    /// Those of this request and its answer.
    pub(super) fn of(request: u64, answer: u64) -> Self {
        Self { request: request.max(1), answer: answer.max(1) }
    }

    /// Both together.
    pub(super) const fn sum(self) -> u64 {
        self.request.saturating_add(self.answer)
    }

    /// That of the answer.
    pub(super) const fn answer(self) -> u64 {
        self.answer
    }

    /// The head of a request of these lengths, after one with those of `last`.
    pub(super) fn head(self, last: Option<Self>) -> Head {
        if last == Some(self) {
            return Head { length: 1, ..Head::default() };
        }
        let (mut bytes, mut length) = ([0; MOST], 1);
        for (number, place) in [(self.request, 0), (self.answer, 4)] {
            let width = width(number);
            bytes[0] |= u8::try_from(width << place).unwrap_or_default();
            bytes[length..length + width].copy_from_slice(&number.to_le_bytes()[..width]);
            length += width;
        }
        Head { bytes, length }
    }

    /// How many bytes such a request has with its head.
    pub(super) fn whole(self, head: &Head) -> u64 {
        self.rest(head.length).saturating_add(to_count(head.length))
    }

    /// How many bytes follow a head of this length: of a request that is shorter, all of them.
    fn rest(self, head: usize) -> u64 {
        self.request.checked_sub(to_count(head)).unwrap_or(self.request)
    }
}

impl Head {
    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Hearing {
    /// Where the next bytes go: to the head of a request, else to `space`, where nobody looks at them.
    pub(super) fn room<'s>(&'s mut self, space: &'s mut [u8]) -> &'s mut [u8] {
        if let Some(left) = self.unread {
            let most = to_length(left).min(space.len());
            return &mut space[..most];
        }
        let end = if self.filled == 0 { 1 } else { wanted(self.head[0]) };
        &mut self.head[self.filled..end]
    }

    /// So many bytes came there. Gives the length of the answer where the request has come.
    ///
    /// # Errors
    /// These are no lengths.
    pub(super) fn came(&mut self, count: usize) -> io::Result<Option<u64>> {
        if let Some(left) = &mut self.unread {
            *left = left.saturating_sub(to_count(count));
        } else {
            self.filled += count;
            if self.filled < wanted(self.head[0]) {
                return Ok(None);
            }
            let lengths = self.told().ok_or(io::ErrorKind::InvalidData)?;
            self.unread = Some(lengths.rest(std::mem::take(&mut self.filled)));
            self.last = Some(lengths);
        }
        if self.unread != Some(0) {
            return Ok(None);
        }
        self.unread = None;
        Ok(self.last.map(Lengths::answer))
    }

    /// What the head says.
    fn told(&self) -> Option<Lengths> {
        if self.head[0] == 0 {
            return self.last;
        }
        let (request, answer) = widths(self.head[0]);
        let number = |from: usize, width: usize| {
            let mut bytes = [0; WIDEST];
            bytes.get_mut(..width)?.copy_from_slice(self.head.get(from..from + width)?);
            (width > 0).then(|| u64::from_le_bytes(bytes))
        };
        Some(Lengths::of(number(1, request)?, number(1 + request, answer)?))
    }
}

/// How many bytes a head has that begins with this one; no more than there can be, whoever says so.
fn wanted(first: u8) -> usize {
    let (request, answer) = widths(first);
    (1 + request + answer).min(MOST)
}

fn widths(first: u8) -> (usize, usize) {
    (usize::from(first & 0xf), usize::from(first >> 4))
}

/// How many bytes a number needs.
fn width(number: u64) -> usize {
    WIDEST - number.leading_zeros() as usize / 8
}

/// The bytes of the largest number.
const WIDEST: usize = 8;
/// The bytes of the longest head.
const MOST: usize = 1 + 2 * WIDEST;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bytes of these requests on one connection, filled with what looks like heads.
    fn written(requests: &[(u64, u64)]) -> Vec<u8> {
        let (mut bytes, mut last) = (Vec::new(), None);
        for (request, answer) in requests {
            let lengths = Lengths::of(*request, *answer);
            let head = lengths.head(last);
            let end = bytes.len() + to_length(lengths.whole(&head));
            bytes.extend_from_slice(head.bytes());
            bytes.resize(end, 0x11);
            last = Some(lengths);
        }
        bytes
    }

    /// The answers that are asked for by these bytes, of which so many come at once; and what is left.
    fn heard(mut bytes: &[u8], at_once: usize) -> io::Result<(Vec<u64>, Hearing)> {
        let (mut hearing, mut answers) = (Hearing::default(), Vec::new());
        let mut space = [0; 7];
        while !bytes.is_empty() {
            let room = hearing.room(&mut space);
            let count = room.len().min(at_once).min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            answers.extend(hearing.came(count)?);
        }
        Ok((answers, hearing))
    }

    #[test]
    fn a_key_is_one_byte_but_for_the_first() {
        assert_eq!(written(&[(1, 1), (1, 1), (1, 1)]).len(), (3 + 1) + 1 + 1);
        // What has room for its head has it inside.
        assert_eq!(written(&[(300, 5)]).len(), 300);
        assert_eq!(written(&[(3, 1)]).len(), 3);
        assert_eq!(written(&[(2, 1)]).len(), 3 + 2);
    }

    #[test]
    fn what_is_no_length_is_refused() {
        // The same as before, before anything; numbers without a byte; numbers that none can hold.
        for bytes in [&[0][..], &[0x01, 5], &[0x10, 5], &[0xff; 40], &[0x91; 40]] {
            assert!(heard(bytes, 1).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn every_request_is_heard_with_its_answer(
            requests in prop::collection::vec((0_u64..400, 0_u64..1 << 40), 1..20),
            again in 0_usize..3,
            at_once in 1_usize..40,
        ) {
            let mut all = requests.clone();
            all.extend(requests.iter().flat_map(|one| std::iter::repeat_n(*one, again)));
            let wanted: Vec<u64> = all.iter().map(|(_, answer)| *answer.max(&1)).collect();
            let (answers, hearing) = heard(&written(&all), at_once).unwrap();
            prop_assert_eq!(answers, wanted);
            prop_assert!(hearing.unread.is_none() && hearing.filled == 0);
        }

        /// Strangers may send anything: no request is heard in fewer bytes than it has.
        #[test]
        fn bytes_that_nobody_meant_are_no_more_requests_than_bytes(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            at_once in 1_usize..40,
        ) {
            if let Ok((answers, _)) = heard(&bytes, at_once) {
                prop_assert!(answers.len() <= bytes.len());
            }
        }
    }
}
