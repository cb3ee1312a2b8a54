//! A stored `result.json` beside the same computed again: where figures differ by more than another version of the program
//! explains.

mod earlier;

use std::borrow::Cow;

use btu_core::journal::file::RESULT;
use btu_core::json;
use btu_core::words::several;
use serde_json::Value;

use super::Finding;
use crate::files::ResultFiles;
use crate::result::version::LaterKeys;
use crate::result::version::REASON;
use crate::result::version::is_of_earlier_major;

/// A result of another version is no forgery where a figure is computed otherwise by now.
pub(super) fn other_version(files: &ResultFiles, computed: &Value) -> Option<String> {
    let stored: Value = serde_json::from_slice(files.get(RESULT)?).ok()?;
    let theirs = stored["schema_version"].as_str()?;
    let ours = computed["schema_version"].as_str().filter(|ours| *ours != theirs)?;
    if is_of_earlier(&stored, computed) {
        return Some(format!(
            "{RESULT} is of version {theirs}, this program writes {ours}, whose keys mean something else: none of its \
             figures was compared, the journal alone was read (btu report computes all of them anew)"
        ));
    }
    Some(format!(
        "{RESULT} is of version {theirs}, this program writes {ours}: what is computed otherwise since \
         then differs as well"
    ))
}

/// How many figures were compared: none with a result whose keys meant something else.
pub(super) fn compared(files: &ResultFiles, computed: &Value) -> usize {
    let stored = files.get(RESULT).and_then(|text| json::read(text).ok());
    let is_earlier = stored.is_some_and(|stored| is_of_earlier(&stored, computed));
    if is_earlier { 0 } else { numbers(computed) }
}

/// True for a stored document of an earlier major version, of the same verb.
fn is_of_earlier(stored: &Value, computed: &Value) -> bool {
    let verb = computed["verb"].as_str();
    stored["verb"] == computed["verb"]
        && version(stored).is_some_and(|version| is_of_earlier_major(verb, version))
}

/// Each figure that the stored result has otherwise.
pub(super) fn against_stored(files: &ResultFiles, computed: &Value) -> Vec<Finding> {
    let Some(text) = files.get(RESULT) else {
        return vec![missing(computed)];
    };
    let stored = match json::read(text) {
        Ok(stored) => stored,
        Err(cause) => return vec![Finding::new("figures", RESULT, cause.to_string())],
    };
    if is_of_earlier(&stored, computed) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let allowed = Allowed::between(&stored, computed);
    differences(&stored, &allowed.as_then(&stored, computed), "", &allowed, &mut found);
    if found.len() > MOST_SHOWN {
        let more = found.len() - MOST_SHOWN;
        found.truncate(MOST_SHOWN);
        found.push(Finding::new("figures", RESULT, format!("{more} more figures differ")));
    }
    found
}

/// A run that was killed has no figures yet; one that came to its end had them.
fn missing(computed: &Value) -> Finding {
    if computed["finished_at"].is_null() {
        return Finding::new(
            Finding::UNFINISHED,
            RESULT,
            "missing: the run did not come to its end",
        );
    }
    Finding::new("figures", RESULT, "missing: what the run said at its end cannot be told")
}

/// What a stored document may have otherwise because another version of the program wrote it.
#[derive(Default)]
struct Allowed {
    /// The keys that it may lack: its minor version is this earlier one of the same major version.
    lacks: Option<(&'static LaterKeys, u32)>,
    /// The same reason may be given in other words.
    words: bool,
}

impl Allowed {
    fn between(stored: &Value, computed: &Value) -> Self {
        let both = version(stored).zip(version(computed));
        let older = both.filter(|(theirs, ours)| theirs.0 == ours.0 && theirs.1 < ours.1);
        Self {
            lacks: older.map(|(theirs, _)| (LaterKeys::of(computed["verb"].as_str()), theirs.1)),
            words: older.is_some() || computed["tool_version"] != env!("CARGO_PKG_VERSION"),
        }
    }

    /// What is computed as a result of that time has it.
    fn as_then<'a>(&self, stored: &Value, computed: &'a Value) -> Cow<'a, Value> {
        match self.lacks {
            Some((_, minor)) => Cow::Owned(earlier::as_of(minor, stored, computed.clone())),
            None => Cow::Borrowed(computed),
        }
    }

    fn holds(&self, place: &str, key: &str, pair: [Option<&Value>; 2]) -> bool {
        let lacks = |(later, minor): (&LaterKeys, u32)| {
            place == "schema_version" || pair[0].is_none() && later.may_lack(minor, key)
        };
        let is_reason = || key.ends_with(REASON) && pair.iter().all(|one| is_text(*one));
        self.lacks.is_some_and(lacks) || self.words && is_reason()
    }
}

fn is_text(value: Option<&Value>) -> bool {
    value.is_some_and(Value::is_string)
}

/// Major and minor number of a document's shape.
fn version(document: &Value) -> Option<(u32, u32)> {
    let (major, rest) = document["schema_version"].as_str()?.split_once('.')?;
    Some((major.parse().ok()?, rest.split('.').next()?.parse().ok()?))
}

/// Where two documents differ by more than is allowed, value by value.
fn differences(
    stored: &Value,
    computed: &Value,
    at: &str,
    allowed: &Allowed,
    found: &mut Vec<Finding>,
) {
    match (stored, computed) {
        (Value::Object(theirs), Value::Object(ours)) => {
            let mut keys: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let dot = if at.is_empty() { "" } else { "." };
                let place = format!("{at}{dot}{key}");
                let pair = [theirs, ours].map(|one| one.get(key));
                if !allowed.holds(&place, key, pair) {
                    let [a, b] = pair.map(|one| one.unwrap_or(&Value::Null));
                    differences(a, b, &place, allowed, found);
                }
            }
        }
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
            for (place, (a, b)) in theirs.iter().zip(ours).enumerate() {
                differences(a, b, &format!("{at}[{place}]"), allowed, found);
            }
        }
        (Value::Array(theirs), Value::Array(ours)) => {
            let detail =
                format!("{}, the samples give {}", several(theirs.len(), "item"), ours.len());
            found.push(Finding::new("figures", format!("{RESULT}: {at}"), detail));
        }
        (a, b) if is_same(a, b) => {}
        (a, b) => {
            let detail = format!("{}, the samples give {}", brief(a), brief(b));
            found.push(Finding::new("figures", format!("{RESULT}: {at}"), detail));
        }
    }
}

/// Equal, or numbers that differ by rounding alone: what is counted is whole and exact.
fn is_same(stored: &Value, computed: &Value) -> bool {
    let is_whole = computed.is_u64() || computed.is_i64();
    match (stored.as_f64(), computed.as_f64()) {
        _ if is_whole => stored == computed,
        (Some(a), Some(b)) => (a - b).abs() <= ROUNDING * a.abs().max(b.abs()),
        _ => stored == computed,
    }
}

fn brief(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 80 { text.chars().take(80).collect::<String>() + "..." } else { text }
}

/// How many numbers a document holds.
fn numbers(document: &Value) -> usize {
    match document {
        Value::Number(_) => 1,
        Value::Array(items) => items.iter().map(numbers).sum(),
        Value::Object(fields) => fields.values().map(numbers).sum(),
        _ => 0,
    }
}

/// Another order of additions may change the last digits, nothing more.
const ROUNDING: f64 = 1e-9;
/// After so many the reader knows.
const MOST_SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use serde_json::json;

    use super::*;

    /// The places in which a stored document differs from what the samples give.
    fn differing(stored: &Value, computed: &Value) -> Vec<String> {
        let stored = BTreeMap::from([(RESULT.to_owned(), stored.to_string().into_bytes())]);
        let files = ResultFiles::new(Path::new("result"), stored);
        against_stored(&files, computed).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn whole_numbers_are_exact_and_others_may_be_rounded() {
        let computed = json!({"seed": 1_800_000_000_000_000_000_u64, "btu_mbps": 0.3});
        let with =
            |seed: Value, mbps: f64| differing(&json!({"seed": seed, "btu_mbps": mbps}), &computed);
        assert!(with(json!(1_800_000_000_000_000_000_u64), 0.1 + 0.2).is_empty());
        assert_eq!(with(json!(1_800_000_000_000_000_001_u64), 0.3), ["result.json: seed"]);
        assert_eq!(with(json!(1.8e18), 0.3), ["result.json: seed"]);
        assert_eq!(with(json!(1_800_000_000_000_000_000_u64), 0.3001), ["result.json: btu_mbps"]);
    }

    /// Of two values of one key some readers take the first, others the last.
    #[test]
    fn a_key_that_stands_twice_is_a_finding() {
        let text = br#"{"btu_mbps": 9999, "btu_mbps": 10.5}"#;
        let stored = BTreeMap::from([(RESULT.to_owned(), text.to_vec())]);
        let files = ResultFiles::new(Path::new("result"), stored);
        let found = against_stored(&files, &json!({"btu_mbps": 10.5}));
        let said: Vec<&str> = found.iter().map(|one| one.detail.as_str()).collect();
        assert!(said[0].contains("the key \"btu_mbps\" stands here twice"), "{said:?}");
    }

    #[test]
    fn a_result_of_an_earlier_minor_version_lacks_later_keys_and_nothing_else() {
        let computed = json!({
            "schema_version": "1.1.0", "a": 1, "note": null,
            "cells": [{"b": null, "b_reason": "none came", "black_boxes_cpu_s_per_gb": 3}],
        });
        let older = json!({"schema_version": "1.0.0", "a": 1, "cells": [{"b": null}]});
        assert!(differing(&older, &computed).is_empty());
        let mut changed = older.clone();
        changed["cells"][0]["b"] = json!(4);
        assert_eq!(differing(&changed, &computed), ["result.json: cells[0].b"]);
        let mut more = older.clone();
        more["z"] = json!(1);
        assert_eq!(differing(&more, &computed), ["result.json: z"]);
        for other in ["1.1.0", "1.3.0", "2.0.0", "0.1.0", "old"] {
            let mut told = older.clone();
            told["schema_version"] = json!(other);
            assert!(!differing(&told, &computed).is_empty(), "{other}");
        }
    }

    /// A line that says why it has no value stood in no sheet of 3.0.0; whatever has one did.
    #[test]
    fn a_sheet_of_an_earlier_minor_version_lacks_lines_without_a_value_and_nothing_else() {
        let told =
            |figure: &str, value: Value| json!({"of": "path", "figure": figure, "value": value});
        let why = |figure: &str| {
            let mut line = told(figure, Value::Null);
            line["value_reason"] = json!("in the words of today");
            line
        };
        let document = |version: &str, sheet: &[Value]| json!({"schema_version": version, "verb": "traffic", "sheet": sheet});
        let computed =
            document("3.1.0", &[told("mu_bit_s", json!(2)), why("knee_bit_s"), why("call_r")]);
        let mut then = why("call_r");
        then["value_reason"] = json!("two clocks hide it");
        let older = |sheet: &[Value]| differing(&document("3.0.0", sheet), &computed);
        assert!(older(&[told("mu_bit_s", json!(2)), then.clone()]).is_empty());
        assert!(older(&[told("mu_bit_s", json!(2))]).is_empty());
        assert_eq!(older(&[told("mu_bit_s", json!(3)), then]), ["result.json: sheet[0].value"]);
        assert_eq!(older(&[]), ["result.json: sheet"]);
        let invented = [told("mu_bit_s", json!(2)), told("knee_bit_s", json!(1))];
        assert!(!older(&invented).is_empty());
        let now = document("3.1.0", &[told("mu_bit_s", json!(2))]);
        assert_eq!(differing(&now, &computed), ["result.json: sheet"]);
    }

    /// What a rule says that came later is no figure that an earlier result hides.
    #[test]
    fn a_run_of_an_earlier_minor_version_lacks_what_later_rules_say_and_nothing_else() {
        let document = |version: &str, rules: &[&str]| {
            let remarks: Vec<Value> = rules.iter().map(|name| json!({"name": name})).collect();
            json!({
                "schema_version": version, "cells": [{"flags": rules}], "remarks": remarks,
                "applications": [{"name": "faster-loaded"}],
            })
        };
        let computed = document("1.2.0", &["faster-loaded", "spread"]);
        let places = ["result.json: cells[0].flags", "result.json: remarks"];
        assert!(differing(&document("1.1.0", &["spread"]), &computed).is_empty());
        assert_eq!(differing(&document("1.1.0", &[]), &computed), places);
        assert_eq!(differing(&document("1.2.0", &["spread"]), &computed), places);
        assert!(differing(&document("1.2.0", &["faster-loaded", "spread"]), &computed).is_empty());
        let invented = document("1.1.0", &["faster-loaded", "spread"]);
        assert_eq!(differing(&invented, &computed), places);
    }

    #[test]
    fn a_result_of_another_version_says_so() {
        let said = |stored: Value| {
            let stored = BTreeMap::from([(RESULT.to_owned(), stored.to_string().into_bytes())]);
            let files = ResultFiles::new(Path::new("result"), stored);
            other_version(&files, &json!({"schema_version": "1.3.0"}))
        };
        let told = said(json!({"schema_version": "1.2.0"})).unwrap();
        assert!(told.starts_with("result.json is of version 1.2.0, this program writes 1.3.0: "));
        assert_eq!(said(json!({"schema_version": "1.3.0"})), None);
    }

    /// Its figures are not those of today, and nobody is accused of that.
    #[test]
    fn a_result_of_an_earlier_major_version_is_not_compared_and_that_is_said() {
        let computed = json!({"schema_version": "3.0.0", "verb": "traffic", "mu_bit_s": 3.5});
        let stored = |version: &str, verb: &str| {
            let document = json!({"schema_version": version, "verb": verb, "mu_bit_s": 4.5});
            let stored = BTreeMap::from([(RESULT.to_owned(), document.to_string().into_bytes())]);
            ResultFiles::new(Path::new("result"), stored)
        };
        for version in ["1.6.0", "2.0.0"] {
            let old = stored(version, "traffic");
            assert_eq!(against_stored(&old, &computed), Vec::new());
            assert_eq!(compared(&old, &computed), 0);
            let told = other_version(&old, &computed).unwrap();
            assert!(told.contains("none of its figures was compared"), "{told}");
        }
        // Versions that nobody wrote, and results of other verbs, are compared.
        for (version, verb) in [
            ("1.8.0", "traffic"),
            ("2.1.0", "traffic"),
            ("0.1.0", "traffic"),
            ("1.6.0", "pingpong"),
        ] {
            let other = stored(version, verb);
            assert!(!against_stored(&other, &computed).is_empty(), "{version} {verb}");
            assert_eq!(compared(&other, &computed), 1, "{version} {verb}");
        }
    }

    #[test]
    fn an_original_key_may_not_go_by_calling_the_result_old() {
        let computed = json!({"schema_version": "1.1.0", "a": 1, "cells": [{"b": 2}]});
        let bare = json!({"schema_version": "1.0.0"});
        assert_eq!(differing(&bare, &computed), ["result.json: a", "result.json: cells"]);
    }

    #[test]
    fn only_another_version_s_reason_may_have_other_words_and_it_must_be_there() {
        let document =
            |version: &str, cell: Value| json!({ "tool_version": version, "cells": [cell] });
        let computed = json!({"a": null, "a_reason": "nothing came", "b": "x"});
        let told = json!({"a": null, "a_reason": "none", "b": "x"});
        let stored = |version: &str, cell: &Value| {
            let [stored, computed] = [cell, &computed].map(|cell| document(version, cell.clone()));
            differing(&stored, &computed)
        };
        let (own, other) = (env!("CARGO_PKG_VERSION"), "0.0.1");
        assert!(stored(other, &told).is_empty() && stored(own, &computed).is_empty());
        assert_eq!(stored(own, &told), ["result.json: cells[0].a_reason"]);
        for unsaid in [json!({"a": null, "b": "x"}), json!({"a": null, "a_reason": null, "b": "x"})]
        {
            assert_eq!(stored(other, &unsaid), ["result.json: cells[0].a_reason"]);
        }
        let wrong = json!({"a": null, "a_reason": "none", "b": "y"});
        assert_eq!(stored(other, &wrong), ["result.json: cells[0].b"]);
    }
}
