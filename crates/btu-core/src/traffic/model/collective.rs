//! Collective operations of distributed training: ring, tree, all to all.

use super::prelude::*;
use crate::traffic::train::Conversation;
use crate::traffic::train::Noticed;
use crate::traffic::train::Script;
use crate::traffic::train::Step;
use std::collections::VecDeque;

/// nccl-tests: a ring all-reduce of S bytes among N ranks is 2(N-1) steps of S/N each way; bus
/// bandwidth = algorithm bandwidth x 2(N-1)/N, and x (N-1)/N for all to all. `PyTorch` DDP: buckets of 25 MB, computing between them.
/// Seen from one rank: what it sends to and gets from its neighbour, step by step.
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
    verified: Verified::No("steps recalled from the documents; compute time is ours"),
    rates: |call| {
        let rate = wire(call) * 1e9 / call.number("compute");
        [rate, rate]
    },
    train: |call, streams| {
        Train::Closed(Box::new(Conversation::new(Box::new(Rank {
            call: call.clone(),
            compute: streams.stream("compute"),
            busy: false,
            spent: 0.0,
            done: 0,
        }))))
    },
    claims: |call| {
        let compute = call.variate("compute").law().clone();
        vec![follows("compute time", compute, |call, streams, n| {
            let mut stream = streams.stream("compute");
            (0..n).map(|_| call.variate("compute").number(&mut stream)).collect()
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
        "all-to-all" => vec![Step::Ask((0..count).map(|flow| (flow, bytes, bytes)).collect())],
        _ => (0..count).map(|_| Step::Ask(vec![(0, bytes, bytes)])).collect(),
    }
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
