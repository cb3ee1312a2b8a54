//! Web pages of today over one connection.

use super::pages::Fetch;
use super::pages::Laws;
use super::pages::Pages;
use super::pages::claims;
use super::prelude::*;

/// HTTP Archive: the median page has 70 requests and 2.5 MB. Both are lognormal here; the objects of
/// a page are asked for at once, on one connection, and answered in order. Think time Exp 30 s.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "web-h2",
        about: "web pages of today: 70 objects and 2.5 MB over one connection",
        parameters: &[value("reading", Quantity::Time, "exp(30 s)", "between two pages"), DURATION],
    },
    source: "HTTP Archive, report on page weight",
    verified: Verified::No("medians only; the shapes of the distributions are ours"),
    variants: PLAIN,
    rates: |call| Together::laws(call).rates(),
    train: |call, streams| Together::laws(call).train(streams),
    claims: claims::<Together>,
};

struct Together;

impl Pages for Together {
    const SPARSE: usize = 4;

    fn laws(call: &Call) -> Laws {
        laws(call, Fetch::Together)
    }
}

pub(super) fn laws(call: &Call, fetch: Fetch) -> Laws {
    Laws {
        request: Law::of("uniform", [60.0, 500.0, 0.0]),
        document: Law::of("lognormal", [30_000.0, 30_000.0, 0.0]),
        objects: Law::log_normal(70_f64.ln(), 0.7, 1.0).clamped(1.0, 1000.0),
        less: 0.0,
        object: Law::of("lognormal", [35_000.0, 80_000.0, 0.0]),
        mtu: None,
        parsing: Law::of("exp", [ms(50.0), 0.0, 0.0]),
        reading: call.variate("reading").law().clone(),
        fetch,
    }
}
