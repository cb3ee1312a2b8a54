//! T14: sheets of one line agree and tell a slower one, and a sheet of every class has every line.

use anyhow::Context;
use anyhow::Result;
use serde_json::Value;

use super::Verb;
use super::all_of;
use super::judged;

/// The sheet twice on one line, and on one that is a fifth slower; and whole, with every class.
pub(super) fn sheets(program: &Verb<'_>) -> Result<usize> {
    let sheet = |name: &str, rate: &str| {
        program.measure(name, &["qos", "voice,rpc", "--passes", "5", "--rate", rate])
    };
    let one = sheet("sheet-1", "10Mbit/s")?;
    let (two, slow) = (sheet("sheet-2", "10Mbit/s")?, sheet("sheet-slow", "8Mbit/s")?);
    let mut missed = 0;
    let overlap = |a: [f64; 2], b: [f64; 2]| a[0] <= b[1] && b[0] <= a[1];
    let of = |sheet: &Value, line: &Value| {
        let mut lines = all_of(sheet, "sheet").into_iter();
        let same =
            lines.find(|other| ["of", "figure"].iter().all(|key| other[*key] == line[*key]))?;
        Some([same["interval"][0].as_f64()?, same["interval"][1].as_f64()?])
    };
    let lines = all_of(&one, "sheet");
    let known = lines.iter().filter_map(|line| of(&one, line).zip(of(&two, line)));
    let known: Vec<bool> = known.map(|(a, b)| overlap(a, b)).collect();
    let met = known.iter().filter(|met| **met).count();
    let told =
        format!("T14 {met} of {} lines of two sheets overlap, nine of ten wanted", known.len());
    missed += judged(&told, known.len() > 20 && met * 10 >= known.len() * 9);
    for figure in ["mu_bit_s", "knee_bit_s", "capacity_bit_s"] {
        let line = serde_json::json!({"of": "path", "figure": figure});
        let bounds = |sheet| of(sheet, &line).with_context(|| format!("no {figure}"));
        let (a, b, c) = (bounds(&one)?, bounds(&two)?, bounds(&slow)?);
        let told = format!("T14 {figure}: {c:?} is below {a:?} and {b:?}");
        missed += judged(&told, c[1] < a[0] && c[1] < b[0]);
    }
    let whole = program.measure("sheet-whole", &["qos", "--rate", "20Mbit/s", "--seed", "1"])?;
    Ok(missed + judge_whole(&whole))
}

/// A sheet of a line that carries a session of each class lacks nothing.
fn judge_whole(sheet: &Value) -> usize {
    let lines = all_of(sheet, "sheet");
    let mut missed = judged("T14 the sheet of all classes is complete", sheet["complete"] == true);
    for (of, figure) in expected() {
        let line = lines.iter().find(|line| line["of"] == *of && line["figure"] == *figure);
        if line.is_none_or(|line| !is_sound(line)) {
            let said = line.map_or_else(|| "is not there".to_owned(), ToString::to_string);
            missed += judged(&format!("T14 {figure} of {of}: {said}"), false);
        }
    }
    let odd: Vec<_> = lines.iter().filter(|line| !is_sound(line) && !is_told(line)).collect();
    let told = format!("T14 {} lines of all classes, each with its figure: {odd:?}", lines.len());
    missed + judged(&told, lines.len() >= expected().len() && odd.is_empty())
}

/// A finite figure with the cells that it comes from, within its interval where it has one. No number is null in JSON.
fn is_sound(line: &Value) -> bool {
    let within = |value: f64| match line["interval"].as_array().map(Vec::as_slice) {
        None => line["interval"].is_null(),
        Some([low, high]) => low.as_f64().zip(high.as_f64()).is_some_and(|(low, high)| {
            // Both ends and the mean are rounded by themselves.
            low <= value * (1.0 + 1e-9) && value <= high * (1.0 + 1e-9)
        }),
        Some(_) => false,
    };
    let has_cells = line["cells"].as_array().is_some_and(|cells| !cells.is_empty());
    let least = if line["figure"] == "sessions" { 1.0 } else { 0.0 };
    has_cells && line["value"].as_f64().is_some_and(|value| value >= least && within(value))
}

/// A line that says why it has no figure, and need not have one: the delay of a short queue does not double.
fn is_told(line: &Value) -> bool {
    let may_lack =
        !expected().iter().any(|(of, figure)| line["of"] == **of && line["figure"] == **figure);
    let reason = line["value_reason"].as_str();
    may_lack && line["value"].is_null() && reason.is_some_and(|reason| !reason.is_empty())
}

/// What each line is of, and its figure.
fn expected() -> Vec<(&'static str, &'static str)> {
    let pairs = |of: &'static str, figures: &'static [&'static str]| {
        figures.iter().map(move |figure| (of, *figure))
    };
    let mut all: Vec<_> = pairs("path", &PATH).collect();
    for load in ["50 % of the knee", "80 % of the knee", "95 % of the knee"] {
        all.extend(
            pairs(load, &["arrival_rate_bit_s", "window_delay_s"]).chain(pairs(load, &DELAYS)),
        );
    }
    all.extend(CLASSES.iter().flat_map(|(class, _)| pairs(class, &["sessions"])));
    all.extend(
        CLASSES.iter().flat_map(|(class, sets)| sets.iter().flat_map(|set| pairs(class, set))),
    );
    all
}

const PATH: [&str; 10] = [
    "mu_bit_s",
    "knee_bit_s",
    "capacity_bit_s",
    "idle_delay_s",
    "least_round_trip_s",
    "stream_rpm",
    "efficiency_percent",
    "buffer_delay_percent",
    "rpm",
    "idle_rpm",
];
const DELAYS: [&str; 6] = [
    "delay_p50_s",
    "delay_p95_s",
    "delay_p99_s",
    "delay_p99_at_least_s",
    "delay_p999_s",
    "pdv_p99_s",
];
const OF_DATAGRAMS: [&str; 2] = ["lost_share", "reordered_share"];
/// Of a class with a limit of delay.
const OVERLOADS: [&str; 2] = ["overload_of_1_5_mu_s", "overload_of_2_mu_s"];
/// Every class, and what its lines tell beside the number of its sessions. A full stream has no blocks that wait.
const CLASSES: [(&str, &[&[&str]]); 6] = [
    ("bulk", &[]),
    ("mpeg", &[&DELAYS, &OF_DATAGRAMS, &OVERLOADS]),
    ("rpc", &[&DELAYS]),
    ("teleconf", &[&DELAYS, &OF_DATAGRAMS, &OVERLOADS]),
    ("voice", &[&DELAYS, &OF_DATAGRAMS, &OVERLOADS, &["call_r"]]),
    ("web", &[&DELAYS, &OVERLOADS]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Vec<Value> {
        let line = |(of, figure)| {
            serde_json::json!({ "of": of, "figure": figure, "value": 2.0, "interval": [1.0, 3.0],
                "passes": 3, "cells": [1] })
        };
        expected().into_iter().map(line).collect()
    }

    fn missed(lines: &[Value]) -> usize {
        judge_whole(&serde_json::json!({ "complete": true, "sheet": lines }))
    }

    #[test]
    fn a_sheet_that_lacks_a_line_is_missed() {
        let lines = whole();
        assert_eq!((lines.len(), missed(&lines)), (10 + 3 * 8 + 6 + 5 * 6 + 3 * 2 + 4 * 2 + 1, 0));
        for gone in 0..lines.len() {
            let mut fewer = lines.clone();
            fewer.remove(gone);
            assert!(missed(&fewer) > 0, "{}", lines[gone]);
        }
    }

    #[test]
    fn a_figure_that_is_none_is_missed() {
        let lines = whole();
        for (key, value) in [
            ("value", Value::Null),
            ("value", 4.0.into()),
            ("interval", serde_json::json!([null, 3.0])),
            ("cells", serde_json::json!([])),
        ] {
            let mut other = lines.clone();
            other[0][key] = value;
            assert!(missed(&other) > 0, "{}", other[0]);
        }
        // A figure that need not be there is missed only where nothing is said of it.
        let mut told = lines.clone();
        told.push(serde_json::json!({ "of": "path", "figure": "doubled_at_rho", "value": null, "cells": [1] }));
        assert!(missed(&told) > 0);
        told.last_mut().unwrap()["value_reason"] = "delay does not grow with the load".into();
        assert_eq!(missed(&told), 0);
        let mut open = lines;
        open[0]["interval"] = Value::Null;
        assert_eq!(missed(&open), 0);
        let sessions = open.iter().position(|line| line["figure"] == "sessions").unwrap();
        (open[sessions]["value"], open[sessions]["interval"]) = (0.0.into(), Value::Null);
        assert!(missed(&open) > 0);
    }
}
