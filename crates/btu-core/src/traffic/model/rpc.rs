//! Messages of a data centre: Poisson arrivals, sizes by the tables of what runs there.

use super::prelude::*;
use super::workloads;
use crate::traffic::language::call::OnlyBeside;
use crate::traffic::law::Interpolation;
use crate::traffic::law::Table;

/// Sizes and their cumulated shares as the traffic generator of HPCC has them: web search (Alizadeh
/// et al., DCTCP, 2010) and Hadoop (Roy et al., Facebook, 2015); and as Homa was judged by (Montazeri et
/// al., SIGCOMM 2018): W1 to W5, from a key-value store to web search. Open loop: rate = load x capacity /
/// mean size. What lies between two rows is part of the workload's name, for it decides the mean:
/// 1.71 MB linear and 2.43 MB step for web search, 120 and 184 kB for Hadoop.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "rpc",
        about: "messages of a data centre at a load of the path, sizes by a table",
        parameters: &[
            choice(
                "workload",
                &["websearch", "hadoop", "w1", "w2", "w3", "w4", "w5"],
                "whose sizes",
            ),
            choice("between", &["linear", "step"], "sizes between two rows of the table")
                .only_beside(STEP),
            fixed("load", Quantity::Number, "50 %", "share of the capacity").within(0.001, 10.0),
            sending_rate("capacity", "1 Gbit/s", "of the path"),
            fixed("flows", Quantity::Count, "16", "connections that take messages in turn")
                .within(1.0, 1e5),
            DURATION,
        ],
    },
    source: "alibaba-edu/High-Precision-Congestion-Control, traffic_gen; PlatformLab/HomaModule, util/dist.cc",
    verified: Verified::Yes(
        "every row, and the straight line between two, with traffic_gen of the repository \
         (WebSearch_distribution.txt, FbHdp_distribution.txt, custom_rand.py); steps between two rows are ours, \
         and refused for w1 to w5; the rows of these with those of PlatformLab/HomaModule (util/dist.cc), most of \
         which are left out here: the share of messages up to any of its sizes is within 1 %, the mean within 5 %, \
         for it sends no sizes between two rows",
    ),
    variants: &[
        variant("websearch", ""),
        variant("websearch-step", "between=step"),
        variant("hadoop", "workload=hadoop"),
        variant("hadoop-step", "workload=hadoop, between=step"),
        variant("w1", "workload=w1"),
        variant("w2", "workload=w2"),
        variant("w3", "workload=w3"),
        variant("w4", "workload=w4"),
        variant("w5", "workload=w5"),
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

/// Where a table has every size that is sent, a step is what its source does. Here most rows are left out, and all
/// that lies between two of the others would have the size of the larger: 6 to 43 % more bytes.
const STEP: OnlyBeside = OnlyBeside {
    word: "step",
    other: "workload",
    suits: &["websearch", "hadoop"],
    reason: "most sizes of its source have no row here, and steps between the others would make the mean 6 to 43 % \
             larger",
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
    let workload = call.word("workload");
    let rows = workloads::rows(workload).iter().map(|(size, percent)| (*size, percent / 100.0));
    let (interpolation, rows) = match (call.word("between"), workloads::is_of_whole_bytes(workload))
    {
        ("step", _) => (Interpolation::Step, rows.collect()),
        (_, false) => (Interpolation::Linear, rows.collect()),
        (_, true) => (Interpolation::Linear, of_whole_bytes(rows.collect())),
    };
    Table::new(workload, interpolation, rows)
        .map_or_else(|_| Law::of("const", [1.0, 0.0, 0.0]), Law::Table)
}

/// The rows of a law whose values, rounded, are the whole numbers above one row up to the next with equal
/// shares, none of them below the first row.
fn of_whole_bytes(rows: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let below = rows.first().map(|(size, _)| (size - 0.5, 0.0));
    below.into_iter().chain(rows.into_iter().map(|(size, share)| (size + 0.5, share))).collect()
}

fn gap(call: &Call) -> Law {
    let rate = call.number("load") * call.number("capacity") / 8e9;
    Law::of("exp", [size(call).mean().unwrap_or(1.0) / rate, 0.0, 0.0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(arguments: &str) -> Law {
        let files = |_: &str| Err("no files".to_owned());
        let text = format!("rpc({arguments})");
        let dialect = crate::traffic::Dialect::Btu;
        let read = crate::traffic::call(&text, dialect, &files).map_err(|e| e.to_string());
        size(&read.unwrap().0)
    }

    /// The means of the whole tables of util/dist.cc, in which sizes are those of rows alone, and how far the
    /// shorter tables are from them.
    #[test]
    fn the_workloads_of_homa_have_the_means_of_their_source() {
        for (workload, mean, least) in [
            ("w1", 189.17, 0.99),
            ("w2", 441.60, 0.96),
            ("w3", 2_927.68, 0.99),
            ("w4", 127_796.64, 0.95),
            ("w5", 2_564_689.68, 0.98),
        ] {
            let found = law(&format!("workload={workload}")).mean().unwrap() / mean;
            assert!((least..1.01).contains(&found), "{workload}: {found}");
        }
    }

    /// 31.094 % of W1 are of 8 bytes and 0.837 % of 9, as its source has them; none is smaller.
    #[test]
    fn shares_of_single_bytes_are_those_of_the_rows() {
        let (law, mut stream) = (law("workload=w1"), Streams::new(1, "rpc").stream("size"));
        let count = 200_000;
        let sizes: Vec<u64> = (0..count).map(|_| whole(law.sample(&mut stream)).max(1)).collect();
        assert_eq!(sizes.iter().min(), Some(&8));
        for (size, share) in [(8, 0.310_94), (9, 0.008_37), (11, 0.089_89)] {
            let found = crate::stats::count(sizes.iter().filter(|one| **one == size).count());
            let (wanted, all) = (share * f64::from(count), f64::from(count));
            let off = (found - wanted).abs();
            assert!(off <= 4.0 * (wanted * (1.0 - wanted / all)).sqrt(), "{size} B: {found}");
        }
    }
}
