//! Files of one size that arrive at random.

use super::prelude::*;

/// 3GPP TR 36.814, A.2.1.3.1, FTP model 1: Poisson arrivals of files of 2 MB, or 0.5 MB.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "ftp-3gpp",
        about: "Poisson arrivals of files of 2 MB or 0.5 MB",
        parameters: &[
            choice("file", &["large", "small"], "2 MB or 0.5 MB"),
            time_between("interarrival", "exp(2 s)", "between two files"),
            DURATION,
        ],
    },
    source: "3GPP TR 36.814 A.2.1.3",
    verified: Verified::No(
        "Poisson arrivals and 0.5 MB are those of three-gpp-ftp-m1-helper.cc of ms-van3t; 2 MB is recalled, and the report \
         was not read",
    ),
    variants: &[variant("large", ""), variant("small", "file=small")],
    rates: |call| [bytes(call) * 1e9 / call.number("interarrival"), 0.0],
    train: |call, streams| {
        let (gap, size) = laws(call);
        Train::Open(Box::new(Renewal::new(streams, Forward, gap, size)))
    },
    claims: |call| {
        let gap = laws(call).0;
        vec![follows("gap", gap, |call, streams, n| observe::gaps(call, streams, Forward, n))]
    },
};

fn bytes(call: &Call) -> f64 {
    if call.word("file") == "small" { 500_000.0 } else { 2_000_000.0 }
}

fn laws(call: &Call) -> (Law, Law) {
    let gap = call.variate("interarrival").law().clone();
    (gap, Law::of("const", [bytes(call), 0.0, 0.0]))
}
