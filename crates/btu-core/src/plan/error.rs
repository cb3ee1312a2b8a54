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
        PlanError::Syntax { place, cause: error.message().replace('\n', "; ") }
    }
}
