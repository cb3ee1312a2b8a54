//! Collective operations of distributed training: ring, tree, all to all.

use super::prelude::*;
use crate::traffic::train::Conversation;
use crate::traffic::train::Noticed;
use crate::traffic::train::Script;
use crate::traffic::train::Step;
use std::collections::VecDeque;

/// nccl-tests: a ring all-reduce of S bytes among N ranks is 2(N-1) steps of S/N each way; bus
/// bandwidth = algorithm bandwidth x 2(N-1)/N, and x (N-1)/N for all to all, so that it is the rate of a link that
/// carries both directions at once. `PyTorch` DDP: buckets of 25 MB, computing between them. Seen from one rank, step
/// by step: it sends to the next rank on one flow while it gets as much from the one before on another, and goes on
/// when it has that and the next rank has said, with a byte, that it has its own.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "collective",
        about: "collective operations of training, seen from one rank",
        parameters: &[
            choice("operation", &["ring", "tree", "all-to-all"], "what the ranks do"),
            fixed("ranks", Quantity::Count, "8", "ranks that take part").within(2.0, 4096.0),
            // A byte for each rank at the least.
            fixed("bucket", Quantity::Bytes, "25 MB", "bytes of an operation")
                .within(4096.0, LARGEST),
            time_between("compute", "exp(20 ms)", "between two operations"),
            DURATION,
        ],
    },
    source: "NVIDIA/nccl-tests, doc/PERFORMANCE.md; PyTorch DistributedDataParallel",
    verified: Verified::Yes(
        "what algorithm and bus bandwidth are, and that N ranks move 2(N-1)/N of a buffer (all to all (N-1)/N) over each \
         link, with doc/PERFORMANCE.md of NVIDIA/nccl-tests; buckets of 25 MB with DistributedDataParallel of PyTorch 1.7 \
         (bucket_cap_mb); the steps of the tree, the number of ranks and computing times are ours",
    ),
    variants: &[
        variant("ring", ""),
        variant("tree", "operation=tree"),
        variant("all-to-all", "operation=all-to-all"),
    ],
    rates: |call| {
        // Bytes that ask for data one way, and confirm those of the other.
        let rate = (wire(call) + f64::from(step(call).0)) * 1e9 / call.number("compute");
        [rate, rate]
    },
    train: |call, streams| {
        Train::Closed(Box::new(Conversation::new(Box::new(Rank::new(call, streams)))))
    },
    claims: |call| {
        let compute = call.variate("compute").law().clone();
        vec![follows("compute time", compute, |call, streams, n| {
            let (mut rank, mut steps) = (Rank::new(call, streams), VecDeque::new());
            for _ in 0..n {
                // What follows is as if an operation had just ended.
                rank.busy = true;
                rank.more(Nanos::ZERO, &mut steps);
            }
            let pause = |step| match step {
                Step::Think(time) => Some(float(time.count())),
                _ => None,
            };
            steps.into_iter().filter_map(pause).collect()
        })]
    },
};

#[derive(Debug)]
struct Rank {
    call: Call,
    compute: Stream,
    busy: bool,
    /// Seconds in operations, and how many were done.
    spent: f64,
    done: u32,
}

impl Rank {
    fn new(call: &Call, streams: &Streams) -> Self {
        let compute = streams.stream("compute");
        Self { call: call.clone(), compute, busy: false, spent: 0.0, done: 0 }
    }
}

impl Script for Rank {
    fn more(&mut self, elapsed: Nanos, steps: &mut VecDeque<Step>) {
        self.busy = !self.busy;
        if self.busy {
            steps.extend(operation(&self.call));
        } else {
            self.spent += elapsed.seconds();
            self.done += 1;
            let time = self.call.variate("compute").time(&mut self.compute);
            steps.push_back(Step::Think(time.max(Nanos::new(1))));
        }
    }

    fn noticed(&self, elapsed: Nanos) -> Vec<Noticed> {
        // One that takes longer than the others did, or is the first, has had its time, too; what it moved nobody
        // knows.
        let lasts = elapsed.seconds();
        let is_slower = self.done == 0 || lasts * f64::from(self.done) > self.spent;
        let is_slow = self.busy && is_slower;
        let (done, spent) =
            if is_slow { (self.done + 1, self.spent + lasts) } else { (self.done, self.spent) };
        if spent <= 0.0 {
            return Vec::new();
        }
        let bytes = self.call.number("bucket") * f64::from(done);
        let algorithm = bytes / spent / 1e9;
        let ranks = f64::from(self.call.count("ranks"));
        // What each byte of an operation is to a link: twice for a reduction, once for an exchange.
        let times = if self.call.word("operation") == "all-to-all" { 1.0 } else { 2.0 };
        let names = if is_slow {
            ["algbw, at most, GB/s", "busbw, at most, GB/s"]
        } else {
            ["algbw, GB/s", "busbw, GB/s"]
        };
        vec![
            Noticed { name: names[0], value: algorithm },
            Noticed { name: names[1], value: algorithm * times * (ranks - 1.0) / ranks },
        ]
    }
}

/// The steps of one operation, as one rank sees them.
fn operation(call: &Call) -> Vec<Step> {
    let (count, bytes) = step(call);
    let bytes = Bytes::new(whole(bytes).max(1));
    match call.word("operation") {
        "all-to-all" => {
            vec![Step::Ask((0..count).flat_map(|peer| exchange(peer, bytes)).collect())]
        }
        _ => (0..count).map(|_| Step::Ask(exchange(0, bytes).to_vec())).collect(),
    }
}

/// Data from a rank, and as many to one: what comes is asked for first, so that both move at once.
fn exchange(peer: u32, bytes: Bytes) -> [(u32, Bytes, Bytes); 2] {
    [(2 * peer + 1, BYTE, bytes), (2 * peer, bytes, BYTE)]
}

/// How many exchanges an operation has, and the bytes of each.
fn step(call: &Call) -> (u32, f64) {
    let (ranks, bucket) = (call.count("ranks"), call.number("bucket"));
    match call.word("operation") {
        "all-to-all" => (ranks - 1, bucket / f64::from(ranks)),
        "tree" => (2 * (u32::BITS - (ranks - 1).leading_zeros()), bucket),
        _ => (2 * (ranks - 1), bucket / f64::from(ranks)),
    }
}

/// Bytes of an operation on the wire, each way.
fn wire(call: &Call) -> f64 {
    let (count, bytes) = step(call);
    f64::from(count) * bytes.round().max(1.0)
}

/// What asks for data, and what says that data came.
const BYTE: Bytes = Bytes::new(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::train::Action;

    /// Where an answer waited for its request to end, bus bandwidth would be half the rate of the link.
    #[test]
    fn data_come_and_go_at_once_on_flows_of_their_own() {
        for (operation, ranks) in [("ring", 1_u32), ("tree", 1), ("all-to-all", 3)] {
            let text = format!("collective(operation={operation}, ranks=4, bucket=4 MB)");
            let files = |_: &str| Err("no files".to_owned());
            let call = crate::traffic::call(&text, crate::traffic::Dialect::Btu, &files).unwrap().0;
            let Some(Train::Closed(mut train)) = call.train(&Streams::new(1, "c")) else {
                panic!()
            };
            let mut actions = Vec::new();
            train.on(Nanos::ZERO, crate::traffic::Event::Start, &mut actions);
            let asks = actions.iter().filter_map(|action| match action {
                Action::Ask { flow, request, answer } => {
                    Some((*flow, request.count(), answer.count()))
                }
                _ => None,
            });
            let bytes = if operation == "tree" { 4_000_000 } else { 1_000_000 };
            let both = |peer: u32| [(2 * peer + 1, 1, bytes), (2 * peer, bytes, 1)];
            let wanted: Vec<(u32, u64, u64)> = (0..ranks).flat_map(both).collect();
            assert_eq!(asks.collect::<Vec<_>>(), wanted, "{operation}");
        }
    }
}
