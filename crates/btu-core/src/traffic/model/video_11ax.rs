//! Buffered video: frames of Weibull sizes at one interval.

use super::prelude::*;

/// IEEE 802.11-14/0571r12 by way of ns-3 tgax-video-traffic.cc: shape 0.8099 and a scale per class; the
/// interval is that which gives the class its rate, mean size over rate: 31.2 ms. The reference's
/// extra network latency belongs to simulators without queues, and is left out, as there.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "video-11ax",
        about: "buffered video: frames of Weibull sizes, one each 31.2 ms",
        parameters: &[
            choice(
                "class",
                &["bv1", "bv2", "bv3", "bv4", "bv5", "bv6"],
                "2, 4, 6, 8, 10 or 15.6 Mb/s",
            ),
            DURATION,
        ],
    },
    source: "IEEE 802.11-14/0571r12, by way of ns-3 tgax-video-traffic.cc",
    verified: Verified::Yes(
        "shape, scales, rates and the interval from them with ns-3 (tgax-video-traffic.cc), not with the text \
         of IEEE; sizes are cut to whole bytes there and rounded here",
    ),
    variants: &[
        variant("bv1", ""),
        variant("bv2", "class=bv2"),
        variant("bv3", "class=bv3"),
        variant("bv4", "class=bv4"),
        variant("bv5", "class=bv5"),
        variant("bv6", "class=bv6"),
    ],
    rates: |call| [class(call).1 / 8.0, 0.0],
    train: |call, streams| {
        let interval = law(call).mean().unwrap_or(0.0) * 8e9 / class(call).1;
        let gap = Law::of("const", [interval, 0.0, 0.0]);
        Train::Open(Box::new(Renewal::new(streams, Forward, gap, law(call))))
    },
    claims: |call| {
        vec![rounded("size of a frame", law(call), |call, streams, n| {
            observe::sizes(call, streams, Forward, n)
        })]
    },
};

/// Scale in bytes, rate in bits per second.
fn class(call: &Call) -> (f64, f64) {
    match call.word("class") {
        "bv2" => (13_900.0, 4e6),
        "bv3" => (20_850.0, 6e6),
        "bv4" => (27_800.0, 8e6),
        "bv5" => (34_750.0, 10e6),
        "bv6" => (54_210.0, 15.6e6),
        _ => (6_950.0, 2e6),
    }
}

fn law(call: &Call) -> Law {
    Law::of("weibull", [class(call).0, 0.8099, 0.0])
}
