//! What is computed today as a result of an earlier minor version has it: without the lines and rules that came later, and
//! with what was told more widely then.

use serde_json::Value;

use crate::result::version::EVERY_LINE_SINCE;
use crate::result::version::FAULTS_COUNT_SINCE;
use crate::result::version::FITTED_LOADS_SINCE;
use crate::result::version::is_later_rule;

/// A computed document as of a `minor` version, that of the `stored` one.
pub(super) fn as_of(minor: u32, stored: &Value, mut computed: Value) -> Value {
    if computed["verb"].is_null() {
        drop_rules(minor, &mut computed);
    }
    match computed["verb"].as_str() {
        Some("pingpong") if minor < FAULTS_COUNT_SINCE => count_no_faults(stored, &mut computed),
        Some("traffic") => {
            if minor < EVERY_LINE_SINCE {
                drop_lines(stored, &mut computed);
            }
            if minor < FITTED_LOADS_SINCE {
                name_all_loads(stored, &mut computed);
            }
        }
        _ => {}
    }
    computed
}

/// Of every list of flags, which are names of rules, and of remarks, which have one.
fn drop_rules(minor: u32, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match field {
                    Value::Array(items) if ["flags", "remarks"].contains(&key.as_str()) => {
                        items.retain(|item| !is_of_later_rule(minor, item));
                    }
                    other => drop_rules(minor, other),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                drop_rules(minor, item);
            }
        }
        _ => {}
    }
}

fn is_of_later_rule(minor: u32, item: &Value) -> bool {
    let rule = item.as_str().or(item["name"].as_str());
    rule.is_some_and(|rule| is_later_rule(minor, rule))
}

/// A sheet had no line for what it had no value of, but for a few.
fn drop_lines(stored: &Value, computed: &mut Value) {
    let Some(theirs) = stored["sheet"].as_array() else { return };
    let Some(ours) = computed.get_mut("sheet").and_then(Value::as_array_mut) else { return };
    ours.retain(|line| {
        !line["value"].is_null() || theirs.iter().any(|stored| is_same_line(stored, line))
    });
}

fn is_same_line(a: &Value, b: &Value) -> bool {
    ["of", "figure"].iter().all(|key| a[*key] == b[*key])
}

/// The knee of delay named the loads above the rate among its cells, too.
fn name_all_loads(stored: &Value, computed: &mut Value) {
    let Some(theirs) = stored["sheet"].as_array() else { return };
    let Some(ours) = computed.get_mut("sheet").and_then(Value::as_array_mut) else { return };
    let is_fitted = |line: &&mut Value| {
        ["idle_delay_s", "doubled_at_rho"].iter().any(|one| line["figure"] == *one)
    };
    for line in ours.iter_mut().filter(is_fitted) {
        let cells = |line: &Value| line["cells"].as_array().cloned().unwrap_or_default();
        let then = theirs.iter().find(|stored| is_same_line(stored, line)).map(cells);
        let own = cells(line);
        if let Some(then) = then.filter(|then| own.iter().all(|cell| then.contains(cell))) {
            line["cells"] = then.into();
        }
    }
}

/// A ping-pong that came to its end was complete, whatever came up on the way.
fn count_no_faults(stored: &Value, computed: &mut Value) {
    let mut curves = computed["curves"].as_array().into_iter().flatten();
    let has_faults = |curve: &Value| curve["faults"].as_array().is_some_and(|all| !all.is_empty());
    if curves.any(has_faults) {
        computed["complete"] = stored["complete"].clone();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_knee_of_delay_names_as_many_loads_as_it_did() {
        let sheet = |of: &str, cells: &[u32]| json!({"verb": "traffic", "sheet": [{"of": of, "figure": "idle_delay_s", "cells": cells}]});
        let (then, now) = (sheet("path", &[3, 4, 5]), sheet("path", &[3, 4]));
        assert_eq!(as_of(2, &then, now.clone()), then);
        assert_eq!(as_of(3, &then, now.clone()), now);
        assert_eq!(
            as_of(2, &sheet("path", &[5]), now.clone()),
            now,
            "cells that were fitted to are there"
        );
    }

    #[test]
    fn a_ping_pong_with_faults_was_complete() {
        let result = |complete: bool, faults: &[u32]| json!({"verb": "pingpong", "complete": complete, "curves": [{"faults": faults}]});
        assert_eq!(as_of(4, &result(true, &[1]), result(false, &[1]))["complete"], true);
        assert_eq!(as_of(5, &result(true, &[1]), result(false, &[1]))["complete"], false);
        assert_eq!(as_of(4, &result(true, &[]), result(false, &[]))["complete"], false);
    }
}
