//! How to read the report: the words and the formulas.

use super::Mesh;
use crate::document::Block;
use crate::document::Pair;

pub(super) fn compose(_mesh: &Mesh<'_>) -> Vec<Block> {
    let rows = WORDS.iter().map(|(name, meaning)| Pair::new(*name, *meaning)).collect();
    vec![Block::Facts { rows }]
}

const WORDS: &[(&str, &str)] = &[
    (
        "pair",
        "two hosts: the first sends to the second, then the second to the first, over TCP, as fast as they can",
    ),
    (
        "round",
        "disjoint pairs that are measured at once: no host is in two of them (circle method)",
    ),
    ("rate", "bits that the receiving application read, over the time from its first to its last"),
    (
        "usual, sends, receives",
        "ln rate = usual + sends(i) + receives(j) + rest, fitted by median polish: a few bad pairs move none of them",
    ),
    (
        "slow host",
        "its effect is below -3 %, and more than 4 errors below 0: the spread of all effects, or 1.2533 times the \
         spread of the rest over the root of its partners, whichever is larger",
    ),
    ("slow path", "its rest is below -20 %, and more than 6 spreads of the rest below 0"),
    (
        "confirmed",
        "measured again in five rounds beside good hosts, each pair alone and in random order: slower by more than 3 % \
         with p < 0.01 (Welch's t on logarithms); otherwise it was seen once, and is no reason to drain anything",
    ),
    (
        "what is not seen",
        "what more than half of the hosts share is usual by that: compare with what the links should give",
    ),
];
