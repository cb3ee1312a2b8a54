//! How to read the report: the words and the formulas.

use super::Seen;
use crate::document::Block;
use crate::document::Pair;

pub(super) fn compose(_: &Seen<'_>) -> Vec<Block> {
    let rows = WORDS.iter().map(|(name, meaning)| Pair::new(*name, *meaning)).collect();
    vec![
        Block::Facts { rows },
        Block::paragraph(
            "Method: D. Napier, Performance Testing with Traffic Load Modeling on the Viseum ATM \
             Link. Every figure can be computed again from samples.jsonl of this result.",
        ),
    ]
}

const WORDS: &[(&str, &str)] = &[
    (
        "A(t)",
        "bytes that arrived at the transport's door: queued blocks when they are due, others when their write begins",
    ),
    ("D(t)", "bytes that the receiving user has read"),
    ("a, d", "A(T) / T and D(T) / T, T being the duration"),
    (
        "carried",
        "D(T + w) / T, w the least time that a byte took: d, and what was only under way at T, of a full stream without what its first read, at w, found; knee and mu are found from it",
    ),
    ("mu", "what a full stream that runs alone in the same plan carries on the same way"),
    ("a/d", "the utilisation of the paper, which can exceed 1"),
    ("rho", "a / mu, the true utilisation"),
    (
        "L",
        "A(t) - D(t), the queue; datagrams that were lost on the way wait for nobody and are left out",
    ),
    (
        "W window",
        "mean of L over the duration, by a: Little's formula as the paper uses it; the window ends with what still waits",
    ),
    ("W drained", "the same until the queue was empty, which is exact: the mean delay of a byte"),
    (
        "p50 ... max",
        "of whole blocks, from due to the read of the last byte; the wait in the sender's queue counts",
    ),
    (
        "receipt",
        "what the receiver sends back in band when its user has read a block, where the scenario asks for it; the time from due (queued) or start (unqueued) until it came is an upper bound of the delay of one way, by the sender's clock alone",
    ),
    (
        "application, socket, network, receiver",
        "due and not yet taken by the transport; taken and not yet sent; sent and not yet acknowledged; received and not yet read",
    ),
    (
        "inter-departure error",
        "start to start, less due to due, of blocks that only the generator could delay; 'host' where its 99th percentile is above 100 us and above 1 % of the period",
    ),
    (
        "late p99",
        "how long after it was due such a block began, 99th percentile; a flow fell behind where either is above that bound",
    ),
    (
        "missed",
        "unqueued blocks that were due while an earlier one was unfinished, or were interrupted by a later one",
    ),
    ("interval", "95 %, Student's t on the logarithms of the passes"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of code that was broken and joined again leaves its indentation in the sentence.
    #[test]
    fn no_sentence_has_a_gap() {
        for (word, meaning) in WORDS {
            assert!(!word.contains("  ") && !meaning.contains("  "), "{word}: {meaning}");
        }
    }
}
