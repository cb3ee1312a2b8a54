//! A request tree: one asks many, and goes on when all have answered.

use super::prelude::*;
use crate::traffic::train::Conversation;
use crate::traffic::train::Noticed;
use crate::traffic::train::Script;
use crate::traffic::train::Step;
use std::collections::VecDeque;

/// Partition and aggregate as Alizadeh et al. (DCTCP, SIGCOMM 2010) describe it: an aggregator asks
/// its workers at once, 1.6 kB each, for 2 kB each, and thinks before the next query.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "partition",
        about: "one asks many at once and goes on when all have answered",
        parameters: &[
            fixed("workers", Quantity::Count, "40", "flows that answer").within(1.0, 1e4),
            message_size("request", "1600 B", "bytes to each"),
            message_size("answer", "2000 B", "bytes from each"),
            time_between("think", "exp(10 ms)", "between two queries"),
            DURATION,
        ],
    },
    source: "M. Alizadeh et al., DCTCP, SIGCOMM 2010",
    verified: Verified::Yes(
        "requests of 1.6 kB and answers up to 2 kB with a summary of the paper (2012-01-28-agmpppss10-dctcp.markdown of \
         righthandabacus.github.io), not with the paper; there 43 servers of a rack answer in 1.6 to 2 kB, here 40 in 2 kB, \
         and think times are ours",
    ),
    variants: &[
        variant("default", ""),
        variant("random", "request=exp(1600 B), answer=exp(2000 B)"),
    ],
    rates: |call| {
        let rate = f64::from(call.count("workers")) * 1e9 / call.number("think");
        [call.number("request") * rate, call.number("answer") * rate]
    },
    train: |call, streams| {
        Train::Closed(Box::new(Conversation::new(Box::new(Aggregator {
            call: call.clone(),
            streams: ["request", "answer", "think"].map(|name| streams.stream(name)),
            asking: false,
            queries: Vec::new(),
        }))))
    },
    claims: |call| {
        let [think, request, answer] =
            ["think", "request", "answer"].map(|name| call.variate(name).law().clone());
        vec![
            follows("think time", think, |call, streams, n| {
                let workers = call.count("workers") as usize;
                let gaps = observe::gaps(call, streams, Forward, n.max(100 * workers));
                gaps.into_iter().skip(workers - 1).step_by(workers).collect()
            }),
            rounded("size of a request", request, |call, streams, n| {
                observe::sizes(call, streams, Forward, n)
            }),
            rounded("size of an answer", answer, |call, streams, n| {
                observe::sizes(call, streams, Backward, n)
            }),
        ]
    },
};

#[derive(Debug)]
struct Aggregator {
    call: Call,
    streams: [Stream; 3],
    asking: bool,
    /// How long each query took, in seconds.
    queries: Vec<f64>,
}

impl Aggregator {
    fn ask(&mut self, steps: &mut VecDeque<Step>) {
        let (request, answer) = (self.call.variate("request"), self.call.variate("answer"));
        let one = |flow: u32| {
            let request = request.bytes(&mut self.streams[0]);
            (flow, request, answer.bytes(&mut self.streams[1]))
        };
        steps.push_back(Step::Ask((0..self.call.count("workers")).map(one).collect()));
    }
}

impl Script for Aggregator {
    fn more(&mut self, elapsed: Nanos, steps: &mut VecDeque<Step>) {
        self.asking = !self.asking;
        if self.asking {
            self.ask(steps);
        } else {
            self.queries.push(elapsed.seconds());
            let think = self.call.variate("think").time(&mut self.streams[2]);
            steps.push_back(Step::Think(think.max(Nanos::new(1))));
        }
    }

    fn noticed(&self, elapsed: Nanos) -> Vec<Noticed> {
        let lasts = self.asking.then(|| elapsed.seconds());
        let at = |names, share| Noticed::percentile(names, share, &self.queries, lasts);
        [
            at(["query p50, s", "query p50, at least, s"], 0.5),
            at(["query p99, s", "query p99, at least, s"], 0.99),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
