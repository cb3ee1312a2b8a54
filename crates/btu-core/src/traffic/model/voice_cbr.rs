//! Voice without silence suppression: one frame after another.

use super::DURATION;
use super::Model;
use super::Shape;
use super::Verified;
use super::choice;
use super::ms;
use crate::traffic::call::Call;
use crate::traffic::law::Law;
use crate::traffic::train::Direction;
use crate::traffic::train::Renewal;
use crate::traffic::train::Train;

/// RFC 3551, sections 4.5.6 and 4.5.14: 8000 samples/s of 8 bits; G.729 10 bytes per 10 ms; both
/// 20 ms per packet (table 1). On the wire 40 bytes of RTP, UDP and IP come to each.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "voice-cbr",
        about: "voice at a constant rate: a packet each 20 ms",
        parameters: &[choice("codec", &["g711", "g729"], "160 or 20 bytes per packet"), DURATION],
    },
    source: "RFC 3551, table 1 and sections 4.5.6, 4.5.14",
    verified: Verified::No("recalled from RFC 3551"),
    rates: |call| [bytes(call) / 0.020, 0.0],
    train: |call, streams| {
        let size = Law::of("const", [bytes(call), 0.0, 0.0]);
        let gap = Law::of("const", [ms(20.0), 0.0, 0.0]);
        Train::Open(Box::new(Renewal::new(streams, Direction::Forward, gap, size)))
    },
    claims: |_| Vec::new(),
};

fn bytes(call: &Call) -> f64 {
    if call.word("codec") == "g729" { 20.0 } else { 160.0 }
}
