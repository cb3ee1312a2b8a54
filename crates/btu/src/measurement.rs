//! What the measurements of all verbs share: hosts and their first part, the journal, how they are stopped
//! and how they end.

pub(crate) mod closing;
pub(crate) mod ends;
pub(crate) mod facts;
pub(crate) mod first_part;
mod interrupt;
pub(crate) mod journal;
pub(crate) mod losses;
pub(crate) mod notes;
pub(crate) mod options;
pub(crate) mod place;
mod seed;
mod told;

pub(crate) use interrupt::Interrupt;
pub(crate) use seed::fresh_seed;
pub(crate) use told::Told;
