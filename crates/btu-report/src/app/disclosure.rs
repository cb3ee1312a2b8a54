//! What was measured on, and how to do it again.

use btu_core::journal::file;

use super::Seen;
use crate::document::Block;
use crate::section::disclosed_hosts;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    disclosed_hosts(&seen.journal.hosts)
}

pub(super) fn repeat(seen: &Seen<'_>) -> Vec<Block> {
    vec![
        Block::paragraph(
            "The plan below is all that the measurement was given: programs, layers, launches and the seed of the \
             random order. Save it as plan.toml (it is also in the result's directory) and give it to the same \
             version of the program:",
        ),
        Block::Code { text: "btu app run --plan plan.toml".to_owned() },
        Block::details(file::PLAN, vec![Block::Code { text: seen.journal.plan.to_toml() }]),
    ]
}
