//! What can be wrong with a plan: place, key, value, and the legal values.

use std::ops::Range;

/// A plan, an edition or a choice on the command line is not legal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A value is not legal.
    #[error("{place}: {key} = {value}: {cause}")]
    Illegal {
        /// `night.toml:14:8`, or the option of the command line.
        place: String,
        /// The key, with its table: `link.rate`.
        key: String,
        /// What was written.
        value: String,
        /// Why it is not legal, and what would be.
        cause: String,
    },
    /// The file has no value at all.
    #[error(
        "{place}: the plan is empty; write what it changes, or edition = \"btu-26\" for all of an \
         edition, or leave --plan out"
    )]
    Empty {
        /// The file.
        place: String,
    },
    /// The file is not TOML, or has a key that no plan has.
    #[error("{place}: {cause}")]
    Syntax {
        /// `night.toml:14:8`.
        place: String,
        /// What the parser says, on one line.
        cause: String,
    },
    /// Two choices contradict each other.
    #[error("{0}")]
    Contradiction(String),
    /// A value that must be given is not.
    #[error("{place}: {key} is missing; {remedy}")]
    Missing {
        /// The file.
        place: String,
        /// The key, with its table.
        key: String,
        /// What to write.
        remedy: String,
    },
}

/// A text with its name, to turn spans into places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'s> {
    pub(super) name: &'s str,
    pub(super) text: &'s str,
}

impl Source<'_> {
    /// `night.toml:14:8`, both numbers from 1.
    pub(super) fn place(&self, span: Range<usize>) -> String {
        let before = &self.text[..span.start.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        format!("{}:{line}:{column}", self.name)
    }

    /// The error of a TOML parser as one of ours.
    pub(super) fn syntax(&self, error: &toml::de::Error) -> PlanError {
        let place = error.span().map_or_else(|| self.name.to_owned(), |span| self.place(span));
        let key = error.span().and_then(|span| self.key_before(span.start));
        let key = key.map_or_else(String::new, |key| format!("{key}: "));
        let cause = error.message().replace('\n', "; ");
        let cause = cause.replace("expected u32", "expected a whole number from 0 to 4294967295");
        let cause = cause.replace("expected a string", "expected a text in quotes");
        let cause = cause.replace("expected a sequence", "expected a list [...]");
        let cause = cause.replace("expected u64", "expected a whole number from 0");
        PlanError::Syntax { place, cause: format!("{key}{cause}") }
    }

    /// `min` where the value of `min = -1` begins at `start`, in a table of one line as well: `{ min = -1 }`.
    fn key_before(&self, start: usize) -> Option<&str> {
        let line = self.text.get(..start)?.rsplit('\n').next()?;
        let key = line.trim_end().strip_suffix('=')?.rsplit(['{', ',']).next()?.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        (!key.is_empty() && key.chars().all(plain)).then_some(key)
    }
}
