//! A measurement whose host under test is another machine: what it measured is kept here as it comes, and proven.

pub(super) mod claim;
pub(crate) mod copied;
pub(super) mod disk;
pub(crate) mod proof;
pub(crate) mod tested;
pub(super) mod told;
