//! Web pages as SURGE loads servers with them.

use super::library::Files;
use super::pages::Fetch;
use super::pages::Laws;
use super::pages::Pages;
use super::pages::claims;
use super::prelude::*;

/// Barford and Crovella (1998): files with sizes lognormal(9.357, 1.318) in the body, Pareto(133 kB, 1.1) in the
/// tail, asked for by Zipf and as deep in the stack of earlier requests as lognormal(1.5, 0.80) says; objects of a
/// page Pareto(1, 2.43); a pause Weibull(1.46, 0.382) s before each, Pareto(1, 1.5) s between pages. The tail is
/// clamped at 100 MB, and the objects at 1000, else no run has a mean.
///
/// Its program gives popular files the sizes that make requests follow a law of their own, and every page the same
/// objects each time; here a size says nothing of a file's popularity, and objects are asked for one by one.
/// Of the program of 1998 itself only object.c was seen: Pareto(2, 1.245) objects, at most 150.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "www-surge",
        about: "web pages of 1998: few files that are asked for often, sizes with a heavy tail",
        parameters: &[
            fixed("files", Quantity::Count, "2000", "files that a test has").within(1.0, 1e6),
            DURATION,
        ],
    },
    source: "P. Barford, M. Crovella, SIGMETRICS 1998",
    verified: Verified::No(
        "sizes and pauses as XCloudSimulator has them (FileTransfer1998.java), where 1.46 is a shape and not seconds; objects, \
         depths and popularity recalled from the paper; bounds of the tails are ours",
    ),
    variants: PLAIN,
    rates: |call| Surge::laws(call).rates(),
    train: |call, streams| Surge::laws(call).train(streams),
    claims: claims::<Surge>,
};

struct Surge;

impl Pages for Surge {
    fn laws(call: &Call) -> Laws {
        Laws {
            request: Law::of("const", [300.0, 0.0, 0.0]),
            document: size(),
            objects: Law::of("pareto", [1.0, 2.43, 0.0]).clamped(1.0, 1000.0),
            less: 0.0,
            object: size(),
            mtu: None,
            files: Some(Files::new(call.number("files"))),
            parsing: Law::of("const", [0.0, 0.0, 0.0]),
            reading: Law::of("pareto", [s(1.0), 1.5, 0.0]).clamped(s(1.0), s(3600.0)),
            fetch: Fetch::Paused(pause()),
        }
    }
}

/// The body up to where the tail begins, then the tail with the share that the body leaves.
fn size() -> Law {
    let body = Law::log_normal(9.357, 1.318, 1.0);
    let share = body.cdf(TAIL);
    let body = Law::Truncate(Box::new(body), None, Some(TAIL));
    let tail = Law::of("pareto", [TAIL, 1.1, 0.0]).clamped(TAIL, 1e8);
    Law::Mix(vec![(share, body), (1.0 - share, tail)])
}

fn pause() -> Law {
    Law::of("weibull", [s(1.46), 0.382, 0.0])
}

const TAIL: f64 = 133_000.0;
