//! How to read the report: the words and the formulas.

use btu_core::pingpong::statistic::Statistic;

use super::Seen;
use crate::document::Block;
use crate::document::Pair;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let words = WORDS.iter().map(|(name, meaning)| Pair::new(*name, *meaning));
    let mut rows: Vec<Pair> = words.collect();
    rows.insert(1, Pair::new("interval", interval(seen.journal.plan.statistic)));
    vec![
        Block::Facts { rows },
        Block::paragraph(
            "Method: Q. Snell, A. Mikler, J. Gustafson, NetPIPE: a network protocol independent \
             performance evaluator, 1996. Every figure can be computed again from samples.jsonl of \
             this result.",
        ),
    ]
}

/// How the interval of what is drawn is made; comparisons and the table of every point are of typical times.
fn interval(statistic: Statistic) -> String {
    let own = match statistic {
        Statistic::Typical => "95 % interval of T by".to_owned(),
        Statistic::Mean => {
            "95 % interval of T: of the mean by leaving out one round at a time (jackknife), of typical \
             times by"
                .to_owned()
        }
        Statistic::Median => {
            "95 % interval of T: of the median as wide as that of typical times, which is by".to_owned()
        }
        Statistic::AverageOf3000 => {
            "95 % interval of T: of the mean by leaving out one of its rounds at a time (jackknife), of \
             typical times by"
                .to_owned()
        }
        Statistic::Netpipe => {
            "95 % interval of T: of the smallest of three means 1.3 times as wide, on logs, as that of \
             the mean by leaving out one round at a time (jackknife); of typical times by"
                .to_owned()
        }
        Statistic::P99 => {
            "95 % interval of T: of p99 by those of stretches of rounds with 500 timed units each, from \
             three stretches on; of typical times by"
                .to_owned()
        }
        Statistic::Min => format!(
            "95 % interval of T: {statistic} has none ({}), that of typical times is by",
            statistic.without_interval()
        ),
    };
    format!(
        "{own} Student's t on the logs of the medians of the rounds, with what the sizes of a round have \
         in common (the tide) taken apart and its own spread over the connections added; exchanges of one \
         round hang together and would make it too narrow"
    )
}

const WORDS: &[(&str, &str)] = &[
    ("T", "half of the round trip of a block: the time of one way, in microseconds"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_told_of_the_statistic_that_is_drawn() {
        let told = |statistic| interval(statistic);
        assert!(
            told(Statistic::Typical).starts_with("95 % interval of T by Student's t on the logs")
        );
        assert!(told(Statistic::Mean).contains("leaving out one round at a time"));
        assert!(told(Statistic::Median).contains("as wide as that of typical times"));
        let none = told(Statistic::Min);
        assert!(none.contains("min has none (one sweep does not tell how fast"), "{none}");
        for statistic in Statistic::ALL.iter().filter(|one| **one != Statistic::Min) {
            assert!(!told(*statistic).contains("has none"), "{statistic}");
        }
    }
}
