//! Web pages of today over independent streams.

use super::pages::Fetch;
use super::pages::Laws;
use super::pages::Pages;
use super::pages::claims;
use super::prelude::*;
use super::web_h2;

/// The pages of `web-h2`; the objects come on flows of their own, so that a loss holds up one of them
/// only, as the streams of QUIC do.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "web-h3",
        about: "web pages of today over independent streams",
        parameters: &[
            value("reading", Quantity::Time, "exp(30 s)", "between two pages"),
            fixed("streams", Quantity::Count, "8", "objects that come side by side")
                .within(1.0, 1e4),
            DURATION,
        ],
    },
    source: "HTTP Archive, Web Almanac 2024, page weight; RFC 9114",
    verified: Verified::Yes(web_h2::COMPARED),
    variants: PLAIN,
    rates: |call| SideBySide::laws(call).rates(),
    train: |call, streams| SideBySide::laws(call).train(streams),
    claims: claims::<SideBySide>,
};

struct SideBySide;

impl Pages for SideBySide {
    const SPARSE: usize = 4;

    fn laws(call: &Call) -> Laws {
        web_h2::laws(call, Fetch::Flows(call.count("streams")))
    }
}
