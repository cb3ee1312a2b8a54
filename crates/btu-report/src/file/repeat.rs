//! How to do it again.

use btu_core::journal::file;

use super::Seen;
use crate::document::Block;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    vec![
        Block::paragraph(
            "The plan below is all that the measurement was given: experiments, rounds and the seed of the random \
             order. Save it as plan.toml (it is also in the result's directory) and give it to the same version of \
             the program:",
        ),
        Block::Code { text: "btu file --plan plan.toml".to_owned() },
        Block::details(file::PLAN, vec![Block::Code { text: seen.journal.plan.to_toml() }]),
    ]
}
