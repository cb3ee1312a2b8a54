//! How to read the report: the words and the formulas.

use super::Seen;
use crate::document::Block;
use crate::document::Pair;

pub(super) fn compose(_seen: &Seen<'_>) -> Vec<Block> {
    let rows = WORDS.iter().map(|(name, meaning)| Pair::new(*name, *meaning)).collect();
    vec![Block::Facts { rows }, Block::paragraph(SOURCES)]
}

const WORDS: &[(&str, &str)] = &[
    (
        "rank",
        "one of the equal parts of a program; a thread with a CPU of its own, where there are enough",
    ),
    (
        "kernel",
        "a program of the NAS Parallel Benchmarks in our own words: the same arithmetic, the same messages",
    ),
    (
        "class",
        "how large the problem is: S is a sample, W a workstation of 1996, A the smallest of the real ones",
    ),
    ("layer", "what carries the messages between ranks"),
    (
        "launch",
        "a program over a layer, once, with new ranks; a round launches every job once, in a random order",
    ),
    (
        "time",
        "the timed part of a launch: after the warm-up, of the rank that was last; median over the launches, and the \
         95 % interval of their geometric mean by Student's t on logs",
    ),
    (
        "of the fastest",
        "the time by that over the layer with the smallest median, round by round: geometric mean over the rounds, \
         95 % interval by Student's t on logs",
    ),
    ("computing", "the timed part outside of message calls"),
    ("waiting", "in a receive, before the other rank had begun to send"),
    ("passing", "the rest of receives, and all of sends"),
    (
        "oversubscribed",
        "ranks waited for a CPU: more ranks than CPUs, or more than 5 % of their life; that is no communication, so \
         the time is not divided",
    ),
    ("verified", "every figure is what the benchmark publishes, within its tolerance"),
    (
        "bits",
        "the same number of ranks adds up in the same order over every layer: the figures are equal bit by bit",
    ),
    (
        "benchmark",
        "messages, bytes and collectives are those of NPB 3.4.2 for this class and number of ranks",
    ),
];

const SOURCES: &str = "Method: J. Hollingsworth, E. Guven, C. Akinlar, Benchmarking a network of PCs running parallel \
     applications, 1998. Kernels and reference values: D. Bailey et al., The NAS parallel benchmarks 2.0, NASA report \
     NAS-95-020, 1995; these are NPB-style kernels of our own, no NPB results. Every figure can be computed again from \
     samples.jsonl of this result.";
