//! Lines of the control connection, cut from what arrives, each of bounded length.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use btu_sys::socket;

use crate::transport::retried;

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// The connection ended.
    End,
    /// A line without its end, CR LF or LF alone.
    Text(&'a [u8]),
    /// A line longer than the limit; it was skipped to its end.
    TooLong,
}

/// The bytes that arrived, and how far they are used up.
#[derive(Debug)]
pub(super) struct Lines {
    space: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Lines {
    /// For lines of at most `limit` bytes, their end included.
    pub(super) fn of_at_most(limit: usize) -> Self {
        Self { space: vec![0; limit.max(2)].into(), start: 0, end: 0 }
    }

    /// Whether all that arrived is used up.
    pub(super) const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The next line, from the connection as far as it did not arrive before.
    pub(super) fn next(&mut self, control: BorrowedFd<'_>) -> io::Result<Line<'_>> {
        self.next_from(|space| retried(|| socket::recv(control, space)))
    }

    /// The same, and as if nothing had come where it is not whole by `end`: who says a line byte by byte keeps nobody.
    pub(super) fn next_until(
        &mut self,
        control: BorrowedFd<'_>,
        end: Instant,
    ) -> io::Result<Line<'_>> {
        self.next_from(|space| match Instant::now() {
            late if late >= end => Err(io::ErrorKind::WouldBlock.into()),
            _ => retried(|| socket::recv(control, space)),
        })
    }

    fn next_from(
        &mut self,
        mut receive: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<Line<'_>> {
        let (mut seen, mut skipping) = (self.start, false);
        loop {
            if let Some(length) = self.space[seen..self.end].iter().position(|b| *b == b'\n') {
                let line = self.start..seen + length;
                self.start = line.end + 1;
                let text = &self.space[line];
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                return Ok(if skipping { Line::TooLong } else { Line::Text(text) });
            }
            if self.end - self.start == self.space.len() {
                (self.start, self.end, skipping) = (0, 0, true);
            } else {
                self.space.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            seen = self.end;
            match receive(&mut self.space[self.end..])? {
                0 => return Ok(Line::End),
                count => self.end += count,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The lines of a stream that arrives in pieces of at most `piece` bytes.
    fn cut(stream: &[u8], limit: usize, piece: usize) -> Vec<Option<Vec<u8>>> {
        let (mut lines, mut rest, mut found) = (Lines::of_at_most(limit), stream, Vec::new());
        loop {
            let line = lines.next_from(|space| {
                let count = rest.len().min(piece).min(space.len());
                space[..count].copy_from_slice(&rest[..count]);
                rest = &rest[count..];
                Ok(count)
            });
            match line.unwrap() {
                Line::End => return found,
                Line::Text(text) => found.push(Some(text.to_vec())),
                Line::TooLong => found.push(None),
            }
        }
    }

    #[test]
    fn lines_end_with_cr_lf_or_lf() {
        let text = |t: &[u8]| Some(t.to_vec());
        let expected = vec![text(b"NOOP"), text(b"QUIT"), text(b"")];
        assert_eq!(cut(b"NOOP\r\nQUIT\n\r\ntail", 64, 3), expected);
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_as_a_whole() {
        let stream = [&b"A\n"[..], &[b'x'; 100], b"\nB\n"].concat();
        let expected = vec![Some(b"A".to_vec()), None, Some(b"B".to_vec())];
        for piece in [1, 7, 16, 1000] {
            assert_eq!(cut(&stream, 16, piece), expected);
        }
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_they_arrive(
            lines in prop::collection::vec("[a-z]{0,30}", 0..10),
            piece in 1_usize..40,
        ) {
            let stream: String = lines.iter().flat_map(|line| [line.as_str(), "\r\n"]).collect();
            let expected: Vec<_> = lines.iter().map(|line| Some(line.clone().into_bytes())).collect();
            prop_assert_eq!(cut(stream.as_bytes(), 32, piece), expected);
        }
    }
}
