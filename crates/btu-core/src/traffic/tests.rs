//! Scripts, scenarios and distributions as a user writes them.

use super::*;
use crate::units::Bytes;
use crate::units::Nanos;

const WORDS: Vocabulary<'_> =
    Vocabulary { transports: &["tcp", "udp"], files: &|_| Err("no files in tests".to_owned()) };

/// Every script of the corpus with its name.
static SCRIPTS: &[(&str, &str)] = &[
    ("cbr-80ms.ns", include_str!("testdata/cbr-80ms.ns")),
    ("full-stream.ns", include_str!("testdata/full-stream.ns")),
    ("mixed.ns", include_str!("testdata/mixed.ns")),
    ("quirks.ns", include_str!("testdata/quirks.ns")),
    ("vbr.ns", include_str!("testdata/vbr.ns")),
];

fn script(name: &str) -> Reading {
    let (_, text) = SCRIPTS.iter().find(|(file, _)| *file == name).expect("a script");
    read_script(name, text, Dialect::NetSpec, &WORDS).expect("a legal script")
}

fn only_test(reading: &Reading) -> Test {
    reading.scenario.clusters()[0].tests[0].clone()
}

#[test]
fn every_script_gives_the_plan_of_its_converted_form() {
    for (name, _) in SCRIPTS {
        let given = script(name).scenario;
        let text = to_toml(&given);
        let again = read_toml("converted.toml", &text, &WORDS).map_err(|e| e.to_string());
        assert_eq!(again.map(|reading| reading.scenario), Ok(given), "{name}:\n{text}");
    }
}

#[test]
fn netspec_counts_sizes_in_bytes_periods_in_microseconds_durations_in_seconds() {
    let test = only_test(&script("cbr-80ms.ns"));
    assert_eq!(test.traffic.to_string(), "burstq(blocksize=12500 B, period=80 ms, duration=10 s)");
    assert_eq!(test.protocol.window, Some(Bytes::new(65_536)));
    assert_eq!(
        (test.from.to_string(), test.to.to_string()),
        ("quadra:42003".into(), "vasari:42003".into())
    );
}

#[test]
fn bounds_of_netspec_are_clamps() {
    let test = only_test(&script("vbr.ns"));
    let said = test.traffic.to_string();
    assert!(said.contains("clamp(exp(256258 B), lo=8 B, hi=1048586 B)"), "{said}");
    assert!(said.contains("period=uniform(20 ms, 200 ms)"), "{said}");
}

#[test]
fn scripts_in_the_wild_are_read_with_a_warning() {
    let reading = script("quirks.ns");
    let test = only_test(&reading);
    assert_eq!(test.to.port, Some(42_009));
    assert_eq!(reading.warnings.len(), 1, "{:?}", reading.warnings);
    assert!(reading.warnings[0].cause.contains("42009 wins"));
    assert_eq!(reading.scenario.hosts, ["quadra", "vasari"]);
}

#[test]
fn blocks_nest() {
    let reading = script("mixed.ns");
    let Block::Serial(children, Keep::No) = &reading.scenario.run else { panic!("serial") };
    assert!(matches!(&children[0], Block::Parallel(two) if two.len() == 2));
    assert!(matches!(&children[1], Block::Cluster(one) if one.tests.len() == 1));
    assert_eq!(reading.warnings.len(), 2, "{:?}", reading.warnings);
}

#[test]
fn the_exponential_sizes_of_the_seed_have_the_mean_of_clamping_not_of_truncating() {
    let mean = |text| variate(text, Quantity::Bytes, Dialect::Btu).unwrap().mean().round();
    assert_eq!(mean("clamp(exp(256258 B), 8 B, 1048586 B)").to_string(), "251977");
    assert_eq!(mean("truncate(exp(256258 B), 8 B, 1048586 B)").to_string(), "238449");
}

#[test]
fn a_burst_train_is_an_absolute_schedule_of_its_periods() {
    let test = only_test(&script("cbr-80ms.ns"));
    let Some(Train::Open(train)) = test.traffic.train(&test.streams("c1", 1)) else { panic!() };
    let due: Vec<Nanos> = Timeline::new(train).take(3).map(|(at, _)| at).collect();
    assert_eq!(due, [0, 80, 160].map(Nanos::from_millis));
}
