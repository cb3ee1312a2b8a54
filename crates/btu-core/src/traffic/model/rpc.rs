//! Messages of a data centre: Poisson arrivals, sizes by the tables of what runs there.

use super::prelude::*;
use crate::traffic::law::Interpolation;
use crate::traffic::law::Table;

/// Sizes and their cumulated shares as the traffic generator of HPCC has them: web search (Alizadeh
/// et al., DCTCP, 2010) and Hadoop (Roy et al., Facebook, 2015). Open loop: rate = load x capacity /
/// mean size. What lies between two rows is part of the workload's name, for it decides the mean:
/// 1.71 MB linear and 2.43 MB step for web search, 120 and 184 kB for Hadoop.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "rpc",
        about: "messages of a data centre at a load of the path, sizes by a table",
        parameters: &[
            choice("workload", &["websearch", "hadoop"], "whose sizes"),
            choice("between", &["linear", "step"], "sizes between two rows of the table"),
            fixed("load", Quantity::Number, "50 %", "share of the capacity").within(0.001, 10.0),
            sending_rate("capacity", "1 Gbit/s", "of the path"),
            fixed("flows", Quantity::Count, "16", "connections that take messages in turn")
                .within(1.0, 1e5),
            DURATION,
        ],
    },
    source: "alibaba-edu/High-Precision-Congestion-Control, traffic_gen",
    verified: Verified::Yes(
        "every row, and the straight line between two, with traffic_gen of the repository \
         (WebSearch_distribution.txt, FbHdp_distribution.txt, custom_rand.py); steps between two rows are ours",
    ),
    variants: &[
        variant("websearch", ""),
        variant("websearch-step", "between=step"),
        variant("hadoop", "workload=hadoop"),
        variant("hadoop-step", "workload=hadoop, between=step"),
    ],
    rates: |call| [call.number("load") * call.number("capacity") / 8.0, 0.0],
    train: |call, streams| {
        Train::Open(Box::new(Messages {
            size: (size(call), streams.stream("size")),
            gap: (gap(call), streams.stream("gap")),
            flows: call.count("flows"),
            flow: 0,
        }))
    },
    claims: |call| {
        let sizes = match call.word("between") {
            "step" => follows("size of a message", size(call), |call, streams, n| {
                observe::sizes(call, streams, Forward, n)
            }),
            _ => rounded("size of a message", size(call), |call, streams, n| {
                observe::sizes(call, streams, Forward, n)
            }),
        };
        let gaps =
            follows("gap", gap(call), |call, streams, n| observe::gaps(call, streams, Forward, n));
        vec![sizes, gaps]
    },
};

#[derive(Debug)]
struct Messages {
    size: (Law, Stream),
    gap: (Law, Stream),
    flows: u32,
    flow: u32,
}

impl Open for Messages {
    fn next(&mut self) -> Option<Arrival> {
        let gap = Nanos::new(whole(self.gap.0.sample(&mut self.gap.1)));
        let bytes = Bytes::new(whole(self.size.0.sample(&mut self.size.1)).max(1));
        let flow = self.flow;
        self.flow = (flow + 1) % self.flows;
        Some(Arrival { gap, bytes, flow, direction: Forward })
    }
}

fn size(call: &Call) -> Law {
    let rows = if call.word("workload") == "hadoop" { HADOOP } else { WEBSEARCH };
    let interpolation = match call.word("between") {
        "step" => Interpolation::Step,
        _ => Interpolation::Linear,
    };
    let rows = rows.iter().map(|(size, percent)| (*size, percent / 100.0)).collect();
    Table::new(call.word("workload"), interpolation, rows)
        .map_or_else(|_| Law::of("const", [1.0, 0.0, 0.0]), Law::Table)
}

fn gap(call: &Call) -> Law {
    let rate = call.number("load") * call.number("capacity") / 8e9;
    Law::of("exp", [size(call).mean().unwrap_or(1.0) / rate, 0.0, 0.0])
}

/// Bytes and percent.
const WEBSEARCH: &[(f64, f64)] = &[
    (10e3, 15.0),
    (20e3, 20.0),
    (30e3, 30.0),
    (50e3, 40.0),
    (80e3, 53.0),
    (200e3, 60.0),
    (1e6, 70.0),
    (2e6, 80.0),
    (5e6, 90.0),
    (10e6, 97.0),
    (30e6, 100.0),
];

/// Bytes and percent.
const HADOOP: &[(f64, f64)] = &[
    (100.0, 1.0),
    (200.0, 2.0),
    (300.0, 5.0),
    (350.0, 15.0),
    (400.0, 20.0),
    (500.0, 30.0),
    (600.0, 40.0),
    (700.0, 50.0),
    (1e3, 60.0),
    (2e3, 67.0),
    (7e3, 70.0),
    (30e3, 72.0),
    (50e3, 82.0),
    (80e3, 87.0),
    (120e3, 90.0),
    (300e3, 95.0),
    (1e6, 97.5),
    (2e6, 99.0),
    (10e6, 100.0),
];
