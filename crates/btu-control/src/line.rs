//! Lines of JSON between the processes of one agent: one word a line, and none longer than a bound,
//! whoever writes it.

use std::io;
use std::io::BufRead;
use std::io::Write;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why no word was heard.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// Whoever speaks is gone, perhaps in the middle of a line.
    #[error("it ended")]
    Ended,
    /// Nothing can be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line that is no word of this kind.
    #[error("a line of {length} bytes that is no word: {cause}")]
    NoWord {
        /// Its length.
        length: usize,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// A line without an end.
    #[error("a line of more than {LONGEST_LINE} bytes")]
    TooLong,
}

/// Says one word.
///
/// # Errors
/// Nobody hears any more, or the word is longer than a line may be.
pub fn say(to: &mut impl Write, word: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    if line.len() > LONGEST_LINE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, LineError::TooLong));
    }
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Hears the next word.
///
/// # Errors
/// What comes is none, or nothing comes any more. Only [`LineError::NoWord`] leaves the next line to
/// be heard.
pub fn hear<T: DeserializeOwned>(from: &mut impl BufRead) -> Result<T, LineError> {
    let line = next_line(from)?;
    serde_json::from_slice(&line).map_err(|cause| LineError::NoWord { length: line.len(), cause })
}

/// The same, and `None` where whoever speaks is gone.
///
/// # Errors
/// As [`hear`].
pub fn hear_next<T: DeserializeOwned>(from: &mut impl BufRead) -> Result<Option<T>, LineError> {
    match hear(from) {
        Ok(word) => Ok(Some(word)),
        Err(LineError::Ended) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A line without its end. What follows it is left to whoever reads on.
fn next_line(from: &mut impl BufRead) -> Result<Vec<u8>, LineError> {
    let mut line = Vec::new();
    loop {
        let come = match from.fill_buf() {
            Ok([]) => return Err(LineError::Ended),
            Ok(come) => come,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        let end = come.iter().position(|byte| *byte == b'\n');
        let part = &come[..end.unwrap_or(come.len())];
        if line.len() + part.len() > LONGEST_LINE {
            return Err(LineError::TooLong);
        }
        line.extend_from_slice(part);
        let read = part.len() + usize::from(end.is_some());
        from.consume(read);
        if end.is_some() {
            return Ok(line);
        }
    }
}

/// Of a line. The longest are the samples of a link with all positions of its drops, and an order for
/// as many connections as a run may have: both stay below half of it.
pub const LONGEST_LINE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use std::io::BufReader;
    use std::io::Read;

    use super::*;

    #[test]
    fn words_are_heard_one_by_one_and_what_follows_is_left() {
        let mut said = Vec::new();
        say(&mut said, &7).unwrap();
        say(&mut said, &"two\nlines").unwrap();
        said.extend(b"rest");
        let mut from = BufReader::with_capacity(3, &said[..]);
        assert_eq!(hear::<u32>(&mut from).unwrap(), 7);
        assert_eq!(hear::<String>(&mut from).unwrap(), "two\nlines");
        let mut rest = String::new();
        from.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "rest");
        assert!(hear_next::<u32>(&mut from).unwrap().is_none());
        assert!(matches!(hear::<u32>(&mut &b"7"[..]), Err(LineError::Ended)), "half a line");
    }

    #[test]
    fn a_line_that_never_ends_is_given_up_at_its_bound() {
        let mut endless = BufReader::new(io::repeat(b'['));
        let refused = hear::<u32>(&mut endless).unwrap_err();
        assert_eq!(refused.to_string(), "a line of more than 1048576 bytes");
        let longest = "x".repeat(LONGEST_LINE - 2);
        let mut said = Vec::new();
        say(&mut said, &longest).unwrap();
        assert_eq!(hear::<String>(&mut &said[..]).unwrap(), longest);
        say(&mut said, &format!("{longest}x")).unwrap_err();
    }

    #[test]
    fn a_line_that_is_no_word_is_told_with_its_length_and_the_next_is_heard() {
        let mut from = &b"{\"secret\":\n7\n"[..];
        let refused = hear::<u32>(&mut from).unwrap_err().to_string();
        assert!(refused.starts_with("a line of 10 bytes that is no word: "), "{refused}");
        assert_eq!(hear::<u32>(&mut from).unwrap(), 7);
    }
}
