//! How a stranger repeats the run: the plan as it was run, and the command.

use super::Run;
use super::Section;
use crate::document::Block;
use crate::document::Level;

/// The command and the plan.
#[derive(Debug)]
pub(super) struct Repeat;

impl Section for Repeat {
    fn name(&self) -> &'static str {
        "repeat"
    }

    fn title(&self) -> &'static str {
        "How to repeat this run"
    }

    fn level(&self) -> Level {
        Level::Appendix
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        let plan = run.journal.plan.to_toml();
        vec![
            Block::paragraph(
                "The plan below is all that the run was given: edition, matrix, times, link and \
                 the seed of the random order. Save it as plan.toml (it is also in the result's \
                 directory) and give it to the same version of the program:",
            ),
            Block::Code { text: "btu run --plan plan.toml".to_owned() },
            Block::details("plan.toml", vec![Block::Code { text: plan }]),
        ]
    }
}
