//! Texts of elements: canonical forms, order, and what is said of a mistake.

use proptest::prelude::*;

use super::bench::file;
use crate::link::ChainSpec;
use crate::link::Dialect;
use crate::link::ELEMENTS;
use crate::link::Reader;

const READER: Reader<'static> = Reader { dialect: Dialect::Plan, files: &file };

fn canonical(text: &str) -> Result<String, String> {
    ChainSpec::as_given(&[text], &READER)
        .map(|spec| spec.to_string())
        .map_err(|error| error.to_string())
}

/// What is written, and the canonical form.
const TEXTS: &[(&str, &str)] = &[
    ("  delay   0.5ms ", "delay 500us"),
    ("drop 3@400,1@200/400", "drop 1@200,3@400/400"),
    ("drop 1@2/4 phase 7 continuous per flow", "drop 1@2/4 phase 7 continuous per flow"),
    ("drop 1%", "drop 1%"),
    ("drop list list", "drop list list"),
    ("drop ge 1% 25%", "drop ge 1% 25% 100% 0%"),
    ("drop ge 1% 25% 50% 0.1%", "drop ge 1% 25% 50% 0.1%"),
    ("drop 4state 1%", "drop 4state 1% 99% 0% 100% 0%"),
    ("drop above 1400B", "drop above 1400B"),
    ("drop 4state 2% 40% 10%", "drop 4state 2% 40% 10% 100% 0%"),
    ("duplicate 0.1%", "duplicate 0.1%"),
    ("corrupt 1@3/10", "corrupt 1@3/10"),
    ("rate 10Mbit/s", "rate 10Mbit/s queue 100ms"),
    ("rate 1Mbit/s", "rate 1Mbit/s queue 10pkt"),
    ("rate 10Mbit/s queue 64kB codel", "rate 10Mbit/s queue 64kB codel 5ms 100ms"),
    (
        "rate 1.7Mbit/s queue 50pkt codel 1ms 20ms shared ether",
        "rate 1700kbit/s queue 50pkt codel 1ms 20ms shared ether",
    ),
    ("trace up", "trace up queue 100ms"),
    ("trace up once queue 9pkt", "trace up once queue 9pkt"),
    ("hold 3@100/100 10ms", "hold 3@100/100 10ms"),
    ("hold 3@100/100 phase 2 5pkt overtake", "hold 3@100/100 phase 2 5pkt overtake"),
    ("jitter normal( 5 ms , 1ms ) free", "jitter normal(5ms,1ms) free"),
    ("jitter pareto(1ms,2.5)", "jitter pareto(1ms,2.5)"),
    ("reorder 1% after 3pkt", "reorder 1% after 3pkt"),
];

#[test]
fn each_text_has_a_canonical_form_that_reads_back() {
    for (text, expected) in TEXTS {
        assert_eq!(canonical(text), Ok((*expected).to_owned()), "{text}");
        assert_eq!(canonical(expected), Ok((*expected).to_owned()), "{text}");
    }
}

#[test]
fn every_element_is_among_the_texts() {
    for kind in ELEMENTS {
        let begins = |(text, _): &&(&str, &str)| {
            let text = text.trim_start();
            text.starts_with(kind.name) && text[kind.name.len()..].starts_with(' ')
        };
        assert!(TEXTS.iter().any(|text| begins(&text)), "{}", kind.name);
    }
}

#[test]
fn options_have_one_order_and_chains_the_given_one() {
    let texts = ["reorder 1% after 3pkt", "delay 1ms", "rate 1Gbit/s", "drop ge 1% 9%", "drop 1%"];
    let ordered = ChainSpec::ordered(&texts, &READER).expect("legal").texts();
    let first_words: Vec<&str> = ordered.iter().filter_map(|text| text.split(' ').next()).collect();
    assert_eq!(first_words, ["drop", "drop", "rate", "delay", "reorder"]);
    assert_eq!(ordered[0], "drop ge 1% 9% 100% 0%");
    let given = ChainSpec::as_given(&texts, &READER).expect("legal").texts();
    assert!(given[0].starts_with("reorder") && given[4].starts_with("drop 1%"));
}

/// What is written wrongly, and what the message says.
const ERRORS: &[(&str, &str)] = &[
    ("delay", "link element \"delay\", character 6: the delay is missing; write delay TIME (10ms)"),
    ("delay 10", "character 7: \"10\" has no unit; write ns, us, ms, s, min or h"),
    ("delay 10ms fast", "character 12: \"fast\" is not expected here"),
    ("delay 2000000s", "the delay must be at most 1 hour"),
    (
        "slow 10ms",
        "no such element; the elements are drop, duplicate, corrupt, rate, trace, delay, hold, jitter, reorder",
    ),
    ("drop 1@200,3@400", "character 6: \"1@200,3@400\" has no period; end it with /P"),
    ("drop 2@1,1@2/10", "character 6: 2@1 overlaps the run at 2; write drop k@n[,k@n]*/P"),
    ("drop 101%", "character 6: the share must be from 0% to 100%"),
    ("drop 1@2/4 per link", "character 16: after \"per\" only \"flow\" is legal"),
    ("drop list nowhere", "read nowhere: no such file"),
    ("drop list empty", "character 11: empty: no position is in it"),
    ("drop list up", "character 11: up:1: \"0\" is no position above the one before"),
    ("drop ge 1%", "the share R is missing"),
    ("drop 4state 60% 10% 10% 10% 50%", "P13 + P14 is 110%, more than 100%"),
    ("drop above 60B", "the size must be 68B or more"),
    ("drop above", "the size is missing"),
    ("rate 10Mbit", "unknown unit \"Mbit\"; write bit/s, kbit/s, Mbit/s or Gbit/s"),
    ("rate 0bit/s", "the rate must be above 0bit/s"),
    ("rate 1Mbit/s queue 5", "\"5\" is no size of a queue; write packets, bytes or time"),
    ("trace list", "list:1: \"# lost\" is no number of milliseconds"),
    ("hold 1@1/9", "the time or followers is missing"),
    ("jitter gauss(1ms)", "\"gauss(1ms)\" is no distribution; write const(TIME), uniform(FROM,TO)"),
    ("reorder 1%", "after what? write \"after\" and a count of packets"),
    ("reorder 1% after 3", "\"3\" is no count of packets; write it as 3pkt"),
];

#[test]
fn a_mistake_is_shown_with_its_place_and_the_legal_forms() {
    for (text, expected) in ERRORS {
        let message = canonical(text).expect_err(text);
        assert!(message.contains(expected), "{text}: {message}");
        assert!(message.contains(text), "{text}: {message}");
    }
}

#[test]
fn a_command_line_may_write_rates_as_tc_does() {
    let rate = |text: &str| {
        ChainSpec::as_given(&[text], &Reader::COMMAND_LINE).map(|spec| spec.to_string())
    };
    for text in
        ["rate 10Mbit", "rate 10mbit", "rate 10Mbit/s", "rate 10000kbit", "rate 10000000bit"]
    {
        assert_eq!(rate(text), Ok("rate 10Mbit/s queue 100ms".to_owned()), "{text}");
    }
    let error = rate("rate 10mbps").expect_err("bytes in tc").to_string();
    assert!(error.contains("unknown unit \"mbps\""), "{error}");
}

/// Texts that begin like legal ones, and any others.
fn texts() -> impl Strategy<Value = String> {
    let names = ELEMENTS.iter().map(|kind| kind.name.to_owned()).collect::<Vec<_>>();
    let word = prop_oneof![
        "[0-9]{1,20}(ms|pkt|%|kB|Mbit/s|bit)?",
        "[0-9]{0,18}@[0-9]{0,18}/[0-9]{0,18}",
        "(list|queue|codel|shared|phase|continuous|per|flow|after|overtake|once|up|free)",
        "(normal|exp|pareto|lognormal|weibull)\\([0-9a-z,. ]{0,12}\\)?",
        "\\PC{0,6}",
    ];
    let words = prop::collection::vec(word, 0..8);
    (prop::sample::select(names), words)
        .prop_map(|(name, words)| format!("{name} {}", words.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_read_to_a_canonical_form_or_refused(text in texts()) {
        match canonical(&text) {
            Ok(canonical_text) => {
                prop_assert_eq!(canonical(&canonical_text), Ok(canonical_text));
            }
            Err(message) => prop_assert!(message.starts_with("link element")),
        }
    }

    #[test]
    fn no_text_at_all_makes_the_parser_panic(text in "\\PC{0,40}") {
        let _ = canonical(&text);
    }
}
