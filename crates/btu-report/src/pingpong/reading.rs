//! How to read the report: the words and the formulas.

use super::Seen;
use crate::document::Block;
use crate::document::Pair;

pub(super) fn compose(_: &Seen<'_>) -> Vec<Block> {
    let rows = WORDS.iter().map(|(name, meaning)| Pair::new(*name, *meaning)).collect();
    vec![
        Block::Facts { rows },
        Block::paragraph(
            "Method: Q. Snell, A. Mikler, J. Gustafson, NetPIPE: a network protocol independent \
             performance evaluator, 1996. Every figure can be computed again from samples.jsonl of \
             this result.",
        ),
    ]
}

const WORDS: &[(&str, &str)] = &[
    ("T", "half of the round trip of a block: the time of one way, in microseconds"),
    (
        "interval",
        "95 % interval of T by Student's t on the logs of the medians of the rounds; exchanges of one \
         round hang together and would make it too narrow",
    ),
    ("signature graph", "throughput over time: the first point reads as latency, the top as peak"),
    (
        "saturation graph",
        "block size over time: where it turns straight up, larger blocks gain nothing",
    ),
    ("throughput graph", "throughput over block size"),
    ("peak", "the highest throughput of all sizes, n / T"),
    ("n1/2", "the smallest block that reaches half of the peak, between points on a log scale"),
    ("r_inf", "1 / G of the last regime: the throughput of endless blocks"),
    (
        "saturated",
        "the smallest block from which on log T rises by 0.95 of log n or more: larger ones gain nothing",
    ),
    ("regime", "a range of sizes over which T = L + o + (n - 1) G holds (LogGP)"),
    ("rise", "how much T rises from one regime to the next beyond what its bytes explain"),
    (
        "chasm",
        "sizes that are slower than a larger block by a factor of 1.3 or more; measured again beside \
         clean sizes, its edges found by bisection, its causes by changing one factor at a time",
    ),
    (
        "wait",
        "block: sleeps in the call; spin: never sleeps; busy-poll: the kernel polls first; epoll",
    ),
    ("memcpy", "copies of memory, two for an exchange: what no transport on one machine can beat"),
];
