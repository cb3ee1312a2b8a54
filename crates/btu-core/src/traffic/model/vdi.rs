//! A virtual desktop: screen contents down, keys and pointer up.

use super::prelude::*;

/// IEEE 802.11-14/0571r12 by way of ns-3 tgax-virtual-desktop.cc: gaps, both sizes down and the one up are its
/// own. Of the two sizes down it takes the large one with 22.4/76.1 (mean 464 bytes); here both numbers are
/// percentages of the packets, normalised (mean 1151). The first gap is up to 20 ms there.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "vdi",
        about: "a virtual desktop: screen down, keys and pointer up",
        parameters: &[DURATION],
    },
    source: "IEEE 802.11-14/0571r12, by way of ns-3 tgax-virtual-desktop.cc",
    verified: Verified::No(
        "of packets down 22.4 and 76.1 in 98.5 are small and large here (mean 1151 B), in ns-3 22.4 in 76.1 are \
         large (mean 464 B); the text of IEEE was not read",
    ),
    variants: PLAIN,
    rates: |_| {
        let mean = |law: Law| law.mean().unwrap_or(f64::INFINITY);
        [mean(down()) * 1e9 / ms(60.2269), mean(up()) * 1e9 / ms(48.287)]
    },
    train: |_, streams| {
        let side = |way, gap: f64, size| {
            let gap = Law::of("exp", [gap, 0.0, 0.0]);
            Box::new(Renewal::new(streams, way, gap, size)) as Box<dyn Open>
        };
        Train::Open(merge(vec![
            side(Forward, ms(60.2269), down()),
            side(Backward, ms(48.287), up()),
        ]))
    },
    claims: |_| {
        let gap = |mean| Law::of("exp", [mean, 0.0, 0.0]);
        vec![
            rounded("size down", down(), |call, streams, n| {
                observe::sizes(call, streams, Forward, n)
            }),
            follows("gap down", gap(ms(60.2269)), |call, streams, n| {
                observe::gaps(call, streams, Forward, n)
            }),
            rounded("size up", up(), |call, streams, n| observe::sizes(call, streams, Backward, n)),
            follows("gap up", gap(ms(48.287)), |call, streams, n| {
                observe::gaps(call, streams, Backward, n)
            }),
        ]
    },
};

fn down() -> Law {
    let normal = |mean, sd| Law::of("normal", [mean, sd, 0.0]);
    Law::Mix(vec![(22.4, normal(41.0, 3.2)), (76.1, normal(1478.3, 11.6))])
}

fn up() -> Law {
    Law::of("normal", [50.598, 5.0753, 0.0])
}
