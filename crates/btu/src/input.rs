//! Files that a user names. What never ends is not read to its end.

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::Path;

/// The text of a file.
///
/// # Errors
/// It cannot be read, is no text, or is larger than any input.
pub(crate) fn text(file: &Path) -> io::Result<String> {
    let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is no text (UTF-8)");
    String::from_utf8(bytes(file)?).map_err(no_text)
}

/// The bytes of a file.
///
/// # Errors
/// It cannot be read, or is larger than any input.
pub(crate) fn bytes(file: &Path) -> io::Result<Vec<u8>> {
    at_most(LARGEST, File::open(file)?)
}

fn at_most(largest: u64, content: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = content.take(largest + 1).read_to_end(&mut bytes)?;
    if u64::try_from(read).is_ok_and(|read| read <= largest) {
        return Ok(bytes);
    }
    let cause = format!("it is larger than {} MiB", largest >> 20);
    Err(io::Error::new(io::ErrorKind::FileTooLarge, cause))
}

/// A table of a million rows.
const LARGEST: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_refused_and_what_ends_in_time_is_read() {
        let error = at_most(1 << 20, io::repeat(b'a')).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 1 MiB");
        assert_eq!(at_most(3, &b"abc"[..]).unwrap(), b"abc");
        assert!(at_most(2, &b"abc"[..]).is_err());
    }
}
