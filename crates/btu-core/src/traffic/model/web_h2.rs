//! Web pages of today over one connection.

use super::pages::Fetch;
use super::pages::Laws;
use super::pages::Pages;
use super::pages::claims;
use super::prelude::*;
use crate::traffic::law::Interpolation;
use crate::traffic::law::Table;
use std::sync::LazyLock;

/// HTTP Archive, Web Almanac 2024, pages on desktops: quantiles of the requests of a page, straight lines between;
/// the median document has 18 KiB, and objects are as large as makes the median page one of 2652 KiB. The objects of a page
/// are asked for at once, on one connection, and answered in order. Think time Exp 30 s.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "web-h2",
        about: "web pages of today: 70 objects and 2.7 MB over one connection",
        parameters: &[value("reading", Quantity::Time, "exp(30 s)", "between two pages"), DURATION],
    },
    source: "HTTP Archive, Web Almanac 2024, page weight",
    verified: Verified::Yes(COMPARED),
    variants: PLAIN,
    rates: |call| Together::laws(call).rates(),
    train: |call, streams| Together::laws(call).train(streams),
    claims: claims::<Together>,
};

/// Of the pages, however they are fetched.
pub(super) const COMPARED: &str = "requests of a page at 10, 25, 50, 75 and 90 % (24, 42, 71, 115, 176) and the medians of documents (18 KiB) and pages \
     (2652 KiB, within 3 %) with Web Almanac 2024, page-weight.md of HTTPArchive/almanac.httparchive.org; most requests \
     (352), the spread of documents and objects, parsing and reading are ours";

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
        document: Law::of("lognormal", [26_000.0, 26_000.0, 0.0]),
        objects: requests(),
        // The document.
        less: 1.0,
        object: Law::of("lognormal", [38_500.0, 88_000.0, 0.0]),
        mtu: None,
        files: None,
        parsing: Law::of("exp", [ms(50.0), 0.0, 0.0]),
        reading: call.variate("reading").law().clone(),
        fetch,
    }
}

/// Requests of a page, its document's among them.
fn requests() -> Law {
    static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| {
        Table::new("requests of a page", Interpolation::Linear, REQUESTS.to_vec()).ok()
    });
    TABLE.clone().map_or_else(|| Law::of("const", [1.0, 0.0, 0.0]), Law::Table)
}

const REQUESTS: &[(f64, f64)] = &[
    (1.0, 0.0),
    (24.0, 0.10),
    (42.0, 0.25),
    (71.0, 0.50),
    (115.0, 0.75),
    (176.0, 0.90),
    (352.0, 1.0),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::model::pages::sizes_of_pages;

    #[test]
    fn the_median_page_is_that_of_the_almanac() {
        let call = Call::plain(&MODEL.shape);
        let laws = Together::laws(&call);
        let document = laws.document.quantile(0.5) / 1024.0;
        assert!((17.5..18.5).contains(&document), "{document} KiB");
        let (mut bytes, mut requests) = (Vec::new(), Vec::new());
        for (answers, asked) in sizes_of_pages(laws, &Streams::new(1, "almanac"), 20_000) {
            bytes.push(answers / 1024.0);
            requests.push(asked);
        }
        for (share, wanted) in [(0.1, 24.0), (0.25, 42.0), (0.5, 71.0), (0.75, 115.0), (0.9, 176.0)]
        {
            let found = crate::stats::quantile(&requests, share).unwrap();
            assert!((found - wanted).abs() <= 0.03 * wanted, "{share}: {found} requests");
        }
        let median = crate::stats::quantile(&bytes, 0.5).unwrap();
        assert!((median / 2652.0 - 1.0).abs() < 0.03, "{median} KiB");
    }
}
