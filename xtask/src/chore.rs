//! What a chore is, and how it ends.

use anyhow::Result;

use crate::repo::Repo;

/// One chore: a file of its own and a line in `CHORES`.
pub(crate) struct Chore {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&Repo, &[String]) -> Result<Verdict>,
}

/// How a chore ended; an `Err` means that it could not do its work at all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Bad,
    Good,
}

impl Verdict {
    pub(crate) fn of(good: bool) -> Self {
        if good { Self::Good } else { Self::Bad }
    }
}
