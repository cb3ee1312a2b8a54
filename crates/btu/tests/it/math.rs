//! `btu app math`: a table for people, a document for programs, and what is refused.

use serde_json::Value;

use crate::commands::run;
use crate::program::btu;
use crate::program::said;

fn math(words: &[&str]) -> String {
    run(btu().args(["app", "math", "--quiet", "--repeats", "2"]).args(words)).unwrap()
}

#[test]
fn times_stand_above_errors_and_both_have_a_column_for_each_function() {
    let table = math(&["--libraries", "rust,libm", "--functions", "fabs,floor"]);
    // As wide as their times, which are long beside other programs.
    let is_head = |line: &&str| line.split_whitespace().rev().take(2).eq(["floor", "fabs"]);
    let heads: Vec<&str> = table.lines().filter(is_head).collect();
    assert_eq!(heads.len(), 2, "{table}");
    assert!(
        heads[0].starts_with("ns per call") && heads[1].starts_with("largest error"),
        "{table}"
    );
    let starts = |word: &str| table.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!((starts("empty loop"), starts("rust"), starts("libm")), (1, 2, 2), "{table}");
    assert!(table.contains("# minimum of 2 repeats of 50 x 4096 calls"), "{table}");
}

#[test]
fn the_document_has_every_repeat_and_the_conditions() {
    let words = ["--libraries", "rust", "--functions", "log10", "--json"];
    let document: Value = serde_json::from_str(&math(&words)).unwrap();
    assert_eq!(document["schema_version"], "1.0.0");
    assert_eq!((&document["arguments"], &document["passes"]), (&4096.into(), &50.into()));
    assert!(document["build"]["architecture"].is_string() && document["cpu"].is_null());
    let figures = &document["libraries"][0]["functions"][0];
    assert_eq!(figures["function"], "log10");
    assert_eq!(figures["elapsed_ns"].as_array().unwrap().len(), 2);
    assert!(figures["ns_per_call"].as_f64().unwrap() > 0.0);
    assert!((0.4..=1.0).contains(&figures["largest_error_ulp"].as_f64().unwrap()), "{figures}");
}

#[test]
fn what_is_not_there_twice_or_unknown_is_refused() {
    for (words, told) in [
        (["--libraries", "gsl"], "write one of system, rust, native, libm, sleef"),
        (["--functions", "sin"], "write one of floor, ceil"),
        (["--functions", "log,log"], "\"log\" is named twice; name each once"),
        (["--cpu", "4000"], "--cpu 4000: this process may not use it; write one of"),
        (["--repeats", "0"], "0 is not in 1..=1000"),
    ] {
        let refused = btu().args(["app", "math", "--json"]).args(words).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {}", said(&refused));
        assert!(said(&refused).contains(told), "{words:?}: {}", said(&refused));
    }
}
