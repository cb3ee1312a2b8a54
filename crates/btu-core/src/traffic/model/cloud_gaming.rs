//! A game in the cloud: the screen down, the controls up.

use super::frames::Packets;
use super::prelude::*;
use crate::traffic::train::Periodic;

/// Carrascosa and Bellalta, arXiv 2009.09786 (Stadia), and 2401.06366: 60 frames/s in packets of 1200 bytes, 10, 28,
/// 44 Mb/s for 720p, 1080p, 4K; controls 60 to 125 times a second in 100 to 200 bytes.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "cloud-gaming",
        about: "a game in the cloud: the screen down, the controls up",
        parameters: &[choice("screen", &["hd", "fullhd", "uhd"], "10, 28 or 44 Mb/s"), DURATION],
    },
    source: "arXiv 2009.09786 and 2401.06366",
    verified: Verified::No(
        "rates down recalled from the papers; spread of frames and sizes up are ours",
    ),
    variants: &[
        variant("hd", ""),
        variant("fullhd", "screen=fullhd"),
        variant("uhd", "screen=uhd"),
    ],
    rates: |call| [mean(call) * 60.0, 150.0 * 1e9 / ms(UP_GAP)],
    train: |call, streams| {
        let frames = (frame(call), streams.stream("frame"));
        let frames = Periodic::new(Nanos::new(16_666_667), Nanos::ZERO, 0, frames);
        let down = Packets::new(frames, 1200, Nanos::ZERO);
        let up = Renewal::new(streams, Backward, controls(), control());
        Train::Open(merge(vec![Box::new(down), Box::new(up)]))
    },
    claims: |call| {
        vec![
            rounded("size of a frame", frame(call), |call, streams, n| {
                observe::frames(call, streams, Forward, n.min(10_000))
            }),
            follows("gap of controls", controls(), |call, streams, n| {
                observe::gaps(call, streams, Backward, n.min(10_000))
            }),
            rounded("size of a control", control(), |call, streams, n| {
                observe::sizes(call, streams, Backward, n.min(10_000))
            }),
        ]
    },
};

fn mean(call: &Call) -> f64 {
    let rate = match call.word("screen") {
        "fullhd" => 28e6,
        "uhd" => 44e6,
        _ => 10e6,
    };
    rate / 8.0 / 60.0
}

/// Gamma sizes, a quarter of the mean as deviation.
fn frame(call: &Call) -> Law {
    Law::of("gamma", [16.0, mean(call) / 16.0, 0.0])
}

/// From 125 down to 60 times a second.
fn controls() -> Law {
    Law::of("uniform", [ms(8.0), ms(2.0 * UP_GAP - 8.0), 0.0])
}

/// Bytes.
fn control() -> Law {
    Law::of("uniform", [100.0, 200.0, 0.0])
}

/// The mean of 1/125 and 1/60 s, in milliseconds.
const UP_GAP: f64 = f64::midpoint(8.0, 1000.0 / 60.0);
