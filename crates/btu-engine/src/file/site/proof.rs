//! Bytes that are stored where somebody else keeps them, and the proof that the same come back.

use std::io;
use std::io::Read;
use std::io::Write;

use crate::file::ftp::scramble;

/// Random bytes that come again and again.
pub(in crate::file) struct Repeated {
    block: Vec<u8>,
    at: usize,
}

/// Takes these bytes, and no others.
pub(super) struct Proof(Repeated);

impl Repeated {
    pub(in crate::file) fn new() -> Self {
        let mut block = vec![0; BLOCK];
        scramble(&mut block);
        Self { block, at: 0 }
    }

    /// What comes next, of at most this length.
    fn next(&self, most: usize) -> &[u8] {
        let rest = &self.block[self.at..];
        &rest[..rest.len().min(most)]
    }

    fn pass(&mut self, count: usize) {
        self.at = (self.at + count) % self.block.len();
    }
}

impl Read for Repeated {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let next = self.next(space.len());
        let count = next.len();
        space[..count].copy_from_slice(next);
        self.pass(count);
        Ok(count)
    }
}

impl Proof {
    pub(super) fn new() -> Self {
        Self(Repeated::new())
    }
}

impl Write for Proof {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let next = self.0.next(bytes.len());
        let count = next.len();
        if bytes[..count] != *next {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "other bytes than were stored"));
        }
        self.0.pass(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// No multiple of any buffer: a block of a file that stands in another's place is found.
const BLOCK: usize = 65_521;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_takes_the_bytes_that_were_stored_and_no_others() {
        let mut stored = Vec::new();
        Repeated::new().take(200_001).read_to_end(&mut stored).unwrap();
        let proof = |bytes: &[u8]| Proof::new().write_all(bytes);
        assert_eq!(stored.len(), 200_001);
        proof(&stored).unwrap();
        stored.swap(70_000, 70_001);
        let error = proof(&stored).unwrap_err();
        assert!(error.to_string().contains("other bytes"), "{error}");
    }
}
