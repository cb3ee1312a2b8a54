//! Games on phones: small messages both ways, sizes and gaps of the largest extreme value.

use super::prelude::*;

/// IEEE 802.11-18/2009 (real-time applications) by way of ns-3 rta-tig-mobile-gaming.cc: `lev(a, b)` in bytes
/// and milliseconds. Sessions there begin and end with a message of another size, one each.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "mobile-game",
        about: "a game on a phone: small messages both ways",
        parameters: &[
            choice("sync", &["status", "lockstep"], "how the game keeps its players together"),
            DURATION,
        ],
    },
    source: "IEEE 802.11-18/2009, by way of ns-3 rta-tig-mobile-gaming.cc",
    verified: Verified::Yes(
        "sizes and gaps with ns-3 (rta-tig-mobile-gaming.cc), not with the text of IEEE; the first message of a \
         session (up to 20 B, lockstep 80 B) and the last one (400 to 600 B, lockstep 500 to 1500 B) are left out",
    ),
    variants: &[variant("status", ""), variant("lockstep", "sync=lockstep")],
    rates: |call| [Forward, Backward].map(|way| rate(call, way)),
    train: |call, streams| {
        let one = |way| {
            let (size, gap) = laws(call, way);
            Box::new(Renewal::new(streams, way, gap, size)) as Box<dyn Open>
        };
        Train::Open(merge(vec![one(Forward), one(Backward)]))
    },
    claims: |call| {
        let ([down, down_gap], [up, up_gap]) =
            (laws(call, Forward).into(), laws(call, Backward).into());
        vec![
            rounded("size down", down, |call, streams, n| {
                observe::sizes(call, streams, Forward, n)
            }),
            follows("gap down", down_gap, |call, streams, n| {
                observe::gaps(call, streams, Forward, n)
            }),
            rounded("size up", up, |call, streams, n| observe::sizes(call, streams, Backward, n)),
            follows("gap up", up_gap, |call, streams, n| observe::gaps(call, streams, Backward, n)),
        ]
    },
};

/// Size and gap.
fn laws(call: &Call, way: Direction) -> (Law, Law) {
    let ([a, b], [gap_a, gap_b]) = match (call.word("sync"), way) {
        ("lockstep", Forward) => ([210.0, 35.0], [28.0, 4.2]),
        ("lockstep", Backward) => ([92.0, 38.0], [22.0, 3.4]),
        (_, Forward) => ([50.0, 11.0], [13.0, 3.7]),
        (_, Backward) => ([38.0, 3.7], [15.0, 5.7]),
    };
    (Law::of("lev", [a, b, 0.0]), Law::of("lev", [ms(gap_a), ms(gap_b), 0.0]))
}

fn rate(call: &Call, way: Direction) -> f64 {
    let (size, gap) = laws(call, way);
    let mean = |law: Law| law.mean().unwrap_or(f64::INFINITY);
    mean(size) * 1e9 / mean(gap)
}
