//! What is computed today as a result of an earlier minor version has it: without the lines and rules that came later, and
//! with what was told more widely then.

use serde_json::Value;

use crate::result::version::BOOTSTRAP_PASSES;
use crate::result::version::EVERY_LINE_SINCE;
use crate::result::version::FAULTS_COUNT_SINCE;
use crate::result::version::FITTED_LOADS_SINCE;
use crate::result::version::PASSES_NAMED_SINCE;
use crate::result::version::QUEUES_TOLD_SINCE;
use crate::result::version::REASONS_WEIGHED_SINCE;
use crate::result::version::SILENCE_SINCE;
use crate::result::version::T_SINCE;
use crate::result::version::is_later_rule;
use crate::result::version::is_rejudged;

/// A computed document as of a `minor` version, that of the `stored` one.
pub(super) fn as_of(minor: u32, stored: &Value, mut computed: Value) -> Value {
    if computed["verb"].is_null() {
        drop_rules(minor, &mut computed);
        if minor < PASSES_NAMED_SINCE {
            take_words(stored, &mut computed, |_| true);
            rank_the_disturbed(stored, &mut computed);
        }
        if minor < QUEUES_TOLD_SINCE {
            take_words(stored, &mut computed, tells_of_a_queue);
        }
        if minor < REASONS_WEIGHED_SINCE {
            take_words(stored, &mut computed, |own| {
                REASONED.iter().any(|name| own["name"] == *name)
            });
        }
        take_judgements(minor, stored, &mut computed);
        if minor < T_SINCE && computed["passes"].as_u64() >= Some(BOOTSTRAP_PASSES) {
            take_intervals(stored, &mut computed);
        }
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
            if minor < SILENCE_SINCE {
                take_keys(stored, &mut computed);
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

/// What rules said that judge otherwise by now stands as it was said; what the others say is compared.
fn take_judgements(minor: u32, stored: &Value, computed: &mut Value) {
    match (stored, computed) {
        (Value::Object(theirs), Value::Object(ours)) => {
            for (key, own) in ours {
                let Some(then) = theirs.get(key) else { continue };
                match (own, then) {
                    (Value::Array(own), Value::Array(then))
                        if ["flags", "remarks"].contains(&key.as_str()) =>
                    {
                        let others = |all: &[Value]| -> Vec<Value> {
                            all.iter()
                                .filter(|item| !is_rejudged_in(minor, item))
                                .cloned()
                                .collect()
                        };
                        if others(own) == others(then) {
                            own.clone_from(then);
                        }
                    }
                    (own, then) => take_judgements(minor, then, own),
                }
            }
        }
        (Value::Array(theirs), Value::Array(ours)) => {
            theirs.iter().zip(ours).for_each(|(then, own)| take_judgements(minor, then, own));
        }
        _ => {}
    }
}

fn is_rejudged_in(minor: u32, item: &Value) -> bool {
    item.as_str().or(item["name"].as_str()).is_some_and(|rule| is_rejudged(minor, rule))
}

/// The interval of the score was the bootstrap that stands beside it; of the others it is not kept.
fn take_intervals(stored: &Value, computed: &mut Value) {
    computed["btu_ci95_mbps"] = computed["btu_bootstrap95_mbps"].clone();
    computed["penalty_ci95_percent"] = stored["penalty_ci95_percent"].clone();
    let theirs = stored["applications"].as_array().into_iter().flatten();
    let ours = computed["applications"].as_array_mut().into_iter().flatten();
    for (then, own) in theirs.zip(ours) {
        for key in ["btu_ci95_mbps", "penalty_ci95_percent"] {
            own[key] = then[key].clone();
        }
    }
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

/// A remark that several passes have did not say of which its figure is, and one of drops not that a queue dropped some.
fn take_words(stored: &Value, computed: &mut Value, is_new: fn(&Value) -> bool) {
    let mut theirs: Vec<&Value> = stored["remarks"].as_array().into_iter().flatten().collect();
    let ours = computed.get_mut("remarks").and_then(Value::as_array_mut).into_iter().flatten();
    for own in ours {
        let is_same = |then: &&Value| then["name"] == own["name"] && then["cell"] == own["cell"];
        let Some(at) = theirs.iter().position(is_same) else { continue };
        let then = theirs.remove(at);
        if is_new(own) && own["detail"].is_string() {
            own["detail"].clone_from(&then["detail"]);
        }
    }
}

fn tells_of_a_queue(remark: &Value) -> bool {
    remark["detail"].as_str().is_some_and(|detail| detail.contains(QUEUE_DROPPED))
}

/// A result most of whose runs were disturbed was ranked.
fn rank_the_disturbed(stored: &Value, computed: &mut Value) {
    let Some(theirs) = stored["not_rankable_reasons"].as_array() else { return };
    let ours = computed.get_mut("not_rankable_reasons").and_then(Value::as_array_mut);
    let Some(ours) = ours else { return };
    let before = ours.len();
    ours.retain(|reason| {
        let is_new = reason.as_str().is_some_and(|text| text.contains(DISTURBED));
        !is_new || theirs.contains(reason)
    });
    if ours.is_empty() && before > 0 {
        computed["rankable"] = true.into();
    }
}

/// What is computed otherwise by now of silence, of a call that was lost and of sessions that get less together: also
/// where it is a line of a sheet.
fn take_keys(stored: &Value, computed: &mut Value) {
    match (stored, computed) {
        (Value::Object(theirs), Value::Object(ours)) => {
            let is_line = theirs.get("figure").and_then(Value::as_str).is_some_and(is_recomputed);
            for (key, own) in ours {
                let Some(then) = theirs.get(key) else { continue };
                if is_recomputed(key) || is_line && key == "value" {
                    own.clone_from(then);
                } else {
                    take_keys(then, own);
                }
            }
        }
        (Value::Array(theirs), Value::Array(ours)) => {
            theirs.iter().zip(ours).for_each(|(then, own)| take_keys(then, own));
        }
        _ => {}
    }
}

fn is_recomputed(key: &str) -> bool {
    RECOMPUTED.contains(&key)
}

const RECOMPUTED: [&str; 5] =
    ["call_mos", "call_r", "delay_variation_s", "most_at_sessions", "shared_link"];
/// What the reason says that a result most of whose runs were disturbed has.
const DISTURBED: &str = " disturbed by what else the machine did";

/// The rules whose remarks give other reasons by now.
const REASONED: [&str; 2] = ["outlier", "stall"];

/// What a remark says by now of drops of a queue.
const QUEUE_DROPPED: &str = ", and a queue dropped ";

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

    /// What a rule said that judges otherwise by now is no forgery; what another one said is compared.
    #[test]
    fn what_rules_said_that_judge_otherwise_by_now_stands() {
        let result = |flags: &[&str]| {
            let remarks: Vec<Value> = flags.iter().map(|name| json!({ "name": name })).collect();
            json!({"passes": 3, "cells": [{"flags": flags}], "remarks": remarks})
        };
        let now = result(&["spread"]);
        let then = result(&["dip", "spread"]);
        assert_eq!(as_of(2, &then, now.clone()), then);
        assert_eq!(as_of(3, &then, now.clone()), now);
        assert_eq!(as_of(2, &result(&["dip"]), now.clone()), now, "spread was taken away");
        let grouped = result(&["spread", "two-groups"]);
        assert_eq!(as_of(5, &grouped, now.clone()), grouped);
        assert_eq!(as_of(6, &grouped, now.clone()), now);
    }

    #[test]
    fn a_result_of_a_busy_machine_was_ranked_and_its_remarks_named_no_pass() {
        let result = |reasons: &[&str], detail: &str| {
            json!({"rankable": reasons.is_empty(), "not_rankable_reasons": reasons,
                "remarks": [{"name": "steal", "cell": "SEND/ftp/io", "detail": detail}]})
        };
        let now = result(
            &[&format!("3 of 4 runs were{DISTURBED}; the first is x")],
            "5 % (pass 1; 2 of 3)",
        );
        let then = result(&[], "5 % (2 of 3 passes)");
        assert_eq!(as_of(4, &then, now.clone()), then);
        assert_eq!(as_of(5, &then, now.clone()), now);
        let other = result(&["preset quick"], "5 %");
        assert_eq!(as_of(4, &then, other)["not_rankable_reasons"], json!(["preset quick"]));
    }

    #[test]
    fn drops_of_a_queue_were_told_as_asked_for() {
        let result = |detail: &str| json!({"remarks": [{"name": "retransmissions", "cell": "SEND/ftp/io", "detail": detail}]});
        let then = result("20 of 1250 segments were sent again, 10 drops were asked for");
        let now = result(&format!(
            "20 of 1250 segments were sent again, 0 drops were asked for{QUEUE_DROPPED}10"
        ));
        assert_eq!(as_of(5, &then, now.clone()), then);
        assert_eq!(as_of(6, &then, now.clone()), now);
        let other = result("21 of 1250 segments were sent again, 0 drops were asked for");
        assert_eq!(as_of(5, &then, other.clone()), other);
    }

    #[test]
    fn reasons_of_an_outlier_were_others_and_its_flag_was_not() {
        let remark = |name: &str, detail: &str| json!({"name": name, "cell": "SEND/ftp/io", "detail": detail});
        let result =
            |remarks: &[Value]| json!({"cells": [{"flags": ["outlier"]}], "remarks": remarks});
        let now = result(&[remark("outlier", "no cause seen"), remark("steal", "5 %")]);
        let then = result(&[remark("outlier", "3.0 % of a CPU"), remark("steal", "5 %")]);
        assert_eq!(as_of(6, &then, now.clone()), then);
        assert_eq!(as_of(7, &then, now.clone()), now);
        let forged = result(&[remark("outlier", "no cause seen"), remark("steal", "4 %")]);
        assert_ne!(as_of(6, &forged, now.clone()), forged);
        let without = json!({"cells": [{"flags": []}], "remarks": [remark("steal", "5 %")]});
        assert_eq!(as_of(6, &without, now.clone()), now, "the flag was taken away");
    }

    #[test]
    fn what_was_judged_and_told_otherwise_stands_beside_each_other() {
        let remark = |name: &str, detail: &str| json!({"name": name, "cell": "SEND/ftp/io", "detail": detail});
        let result = |remarks: &[Value]| json!({"passes": 6, "remarks": remarks});
        let now = result(&[remark("spread", "x"), remark("steal", "5 % (pass 1; 2 of 3)")]);
        let then = result(&[
            remark("two-groups", "y"),
            remark("spread", "x"),
            remark("steal", "5 % (2 of 3 passes)"),
        ]);
        assert_eq!(as_of(4, &then, now.clone()), then);
        assert_ne!(as_of(6, &then, now), then);
    }

    #[test]
    fn figures_of_traffic_that_are_computed_otherwise_stand() {
        let result = |value: f64, bits: u32| {
            json!({"verb": "traffic", "cells": [{"call_r": value, "bits": bits}],
                "sheet": [{"of": "a", "figure": "call_r", "value": value}, {"of": "a", "figure": "bits", "value": bits}]})
        };
        assert_eq!(as_of(3, &result(93.0, 7), result(0.0, 7)), result(93.0, 7));
        assert_eq!(as_of(4, &result(93.0, 7), result(0.0, 7)), result(0.0, 7));
        assert_ne!(as_of(3, &result(93.0, 7), result(0.0, 8)), result(93.0, 7));
    }

    #[test]
    fn intervals_of_many_passes_were_bootstraps() {
        let result = |passes: u32, ci95: [u32; 2]| {
            json!({"passes": passes, "btu_ci95_mbps": ci95, "btu_bootstrap95_mbps": [2, 3],
                "penalty_ci95_percent": ci95, "applications": [{"btu_ci95_mbps": ci95, "penalty_ci95_percent": ci95}]})
        };
        let now = |passes| result(passes, [1, 4]);
        assert_eq!(as_of(2, &result(10, [2, 3]), now(10)), result(10, [2, 3]));
        assert_eq!(as_of(3, &result(10, [2, 3]), now(10)), now(10));
        assert_eq!(as_of(2, &result(9, [2, 3]), now(9)), now(9));
        assert_eq!(as_of(2, &result(10, [0, 9]), now(10))["btu_ci95_mbps"], json!([2, 3]));
    }

    #[test]
    fn a_ping_pong_with_faults_was_complete() {
        let result = |complete: bool, faults: &[u32]| json!({"verb": "pingpong", "complete": complete, "curves": [{"faults": faults}]});
        assert_eq!(as_of(4, &result(true, &[1]), result(false, &[1]))["complete"], true);
        assert_eq!(as_of(5, &result(true, &[1]), result(false, &[1]))["complete"], false);
        assert_eq!(as_of(4, &result(true, &[]), result(false, &[]))["complete"], false);
    }
}
