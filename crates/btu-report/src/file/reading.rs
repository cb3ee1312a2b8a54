//! How to read the report: words, formulas, and what the paper's own numbers say.

use super::Seen;
use crate::document::Block;
use crate::document::Pair;

pub(super) fn compose(_: &Seen<'_>) -> Vec<Block> {
    vec![
        Block::Facts {
            rows: WORDS.iter().map(|(name, meaning)| Pair::new(*name, *meaning)).collect(),
        },
        Block::paragraph(
            "The experiments are those of C. J. Antonelli, Evaluating the Network System Corporation Data Exchange \
             Unit Performance under AIX/370, CITI Technical Report 92-2, 1992. Read beside its text, its tables say \
             this:",
        ),
        Block::List { items: NOTES.iter().map(|note| (*note).to_owned()).collect() },
        Block::paragraph("Every figure can be computed again from samples.jsonl of this result."),
    ]
}

const WORDS: &[(&str, &str)] = &[
    ("KB", "1024 bytes, as in the paper; MB and GB are 1024 and 1048576 of them"),
    (
        "rate",
        "bytes over the time from the request to the server's last word; connecting and logging in are told apart in \
         samples.jsonl",
    ),
    (
        "figure",
        "the geometric mean of the rounds that count, with Student's t on their logs as its 95 % interval",
    ),
    (
        "bidirectional",
        "both transfers are released together, and only the time in which both run counts; a file that reaches beyond \
         it counts with its share",
    ),
    (
        "sum / unidirectional",
        "the mean of the rounds' ratios, each of what ran in one round; directions that do not help each other reach 2. It is \
         not available where other programs used 10 % of the CPUs or more: CPUs are shared by thread, and one transfer \
         loses more to others than two",
    ),
    ("call", "a remote procedure call: a block there, 4 bytes back; the next one waits for them"),
    ("stream", "blocks one behind the other, and one answer after the last"),
    (
        "t0, r_inf, half size",
        "of the line elapsed = t0 + size / r_inf in least squares of relative errors: the time of an empty call, the \
         rate of endless ones, and the block that reaches half of that",
    ),
    ("packets", "of a block in full TCP segments with time stamps"),
    (
        "cold",
        "the pages of the file were given up before the request; where less than 5 % of it came from a disk, the read \
         was warm and is told as that",
    ),
    ("calls/s", "system calls of the server that read and wrote, files and sockets alike"),
    (
        "Jain",
        "(sum of rates)^2 / (n x sum of their squares): 1 where all clients fare alike, 1/n where one has all; like the ratios \
         beside it, of each round, and then the mean",
    ),
    (
        "other programs",
        "CPU time of processes that are not this program, in percent of all CPUs, less what the kernel's ticks blur: at least \
         so much",
    ),
    (
        "shared-host",
        "clients and servers are on one machine: what two clients take from each other there, they would not on two",
    ),
];

/// What does not follow from the paper's tables, or follows otherwise.
const NOTES: &[&str] = &[
    "Table 2, \"bi-directional performance is better than twice the unidirectional\": that does not follow. If \
     1000 KB/s is per direction, the sum is 2000, 1.43 x 1400 (11 MB: 1880, 1.34 x); if it is the total, it is \
     0.71 x (0.67 x).",
    "Table 4, \"the ratio is closer to 1.7\": that is the column of 10 MB, 460 / 270 = 1.70; of 1 MB it is \
     500 / 330 = 1.5. CPU 80 / 50 = 1.6, calls 1200 / 720 = 1.67. Calls per KB are constant (2.67, 2.61): calls/s \
     merely follow throughput, and equal ratios cannot tell cause from effect. The argument rests on one run in which \
     the CPU fell and throughput did not: vary one on purpose.",
    "Table 5: the mean is 142.6 s (printed 142), the median 146 s, without pumper, which is on another subnet, 145.4 s; \
     Jain's index of the rates is 0.990, slowest over median 1.04. 14 x 1000 KB in 142 s are 99 KB/s, as stated.",
    "Table 3: equal times at 3 KB and 4 KB (7.3 s) suggest a step in the number of packets: in the sweep above it \
     stands beside each time.",
];
