//! What is computed today as a result of an earlier minor version has it: without the lines and rules that came later.

use serde_json::Value;

use crate::result::version::EVERY_LINE_SINCE;
use crate::result::version::is_later_rule;

/// A computed document as of a `minor` version, that of the `stored` one.
pub(super) fn as_of(minor: u32, stored: &Value, mut computed: Value) -> Value {
    if computed["verb"].is_null() {
        drop_rules(minor, &mut computed);
    }
    if minor < EVERY_LINE_SINCE {
        drop_lines(stored, &mut computed);
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
    let is_same = |a: &Value, b: &Value| ["of", "figure"].iter().all(|key| a[*key] == b[*key]);
    ours.retain(|line| {
        !line["value"].is_null() || theirs.iter().any(|stored| is_same(stored, line))
    });
}
