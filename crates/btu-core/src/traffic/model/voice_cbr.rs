//! Voice without silence suppression: one frame after another.

use super::prelude::*;

/// RFC 3551: 8000 samples/s of 8 bits for G.711 (section 4.5.14), 10 bytes per 10 ms for G.729
/// (section 4.5.6), 20 ms per packet for both (table 1). RTP, UDP and IP add 40 bytes on the wire.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "voice-cbr",
        about: "voice at a constant rate: a packet each 20 ms",
        parameters: &[choice("codec", &["g711", "g729"], "160 or 20 bytes per packet"), DURATION],
    },
    source: "RFC 3551, table 1, sections 4.5.6 and 4.5.14",
    verified: Verified::Yes(
        "bits of a sample, frame and interval with RFC 3551, table 1; a frame of G.729 with 4.5.6",
    ),
    variants: &[variant("g711", ""), variant("g729", "codec=g729")],
    rates: |call| [bytes(call) / 0.020, 0.0],
    train: |call, streams| {
        let size = Law::of("const", [bytes(call), 0.0, 0.0]);
        let gap = Law::of("const", [ms(20.0), 0.0, 0.0]);
        Train::Open(Box::new(Renewal::new(streams, Forward, gap, size)))
    },
    claims: |_| {
        let gap = Law::of("const", [ms(20.0), 0.0, 0.0]);
        vec![follows("gap", gap, |call, streams, n| observe::gaps(call, streams, Forward, n))]
    },
};

fn bytes(call: &Call) -> f64 {
    if call.word("codec") == "g729" { 20.0 } else { 160.0 }
}
