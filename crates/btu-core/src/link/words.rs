//! The text of a link element, word by word, for the elements' parsers.

use std::fmt;
use std::str::FromStr;

use crate::units::BitRate;
use crate::units::UnitError;

use super::LinkError;
use super::reader::Dialect;
use super::reader::Reader;

/// What is left of an element's text. Words are separated by white space; a pair of parentheses
/// and what stands between is part of one word.
#[derive(Debug)]
pub struct Words<'t> {
    text: &'t str,
    rest: &'t str,
    forms: &'t str,
    reader: &'t Reader<'t>,
}

impl<'t> Words<'t> {
    /// The words of `text`; errors will show `forms` as the legal ones.
    pub(super) const fn new(text: &'t str, forms: &'t str, reader: &'t Reader<'t>) -> Self {
        Self { text, rest: text, forms, reader }
    }

    /// The next word, not taken.
    pub fn peek(&self) -> Option<&'t str> {
        let start = self.rest.trim_start();
        let word = &start[..word_length(start)];
        (!word.is_empty()).then_some(word)
    }

    /// Takes the next word, which says `what`.
    pub fn word(&mut self, what: &str) -> Result<&'t str, LinkError> {
        let Some(word) = self.peek() else {
            return Err(self.error(format!("the {what} is missing")));
        };
        self.skip();
        Ok(word)
    }

    /// Takes the next word if it is `keyword`.
    pub fn keyword(&mut self, keyword: &str) -> bool {
        let found = self.peek() == Some(keyword);
        if found {
            self.skip();
        }
        found
    }

    /// Takes a value such as `10ms`, which says `what`.
    pub fn value<T>(&mut self, what: &str) -> Result<T, LinkError>
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        let here = self.rest;
        let word = self.word(what)?;
        word.parse().map_err(|cause: T::Err| self.error_at(here, cause))
    }

    /// Takes a value for which `legal` holds; `rule` says when that is.
    pub fn value_if<T>(
        &mut self,
        what: &str,
        rule: &str,
        legal: impl Fn(T) -> bool,
    ) -> Result<T, LinkError>
    where
        T: FromStr + Copy,
        T::Err: fmt::Display,
    {
        let here = self.rest;
        let value = self.value(what)?;
        if legal(value) {
            return Ok(value);
        }
        Err(self.error_at(here, format!("the {what} must be {rule}")))
    }

    /// Takes a count with its unit, such as `3pkt`.
    pub fn packets(&mut self, what: &str) -> Result<u64, LinkError> {
        let here = self.rest;
        let word = self.word(what)?;
        packets(word).ok_or_else(|| {
            self.error_at(here, format!("\"{word}\" is no count of packets; write it as 3pkt"))
        })
    }

    /// Takes a rate, on the command line also in the spelling of `tc`.
    pub fn rate(&mut self) -> Result<BitRate, LinkError> {
        let here = self.rest;
        let word = self.word("rate")?;
        let rate = match self.reader.dialect {
            Dialect::CommandLine => tc_rate(word),
            Dialect::Plan => word.parse(),
        };
        let rate = rate.map_err(|cause| self.error_at(here, cause))?;
        if rate == BitRate::default() {
            return Err(self.error_at(here, "the rate must be above 0bit/s"));
        }
        Ok(rate)
    }

    /// Takes the name of a file, and gives it with the file's text.
    pub fn file(&mut self) -> Result<(String, String), LinkError> {
        let name = self.word("name of a file")?.to_owned();
        let text = (self.reader.files)(&name).map_err(|cause| LinkError::File {
            text: self.text.to_owned(),
            file: name.clone(),
            cause,
        })?;
        Ok((name, text))
    }

    /// The element's text ends here.
    pub fn end(&self) -> Result<(), LinkError> {
        match self.peek() {
            Some(word) => Err(self.error(format!("\"{word}\" is not expected here"))),
            None => Ok(()),
        }
    }

    /// An error at the next word.
    pub fn error(&self, cause: impl fmt::Display) -> LinkError {
        self.error_at(self.rest, cause)
    }

    /// A place to name in an error found later.
    pub(super) const fn here(&self) -> &'t str {
        self.rest
    }

    /// An error at `here`, an earlier rest of the text.
    pub(super) fn error_at(&self, here: &str, cause: impl fmt::Display) -> LinkError {
        let before = self.text.len() - here.trim_start().len();
        LinkError::Syntax {
            text: self.text.to_owned(),
            position: self.text[..before].chars().count() + 1,
            cause: cause.to_string(),
            forms: self.forms.to_owned(),
        }
    }

    fn skip(&mut self) {
        let start = self.rest.trim_start();
        self.rest = &start[word_length(start)..];
    }
}

fn word_length(text: &str) -> usize {
    let mut depth = 0_u32;
    for (index, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if letter.is_whitespace() && depth == 0 => return index,
            _ => {}
        }
    }
    text.len()
}

/// `3pkt` as 3.
pub(super) fn packets(word: &str) -> Option<u64> {
    let digits = word.strip_suffix("pkt")?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|count| plain && (1..=MOST_PACKETS).contains(count))
}

/// tc writes `10Mbit` for 10^6 bit/s. Its `10mbps` means bytes, and is refused like any other unit.
fn tc_rate(word: &str) -> Result<BitRate, UnitError> {
    let lower = word.to_ascii_lowercase();
    let Some(number) = lower.strip_suffix("bit") else { return word.parse() };
    let unit = match number.as_bytes().last() {
        Some(b'k') => "kbit/s",
        Some(b'm') => "Mbit/s",
        Some(b'g') => "Gbit/s",
        _ => "bit/s",
    };
    format!("{}{unit}", number.trim_end_matches(['k', 'm', 'g'])).parse()
}

const MOST_PACKETS: u64 = 1_000_000_000;
