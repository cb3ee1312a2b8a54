//! Many senders at one instant.

use super::prelude::*;

/// The many-to-one bursts of Alizadeh et al. (DCTCP, SIGCOMM 2010): n senders, b bytes each, at one
/// instant, again and again.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "incast",
        about: "many senders at one instant, again and again",
        parameters: &[
            fixed("senders", Quantity::Count, "32", "flows that send at once").within(1.0, 1e5),
            message_size("size", "32 KiB", "bytes of each"),
            time_between("interval", "100 ms", "between two instants"),
            DURATION,
        ],
    },
    source: "M. Alizadeh et al., DCTCP, SIGCOMM 2010",
    verified: Verified::No("the defaults are ours"),
    variants: &[
        variant("default", ""),
        variant("random", "size=exp(32 KiB), interval=exp(100 ms)"),
    ],
    rates: |call| {
        let size = call.variate("size").mean();
        [f64::from(call.count("senders")) * size * 1e9 / call.number("interval"), 0.0]
    },
    train: |call, streams| {
        Train::Open(Box::new(Volley {
            size: (call.variate("size").law().clone(), streams.stream("size")),
            interval: (call.variate("interval").law().clone(), streams.stream("interval")),
            senders: call.count("senders"),
            next: 0,
            begun: false,
        }))
    },
    claims: |call| {
        let [interval, size] = ["interval", "size"].map(|name| call.variate(name).law().clone());
        vec![
            follows("time between two instants", interval, |call, streams, n| {
                let senders = call.count("senders") as usize;
                let gaps = observe::gaps(call, streams, Forward, n.max(100 * senders));
                gaps.into_iter().skip(senders - 1).step_by(senders).collect()
            }),
            rounded("size of a message", size, |call, streams, n| {
                observe::sizes(call, streams, Forward, n)
            }),
        ]
    },
};

#[derive(Debug)]
struct Volley {
    size: (Law, Stream),
    interval: (Law, Stream),
    senders: u32,
    next: u32,
    begun: bool,
}

impl Open for Volley {
    fn next(&mut self) -> Option<Arrival> {
        let flow = self.next;
        self.next = (flow + 1) % self.senders;
        let first = flow == 0 && std::mem::replace(&mut self.begun, true);
        let gap = if first { self.interval.0.sample(&mut self.interval.1) } else { 0.0 };
        let bytes = Bytes::new(whole(self.size.0.sample(&mut self.size.1)).max(1));
        Some(Arrival { gap: Nanos::new(whole(gap)), bytes, flow, direction: Forward })
    }
}
