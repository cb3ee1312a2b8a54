//! `result.json` against its published schema.

use btu_core::disclosure::Disclosure;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::analysis::analyse;
use btu_core::run::score::score_table;
use btu_report::APP_SCHEMA_VERSION;
use btu_report::FILE_SCHEMA_VERSION;
use btu_report::MESH_SCHEMA_VERSION;
use btu_report::PINGPONG_SCHEMA_VERSION;
use btu_report::SCHEMA_VERSION;
use btu_report::TRAFFIC_SCHEMA_VERSION;
use btu_report::app_schema;
use btu_report::file_schema;
use btu_report::mesh_schema;
use btu_report::pingpong_schema;
use btu_report::result;
use btu_report::result_schema;
use btu_report::traffic_schema;
use serde_json::Value;

use crate::fixture;

const PUBLISHED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/result-1.json");

#[test]
fn the_published_schema_is_the_generated_one() {
    let generated = serde_json::to_string_pretty(&result_schema()).unwrap() + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
        std::fs::create_dir_all(std::path::Path::new(PUBLISHED).parent().unwrap()).unwrap();
        std::fs::write(PUBLISHED, &generated).unwrap();
    }
    let published = std::fs::read_to_string(PUBLISHED).unwrap_or_default();
    assert!(published == generated, "write it anew: INSTA_UPDATE=always cargo test -p btu-report");
}

/// A result that was written before a rule came lacks what it says: whoever adds one raises the minor version and lists the
/// rule beside it (`result/version.rs`), and the count here.
#[test]
fn added_rules_raise_the_minor_version() {
    assert_eq!((SCHEMA_VERSION, btu_core::run::anomaly::RULES.len()), ("1.8.0", 23));
}

/// A reader asks `schema_version` which keys there are: whoever adds one raises the minor version and
/// lists the key beside it (`result/version.rs`), and the count here.
#[test]
fn added_keys_raise_the_minor_version() {
    for (schema, version, keys) in [
        (result_schema(), SCHEMA_VERSION, ("1.8.0", 116)),
        (app_schema(), APP_SCHEMA_VERSION, ("1.0.0", 63)),
        (file_schema(), FILE_SCHEMA_VERSION, ("1.1.0", 112)),
        (mesh_schema(), MESH_SCHEMA_VERSION, ("1.0.0", 42)),
        (pingpong_schema(), PINGPONG_SCHEMA_VERSION, ("1.7.0", 132)),
        (traffic_schema(), TRAFFIC_SCHEMA_VERSION, ("3.5.0", 534)),
    ] {
        let of = |object: &Value| object["properties"].as_object().map_or(0, serde_json::Map::len);
        let named: usize = schema["$defs"].as_object().unwrap().values().map(of).sum();
        assert_eq!((version, of(&schema) + named), keys);
    }
}

#[test]
fn results_are_valid_whole_and_empty() {
    let schema = result_schema();
    for journal in [fixture::journal(), fixture::empty_journal()] {
        let text = result(&journal, &analyse(&journal)).to_json();
        let findings = violations(&serde_json::from_str(&text).unwrap(), &schema, &schema, "$");
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

#[test]
fn the_checker_finds_a_missing_key_an_unknown_one_and_a_wrong_type() {
    let schema = result_schema();
    let journal = fixture::journal();
    let mut document = serde_json::to_value(result(&journal, &analyse(&journal))).unwrap();
    document.as_object_mut().unwrap().remove("btu_mbps");
    document["cells"][3]["bits"] = Value::from("many");
    document["cells"][4]["butter"] = Value::from(1);
    let findings = violations(&document, &schema, &schema, "$");
    let found = [
        "$: no btu_mbps",
        "$.cells[3].bits: not integer",
        "$.cells[4]: butter is not in the schema",
    ];
    assert_eq!(findings, found);
}

#[test]
fn every_key_of_the_contract_is_required() {
    let schema = result_schema();
    let required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for key in [
        "schema_version",
        "edition",
        "edition_hash",
        "testbed_class",
        "preset",
        "rankable",
        "not_rankable_reasons",
        "btu_mbps",
        "btu_ci95_mbps",
        "btu_idle_mbps",
        "penalty_percent",
        "penalty_ci95_percent",
        "penalty_classic_percent",
        "applications",
        "cells",
        "activities",
        "activities_base",
        "complete",
    ] {
        assert!(required.contains(&key), "{key}");
    }
}

#[test]
fn a_figure_that_is_null_has_a_reason() {
    for journal in journals() {
        let document = result(&journal, &analyse(&journal));
        let findings = silent(&serde_json::to_value(&document).unwrap(), "$");
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

#[test]
fn a_figure_of_a_table_that_is_null_has_a_reason() {
    let cell = |activity: &str| {
        format!(
            r#"{{"case": "SEND", "application": "audio", "activity": "{activity}",
                "goodput_mbps": 4.0}}"#
        )
    };
    let whole = journal_as_table(&fixture::journal());
    for table in [
        whole,
        format!(r#"{{"cells": [{}]}}"#, cell("cpu")),
        format!(r#"{{"cells": [{}]}}"#, cell("none")),
    ] {
        let score = serde_json::to_value(score_table(&table).unwrap()).unwrap();
        let findings = silent(&score, "$");
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

#[test]
fn what_is_null_in_silence_is_found_wherever_it_stands() {
    let document = serde_json::json!({
        "a": [{"b": null, "b_reason": "none was given"}, {"b": null}, {"b": null, "b_reason": ""}],
        "c": {"d": 1, "d_reason": "but it is there"},
        "e": [1, null],
        "not_rankable_reasons": [],
    });
    let findings = silent(&document, "$");
    assert_eq!(
        findings,
        [
            "$.a[1].b: null without a reason",
            "$.a[2].b: null without a reason",
            "$.c.d: a reason, and no null",
            "$.e[1]: null in a list",
        ]
    );
}

/// Journals that lack one thing or the other.
fn journals() -> Vec<Journal> {
    let without = |keep: fn(&Record) -> bool| {
        let mut journal = fixture::tiny_journal();
        journal.records.retain(keep);
        journal
    };
    let one_pass = |record: &Record| match record {
        Record::Alone(alone) => alone.pass == 1,
        Record::Cell(cell) => cell.pass == 1,
        _ => true,
    };
    let mut mute = fixture::tiny_journal();
    mute.hosts = Disclosure::default();
    for record in &mut mute.records {
        silence(record);
    }
    vec![
        fixture::journal(),
        fixture::empty_journal(),
        without(|record| !matches!(record, Record::Alone(_))),
        without(|record| !matches!(record, Record::Cell(_))),
        without(one_pass),
        mute,
    ]
}

/// A run on a host whose kernel tells nothing, and whose activity did nothing.
fn silence(record: &mut Record) {
    match record {
        Record::Alone(alone) => alone.sample.units = 0.0,
        Record::Cell(cell) => {
            cell.activity_sample = None;
            for one in cell.comm.iter_mut().flat_map(|comm| &mut comm.connections) {
                for end in [&mut one.sender, &mut one.receiver] {
                    (end.cpu_ns, end.tcp_info) = (None, None);
                }
            }
        }
        _ => {}
    }
}

fn journal_as_table(journal: &Journal) -> String {
    result(journal, &analyse(journal)).to_json()
}

/// Holds the published schema of this name against the generated one, and results to it: every key is there, none else, and
/// what is null says why.
pub(crate) fn holds(name: &str, schema: &Value, results: &[String]) {
    let file = format!("{}/../../docs/schema/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let generated = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
        std::fs::write(&file, &generated).unwrap();
    }
    let published = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(published == generated, "write it anew: INSTA_UPDATE=always cargo test -p btu-report");
    for text in results {
        let result: Value = serde_json::from_str(text).unwrap();
        let findings = violations(&result, schema, schema, "$");
        assert!(findings.is_empty(), "{findings:#?}");
        let silences = silent(&result, "$");
        assert!(silences.is_empty(), "{silences:#?}");
    }
}

/// Where in `value` something is `null` and no key beside it says why, or one says why and it is not.
pub(crate) fn silent(value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (key, field) in value.as_object().into_iter().flatten() {
        let reason = value.get(format!("{key}_reason"));
        let told = reason.and_then(Value::as_str).is_some_and(|reason| !reason.is_empty());
        match (field.is_null(), reason) {
            (true, _) if !told => found.push(format!("{at}.{key}: null without a reason")),
            (false, Some(_)) => found.push(format!("{at}.{key}: a reason, and no null")),
            _ => found.extend(silent(field, &format!("{at}.{key}"))),
        }
    }
    for (place, item) in value.as_array().into_iter().flatten().enumerate() {
        let at = format!("{at}[{place}]");
        found.extend(item.is_null().then(|| format!("{at}: null in a list")));
        found.extend(silent(item, &at));
    }
    found
}

#[test]
fn the_score_of_a_result_is_its_own_score() {
    let journal = fixture::journal();
    let document = result(&journal, &analyse(&journal));
    let table = score_table(&document.to_json()).unwrap();
    let close = |a: Option<f64>, b: Option<f64>| (a.unwrap() / b.unwrap() - 1.0).abs() < 1e-9;
    assert!(close(table.btu_mbps, document.btu_mbps));
    assert!(close(table.btu_idle_mbps, document.btu_idle_mbps));
    assert!(close(table.penalty_percent, document.penalty_percent));
    assert!(close(table.penalty_classic_percent, document.penalty_classic_percent));
    for (of_table, of_result) in table.applications.iter().zip(&document.applications) {
        assert_eq!(of_table.message_bytes, Some(of_result.message_bytes), "{}", of_table.name);
    }
}

/// A slowdown of a result is its base over its rate: whoever changes one of the three is told, and
/// what is left out is computed from the other two.
#[test]
fn the_slowdowns_of_a_result_are_its_bases_over_its_rates() {
    let journal = fixture::journal();
    let document = result(&journal, &analyse(&journal));
    let whole: Value = serde_json::from_str(&document.to_json()).unwrap();
    let loaded = |cell: &Value| cell["slowdown"].is_number();
    let first = whole["cells"].as_array().unwrap().iter().position(loaded).unwrap();
    for key in ["slowdown", "activity_rate_per_s", "goodput_mbps"] {
        let mut changed = whole.clone();
        let figure = changed["cells"][first][key].as_f64().unwrap();
        changed["cells"][first][key] = (3.0 * figure).into();
        let told = score_table(&changed.to_string()).unwrap_err().to_string();
        let cell = format!("cells[{first}] (");
        assert!(told.starts_with(&cell) && told.contains(", but "), "{key}: {told}");
    }
    let mut silent = whole;
    for cell in silent["cells"].as_array_mut().unwrap() {
        cell.as_object_mut().unwrap().remove("slowdown");
    }
    let found = score_table(&silent.to_string()).unwrap().penalty_percent.unwrap();
    assert!((found / document.penalty_percent.unwrap() - 1.0).abs() < 1e-9, "{found}");
}

/// What in `value` is not as `schema` says: types, required keys, keys that it does not name, items,
/// references, alternatives (of which one has to hold).
pub(crate) fn violations(value: &Value, schema: &Value, root: &Value, at: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap();
        return violations(value, target, root, at);
    }
    if let Some(alternatives) = schema["anyOf"].as_array() {
        let each = alternatives.iter().map(|one| violations(value, one, root, at));
        return each.min_by_key(Vec::len).unwrap_or_default();
    }
    let wrong_type = !of_type(value, &schema["type"]);
    let mut found: Vec<String> = wrong_type
        .then(|| format!("{at}: not {}", schema["type"].as_str().unwrap_or("legal")))
        .into_iter()
        .collect();
    if let (Some(fields), Some(required)) = (value.as_object(), schema["required"].as_array()) {
        let missing =
            required.iter().filter_map(Value::as_str).filter(|k| !fields.contains_key(*k));
        found.extend(missing.map(|key| format!("{at}: no {key}")));
    }
    for (key, field) in value.as_object().into_iter().flatten() {
        let inner = [&schema["properties"][key], &schema["additionalProperties"]];
        match inner.into_iter().find(|schema| schema.is_object()) {
            Some(inner) => found.extend(violations(field, inner, root, &format!("{at}.{key}"))),
            None => found.push(format!("{at}: {key} is not in the schema")),
        }
    }
    for (place, item) in value.as_array().into_iter().flatten().enumerate() {
        if schema["items"].is_object() {
            found.extend(violations(item, &schema["items"], root, &format!("{at}[{place}]")));
        }
    }
    found
}

fn of_type(value: &Value, types: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    match types {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}
