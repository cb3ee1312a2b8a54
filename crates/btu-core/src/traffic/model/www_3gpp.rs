//! Web pages as 3GPP evaluates with them.

use super::pages::Fetch;
use super::pages::Laws;
use super::pages::Pages;
use super::pages::claims;
use super::prelude::*;

/// 3GPP TR 25.892 and NGMN, by way of ns-3 three-gpp-http-variables.cc: the document lognormal, mean 10710 and
/// deviation 25032 within 100 B to 2 MB, objects 7758 and 126168 within 50 B to 2 MB, drawn again outside;
/// their number Pareto(2, 1.1) less 2; parsing Exp 0.13 s, reading Exp 30 s. The standards' mean of 5.64
/// objects is that of a law **clamped** at 55; ns-3 draws again and cuts to whole numbers, which makes 3.9.
/// Requests are 328 bytes in its code and 350 in its page. A session has an MTU of 1500 bytes with 76 %, else 576,
/// as a server has there: segments of 1460 or 536 bytes.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "www-3gpp",
        about: "web pages: a document, its objects, half a minute to read",
        parameters: &[
            fixed("flows", Quantity::Count, "4", "objects that are fetched at a time")
                .within(1.0, 1e4),
            DURATION,
        ],
    },
    source: "3GPP TR 25.892, NGMN, by way of ns-3 three-gpp-http-variables.cc",
    verified: Verified::Yes(
        "laws of sizes and times and both MTUs with ns-3 (three-gpp-http-variables.cc), bounds and the mean of 5.64 objects \
         with EURASIP JWCN 2012:287, table 1, not with the reports; ns-3 draws a number of objects beyond 55 \
         again (mean 3.9), fetches them one after the other, and asks in 328 B, here 328 to 350",
    ),
    variants: PLAIN,
    rates: |call| Evaluated::laws(call).rates(),
    train: |call, streams| Evaluated::laws(call).train(streams),
    claims: claims::<Evaluated>,
};

struct Evaluated;

impl Pages for Evaluated {
    fn laws(call: &Call) -> Laws {
        let mtu = |bytes| Law::of("const", [bytes, 0.0, 0.0]);
        let within = |mean, sd, low, high| {
            let law = Law::of("lognormal", [mean, sd, 0.0]);
            Law::Truncate(Box::new(law), Some(low), Some(high))
        };
        Laws {
            request: Law::of("uniform", [328.0, 350.0, 0.0]),
            document: within(10_710.0, 25_032.0, 100.0, 2e6),
            objects: Law::of("pareto", [2.0, 1.1, 0.0]).clamped(2.0, 55.0),
            less: 2.0,
            object: within(7_758.0, 126_168.0, 50.0, 2e6),
            parsing: Law::of("exp", [s(0.13), 0.0, 0.0]),
            reading: Law::of("exp", [s(30.0), 0.0, 0.0]),
            fetch: Fetch::Flows(call.count("flows")),
            mtu: Some(Law::Mix(vec![(0.76, mtu(1500.0)), (0.24, mtu(576.0))])),
            files: None,
        }
    }
}
