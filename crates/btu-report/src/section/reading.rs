//! How to read the report: the words and the formulas, for somebody who has not read the paper.

use super::Run;
use super::Section;
use crate::document::Block;
use crate::document::Level;
use crate::document::Pair;

/// A page of explanation.
#[derive(Debug)]
pub(super) struct Reading;

impl Section for Reading {
    fn name(&self) -> &'static str {
        "reading"
    }

    fn title(&self) -> &'static str {
        "How to read this report"
    }

    fn level(&self) -> Level {
        Level::Appendix
    }

    fn compose(&self, _: &Run<'_>) -> Vec<Block> {
        let rows = WORDS.iter().map(|(name, meaning)| Pair::new(*name, *meaning)).collect();
        vec![
            Block::Facts { rows },
            Block::paragraph(
                "Method: K. Maly, A. Gupta, S. Mynam, A workstation's communication performance \
                 benchmark (BTU), 1996. Every figure can be computed again from samples.jsonl of \
                 this result.",
            ),
        ]
    }
}

const WORDS: &[(&str, &str)] = &[
    (
        "BTU",
        "bits to the user, in Mb/s (10^6 bit/s): what applications of the busy host get over the \
         network. Geometric mean over 6 cases of communication, 3 host activities and 5 \
         application classes, each cell with equal weight.",
    ),
    (
        "Penalty",
        "how much longer the host's own work takes while traffic flows: geometric mean of the \
         slowdowns less one, in percent.",
    ),
    (
        "Case",
        "who sends to whom, and what the link does: +DL delays every packet each way, +DR drops \
         packets by a counter pattern, 2 means two peers at once.",
    ),
    ("Application class", "known by its message size: one write per message, never batched."),
    (
        "Activity",
        "what else the host does: cpu computes and copies memory, io copies files, ftp transfers \
         files over a connection of its own. It runs before the traffic starts and until after it \
         ends; only work inside the traffic's window counts.",
    ),
    (
        "Pass",
        "one complete block of all cells in random order. Passes are what intervals are computed \
         over: Student's t on the logarithms, 95 %.",
    ),
    (
        "Flag",
        "a remark on a cell. Flagged cells are never dropped; a cell that met its time cap counts \
         with the cap, and the result is then not rankable.",
    ),
    (
        "Rankable",
        "an official run of a complete matrix on real hosts or of one testbed class, with every \
         check passed. Only results of one edition, preset and testbed class may be compared.",
    ),
];
