//! Tables from outside: good ones, and one of each kind of bad ones.

use super::*;
use crate::run::cell::Case;

fn row(fields: &str) -> String {
    format!(r#"{{"case": "SEND", "application": "telnet", {fields}}}"#)
}

fn table(rows: &[String]) -> String {
    format!(r#"{{"activities_base": {{"cpu": 100.0}}, "cells": [{}]}}"#, rows.join(",\n"))
}

fn error(fields: &str) -> String {
    score_table(&table(&[row(fields)])).unwrap_err().to_string()
}

#[test]
fn numbers_of_which_no_mean_could_be_told_are_refused() {
    let rate = error(r#""activity": "none", "bits": 1e308, "seconds": 1"#);
    assert!(
        rate.contains(").bits: 1e+308: a number above 0 is expected (bits), 1e-100 to 1e100"),
        "{rate}"
    );
    let slow = error(r#""activity": "cpu", "goodput_mbps": 1, "slowdown": 1e-320"#);
    assert!(slow.contains("1e-100 to 1e100"), "{slow}");
    let most = row(r#""activity": "cpu", "goodput_mbps": 1e100, "slowdown": 1e100"#);
    let found = score_table(&table(&[most.clone(), most])).unwrap();
    let means = [found.goodput_am_mbps, found.penalty_percent, found.penalty_classic_percent];
    assert!(means.iter().all(|mean| mean.unwrap().is_finite()), "{means:?}");
}

/// Repeats of 1 and 4 Mb/s at base 100: rates 50 and 12.5 are slowdowns 2 and 8.
#[test]
fn rates_and_repeats_are_folded() {
    let text = table(&[
        row(r#""activity": "cpu", "repeat": 1, "bits": 2e6, "seconds": 2, "activity_rate": 50"#),
        row(r#""activity": "cpu", "repeat": 2, "bits": 8000000, "seconds": 2, "slowdown": 8,
              "activity_rate": 12.5, "goodput_mbps": 4.0"#),
    ]);
    let found = score_table(&text).unwrap();
    assert!((found.btu_mbps.unwrap() - 2.0).abs() < 1e-12);
    assert!((found.penalty_percent.unwrap() - 300.0).abs() < 1e-9);
    assert!((found.penalty_classic_percent.unwrap() - 300.0).abs() < 1e-9);
    assert_eq!(found.btu_idle_mbps, None);
    assert_eq!(found.btu_idle_mbps_reason.as_deref(), Some("no cells with activity none"));
    assert_eq!((found.cells, found.rows, found.partial), (1, 2, false));
}

#[test]
fn rows_without_a_number_are_repeats_in_order() {
    let twice = row(r#""activity": "none", "bits": 1e6, "seconds": 1"#);
    assert_eq!(score_table(&table(&[twice.clone(), twice.clone()])).unwrap().cells, 1);
    let second = row(r#""activity": "none", "repeat": 2, "bits": 1e6, "seconds": 1"#);
    let found = score_table(&table(&[second.clone(), twice.clone(), twice.clone()])).unwrap();
    assert_eq!((found.cells, found.rows), (1, 3), "1 and 3 are free");
    let error = score_table(&table(&[twice.clone(), twice, second])).unwrap_err().to_string();
    assert!(error.contains("stand in the table twice"), "{error}");
}

#[test]
fn an_application_of_no_edition_is_scored() {
    let text = r#"{"cells": [{"case": "RECV", "application": "chat", "activity": "io",
        "bits": 3e6, "seconds": 1, "slowdown": 0.9}]}"#;
    let found = score_table(text).unwrap();
    assert_eq!(found.applications[0].name, "chat");
    let reason = found.penalty_classic_percent_reason.unwrap();
    assert_eq!(reason, "undefined (1 of 1 terms <= 0)");
}

#[test]
fn a_goodput_that_is_not_bits_over_seconds_is_refused() {
    let found = error(
        r#""activity": "none", "repeat": 3, "bits": 1e6, "seconds": 1, "goodput_mbps": 1.00001"#,
    );
    assert_eq!(
        found,
        "cells[0] (SEND/telnet/none, repeat 3): goodput_mbps = 1.00001, but bits / seconds = \
         1000000 / 1 s = 1 Mb/s"
    );
    let close = row(r#""activity": "none", "bits": 1e6, "seconds": 1, "goodput_mbps": 1.0000005"#);
    let found = score_table(&table(&[close])).unwrap();
    assert_eq!(found.btu_idle_mbps, Some(1.0), "bits / seconds wins");
}

#[test]
fn a_goodput_may_stand_alone() {
    let found = score_table(&table(&[row(r#""activity": "none", "goodput_mbps": 3.5"#)])).unwrap();
    assert_eq!(found.btu_idle_mbps, Some(3.5));
    let half = error(r#""activity": "none", "bits": 1, "goodput_mbps": 3.5"#);
    assert!(half.ends_with("seconds is missing; write bits and seconds, or goodput_mbps alone"));
}

#[test]
fn contradictions_name_their_cell() {
    let cpu = r#""activity": "cpu", "bits": 1, "seconds": 1"#;
    let none = r#""activity": "none", "bits": 1, "seconds": 1"#;
    for (fields, want) in [
        (format!(r#"{cpu}, "slowdown": 3, "activity_rate": 50"#), "slowdown = 3, but base"),
        (format!(r#"{none}, "slowdown": 2"#), "activity none cannot be slowed"),
        (format!(r#"{none}, "activity_rate": 2"#), "activity none does nothing"),
    ] {
        let found = error(&fields);
        assert!(found.starts_with("cells[0] (SEND/telnet/") && found.contains(want), "{found}");
    }
    let twice = row(&format!(r#"{cpu}, "repeat": 1"#));
    let found = score_table(&table(&[twice.clone(), twice])).unwrap_err().to_string();
    assert!(found.contains("cells[1] (SEND/telnet/cpu, repeat 1): this cell"), "{found}");
}

#[test]
fn bad_values_name_place_value_and_what_is_legal() {
    for (fields, want) in [
        (
            r#""activity": "none", "bits": 0, "seconds": 1"#,
            "cells[0] (SEND/telnet/none, repeat 1).bits: 0: a number above 0",
        ),
        (r#""activity": "none", "bits": 1, "seconds": "1s""#, ".seconds: \"1s\": a number above 0"),
        (r#""activity": "none", "bits": 1"#, "seconds is missing"),
        (r#""activity": "", "bits": 1, "seconds": 1"#, "cells[0].activity: \"\": a name"),
        (r#""bits": 1, "seconds": 1"#, "cells[0]: activity is missing"),
        (r#""activity": "cpu", "repeat": 0, "bits": 1, "seconds": 1"#, "whole number from 1"),
        (
            r#""activity": "cpu", "bits": 1, "seconds": 1, "slow": 2"#,
            "unknown key \"slow\"; legal keys: case, ",
        ),
        (r#""activity": "io", "bits": 1, "seconds": 1, "activity_rate": 2"#, "activities_base.io"),
    ] {
        let found = error(fields);
        assert!(found.contains(want), "{found}\n  misses: {want}");
    }
}

#[test]
fn bad_documents_are_refused_with_their_place() {
    for (text, want) in [
        ("{\"cells\": [\n  }", "line 2, column 3: expected value"),
        ("[]", "the document: []: an object"),
        ("{}", "the document: cells is missing"),
        (r#"{"cells": null}"#, "the document: cells is missing"),
        (r#"{"cells": {}}"#, "cells: {}: a list [...] is expected"),
        (r#"{"cells": "none"}"#, "cells: \"none\": a list [...] is expected"),
        (r#"{"cells": []}"#, "cells: 0 rows that count: at least one row"),
        (r#"{"cells": [5]}"#, "cells[0]: 5: an object"),
        (r#"{"activities": {"cpu": 1}, "cells": []}"#, "activities: {\"cpu\":1}: a list [...]"),
        (r#"{"cell": []}"#, "the document: unknown key \"cell\""),
        (r#"{"activities_base": {"cpu": -1}, "cells": []}"#, "activities_base.cpu: -1: a number"),
        (
            r#"{"cells": [{"case": "SENT", "application": "a", "activity": "b", "bits": 1, "seconds": 1}]}"#,
            "cells[0].case: SENT: unknown case \"SENT\"; write SEND, RECV",
        ),
    ] {
        let found = score_table(text).unwrap_err().to_string();
        assert!(found.starts_with(want), "{found}\n  does not begin with: {want}");
    }
}

#[test]
fn a_table_with_holes_is_partial_and_says_which_slowdowns_it_lacks() {
    let text = r#"{"cells": [
        {"case": "SEND", "application": "a", "activity": "cpu", "bits": 1e6, "seconds": 1, "slowdown": 2},
        {"case": "RECV", "application": "a", "activity": "cpu", "bits": 1e6, "seconds": 1, "slowdown": null},
        {"case": "SEND", "application": "b", "activity": "cpu", "bits": 1e6, "seconds": 1, "slowdown": 2}]}"#;
    let found = score_table(text).unwrap();
    assert!(found.partial && found.warnings[0].starts_with("PARTIAL"));
    assert!(found.warnings[1].starts_with("1 of 3 loaded rows"), "{:?}", found.warnings);
    assert!((found.penalty_percent.unwrap() - 100.0).abs() < 1e-9);
}

/// A result's own bases belong to one pass each, and its rows of an incomplete pass do not count.
#[test]
fn a_result_is_read_with_its_own_rules() {
    let text = r#"{"schema_version": "1.0.0", "rankable": false,
        "activities": [{"activity": "cpu", "repeat": 1, "rate_per_s": 100, "units": 50},
                       {"activity": "cpu", "repeat": 2, "rate_per_s": 200, "units": 100}],
        "activities_base": {"cpu": 141.4213562373095},
        "cells": [
        {"case": "SEND", "application": "a", "activity": "cpu", "repeat": 1, "bits": 1e6, "seconds": 1, "slowdown": 2, "activity_rate_per_s": 50, "flags": []},
        {"case": "SEND", "application": "a", "activity": "cpu", "repeat": 2, "bits": 1e6, "seconds": 1, "slowdown": 4, "activity_rate_per_s": 50, "flags": ["steal"]},
        {"case": "SEND", "application": "a", "activity": "cpu", "repeat": 3, "bits": 9e6, "seconds": 1, "slowdown": 9, "flags": [{"name": "incomplete-pass", "detail": ""}]}]}"#;
    let found = score_table(text).unwrap();
    assert!((found.btu_mbps.unwrap() - 1.0).abs() < 1e-12);
    assert!((found.penalty_percent.unwrap() - (8.0_f64.sqrt() - 1.0) * 100.0).abs() < 1e-9);
    assert_eq!(found.warnings, ["1 row of an incomplete pass left out"]);
}

#[test]
fn a_row_that_is_a_bound_is_told() {
    let rows = |flags: &str| {
        let flagged = format!(
            r#""activity": "cpu", "goodput_mbps": 1, "slowdown": 2, "repeat": 1, "flags": [{flags}]"#
        );
        let plain = r#""activity": "cpu", "goodput_mbps": 1, "slowdown": 2, "repeat": 2"#;
        score_table(&table(&[row(&flagged), row(plain)])).unwrap().warnings
    };
    let told = "CENSORED: 1 row met a cap, failed, or had an activity that finished nothing: the figures are bounds".to_owned();
    assert!(rows(r#""steal", "censored""#).contains(&told));
    assert!(!rows(r#""steal""#).contains(&told));
    assert!(rows(r#""steal""#)[0].starts_with("flag \"steal\" changes no figure here"));
    let refused = |flags: &str| {
        let flagged = format!(
            r#""activity": "cpu", "goodput_mbps": 1, "slowdown": 2, "repeat": 1, "flags": {flags}"#
        );
        score_table(&table(&[row(&flagged)])).unwrap_err().to_string()
    };
    assert!(refused(r#"["CENSORED"]"#).ends_with("\"CENSORED\": write censored"));
    for wrong in ["5", r#""censored""#, "[7]"] {
        assert!(refused(wrong).contains(".flags: "), "{}", refused(wrong));
    }
}

/// What applications get and what they would get alone are of the same cells, or not to be compared.
#[test]
fn baselines_of_other_cells_make_a_table_partial() {
    let cell = |case: &str, rest: &str| {
        format!(r#"{{"case": "{case}", "application": "telnet", "goodput_mbps": 10, {rest}}}"#)
    };
    let (loaded, idle) = (r#""activity": "cpu", "slowdown": 2"#, r#""activity": "none""#);
    let partial = |idle_case: &str| {
        let cells = [cell("SEND", loaded), cell(idle_case, idle)];
        score_table(&table(&cells)).unwrap().partial
    };
    assert!(partial("RECV") && !partial("SEND"));
}

#[test]
fn a_class_has_one_message_size_or_says_that_it_is_not_known() {
    let sized = |case: &str, bytes: u64| {
        format!(
            r#"{{"case": "{case}", "application": "telnet", "activity": "cpu", "slowdown": 2,
                "goodput_mbps": 1, "message_bytes": {bytes}}}"#
        )
    };
    let found = score_table(&table(&[sized("SEND", 128), sized("RECV", 128)])).unwrap();
    assert_eq!(found.applications[0].message_bytes, Some(128));
    let error = score_table(&table(&[sized("SEND", 128), sized("RECV", 64)])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cells[1] (RECV/telnet/cpu, repeat 1): message_bytes = 64, but another row of telnet has 128"
    );
    let silent = row(r#""activity": "none", "goodput_mbps": 1"#);
    let class = &score_table(&table(&[silent])).unwrap().applications[0];
    assert_eq!(class.message_bytes, None);
    assert_eq!(class.message_bytes_reason.as_deref(), Some("the table does not say"));
    assert_eq!(class.btu_mbps_reason.as_deref(), Some("no loaded cells"));
}

#[test]
fn classes_stand_in_order_of_their_message_size_and_unknown_ones_last() {
    let row = |application: &str, more: &str| {
        format!(
            r#"{{"case": "SEND", "application": "{application}", "activity": "cpu", "goodput_mbps": 1, "slowdown": 2{more}}}"#
        )
    };
    let rows = [
        row("video", ""),
        row("zeal", ""),
        row("chat", r#", "message_bytes": 512"#),
        row("audio", ""),
        row("alone", ""),
        row("telnet", r#", "message_bytes": 2000"#),
        row("ftp", ""),
    ];
    let found = score_table(&table(&rows)).unwrap();
    let names: Vec<&str> = found.applications.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["chat", "ftp", "audio", "telnet", "video", "zeal", "alone"]);
}

#[test]
fn a_key_that_stands_twice_is_refused_with_its_place() {
    let text = "{\"cells\": [{\"case\": \"SEND\",\n  \"bits\": 1, \"bits\": 2}]}";
    let found = score_table(text).unwrap_err();
    assert!(matches!(found, TableError::Syntax { line: 2, .. }), "{found}");
    assert!(found.to_string().ends_with("the key \"bits\" stands here twice"), "{found}");
    let found = score_table(r#"{"cells": [], "name": "a", "cells": []}"#).unwrap_err();
    assert!(found.to_string().contains("the key \"cells\" stands here twice"), "{found}");
}

/// Rates alone of `activities` beside the common one of cpu, and a cell of each of these activities.
fn with_rates(activities: &str, cells: &[(&str, f64)]) -> Result<TableScore, TableError> {
    let cell = |(activity, rate): &(&str, f64)| {
        row(&format!(r#""activity": "{activity}", "goodput_mbps": 1, "activity_rate": {rate}"#))
    };
    let cells: Vec<String> = cells.iter().map(cell).collect();
    score_table(&format!(
        r#"{{"activities_base": {{"cpu": 100}}, "activities": [{activities}], "cells": [{}]}}"#,
        cells.join(", ")
    ))
}

#[test]
fn an_activity_without_repeats_of_its_own_has_the_common_base() {
    let io = r#"{"activity": "io", "repeat": 1, "rate_per_s": 40, "note": "by hand"}"#;
    // cpu: 100 / 50 = 2; io: 40 / 5 = 8; their geometric mean is 4.
    let found = with_rates(io, &[("cpu", 50.0), ("io", 5.0)]).unwrap();
    assert!((found.penalty_percent.unwrap() - 300.0).abs() < 1e-9, "{found:?}");
    let other =
        with_rates(r#"{"activity": "cpu", "repeat": 2, "rate_per_s": 40}"#, &[("cpu", 5.0)]);
    let other = other.unwrap_err().to_string();
    let wanted =
        "slowdown is missing; the rate beside COMM needs a row of cpu, repeat 1, in activities";
    assert!(other.contains(wanted), "{other}");
}

#[test]
fn a_rate_alone_that_stands_twice_or_is_called_otherwise_is_refused() {
    let cpu = r#"{"activity": "cpu", "repeat": 1, "rate_per_s": 100}"#;
    for (activities, wanted) in [
        (
            format!("{cpu}, {}", cpu.replace("100", "10")),
            "activities[1] (cpu, repeat 1): this activity and repeat stand in the table twice",
        ),
        (
            cpu.replace("rate_per_s", "rate"),
            "activities[0]: unknown key \"rate\"; legal keys: activity, repeat, rate_per_s, note",
        ),
        (
            cpu.replace("100", "null"),
            "activities[0]: rate_per_s is missing; write its units per second, or leave the row out",
        ),
    ] {
        let found = with_rates(&activities, &[("cpu", 50.0)]).unwrap_err().to_string();
        assert!(found.starts_with(wanted), "{found}\n  misses: {wanted}");
    }
}

/// Somebody cuts rows out of a result: they are a table, with the names that a result has.
#[test]
fn a_rate_has_the_name_of_a_result_or_of_a_table() {
    let cpu = |fields: &str| row(&format!(r#""activity": "cpu", "goodput_mbps": 1, {fields}"#));
    for key in ["activity_rate_per_s", "activity_rate"] {
        let found = score_table(&table(&[cpu(&format!(r#""{key}": 50"#))])).unwrap();
        assert!((found.penalty_percent.unwrap() - 100.0).abs() < 1e-9, "{key}: {found:?}");
        let wrong = cpu(&format!(r#""slowdown": 6, "{key}": 50"#));
        let wrong = score_table(&table(&[wrong])).unwrap_err().to_string();
        let wanted = format!("repeat 1): slowdown = 6, but base / {key} = 100 / 50 = 2");
        assert!(wrong.ends_with(&wanted), "{wrong}");
    }
    let two = cpu(r#""activity_rate_per_s": 50, "activity_rate": 40"#);
    let two = score_table(&table(&[two])).unwrap_err().to_string();
    assert!(two.ends_with("activity_rate = 40, but activity_rate_per_s = 50: they are one rate"));
}

#[test]
fn an_activity_that_nothing_says_a_word_of_is_told_and_a_slip_of_none_is_refused() {
    let of = |activity: &str, more: &str| {
        let fields = format!(r#""activity": "{activity}", "goodput_mbps": 1{more}"#);
        score_table(&table(&[row(&fields)])).map_err(|error| error.to_string())
    };
    let told = |activity: &str| {
        let warnings = of(activity, r#", "slowdown": 2"#).unwrap().warnings;
        warnings.into_iter().filter(|told| told.contains("of no edition")).collect::<Vec<_>>()
    };
    assert_eq!(
        told("gpu"),
        [
            "activity \"gpu\" is of no edition (or is it cpu?), and activities_base has no rate of it; editions \
             have cpu, ftp, io"
        ]
    );
    assert!(told("cpu").is_empty());
    let wanted = "cells[0] (SEND/telnet/non, repeat 1).activity: non: unknown activity: write none, if the host was idle";
    assert_eq!(of("non", "").unwrap_err(), wanted);
    // A loaded host is no idle one, whatever its load is called.
    assert_eq!(told("node").len(), 1);
    let own = r#"{"activities_base": {"gpu": 8},
        "activities": [{"activity": "disk", "repeat": 1, "rate_per_s": 4}], "cells": [
        {"case": "SEND", "application": "ftp", "activity": "gpu", "goodput_mbps": 1, "activity_rate": 4},
        {"case": "SEND", "application": "ftp", "activity": "disk", "goodput_mbps": 1, "slowdown": 2}]}"#;
    let own = score_table(own).unwrap();
    assert!((own.penalty_percent.unwrap() - 100.0).abs() < 1e-9);
    assert!(!own.warnings.iter().any(|told| told.contains("of no edition")), "{own:?}");
}

#[test]
fn a_class_of_no_edition_without_a_message_size_is_told() {
    let of = |application: &str, more: &str| {
        let text = format!(
            r#"{{"cells": [{{"case": "SEND", "application": "{application}", "activity": "cpu",
                "goodput_mbps": 1, "slowdown": 2{more}}}]}}"#
        );
        let warnings = score_table(&text).unwrap().warnings;
        warnings.into_iter().filter(|told| told.contains("edition,")).collect::<Vec<_>>()
    };
    assert_eq!(
        of("smtp", ""),
        [
            "application \"smtp\" is of no edition, and no row gives its message_bytes; editions have \
          telnet, ftp, audio, netscape, video"
        ]
    );
    assert!(of("smtp", r#", "message_bytes": 500"#).is_empty() && of("video", "").is_empty());
}

#[test]
fn a_result_of_another_version_or_verb_is_refused() {
    let cells = r#""cells": [{"case": "SEND", "application": "ftp", "activity": "none", "goodput_mbps": 1}]"#;
    for version in ["1.0.0", "1.1.0", "1.99.3"] {
        let text = format!(r#"{{"schema_version": "{version}", {cells}}}"#);
        assert!(score_table(&text).is_ok(), "{version}");
    }
    for (head, wanted) in [
        (r#""schema_version": "9.0.0""#, "schema_version: \"9.0.0\": results of version 1.0.0"),
        (r#""schema_version": 1"#, "schema_version: 1: results of"),
        (
            r#""schema_version": "1.1.0", "verb": "traffic""#,
            "verb: \"traffic\": only the result.json",
        ),
    ] {
        let found = score_table(&format!("{{{head}, {cells}}}")).unwrap_err().to_string();
        assert!(found.starts_with(wanted), "{found}\n  misses: {wanted}");
    }
}

#[test]
fn a_result_says_itself_whether_it_is_whole() {
    let of = |partial: &str| {
        let text = format!(
            r#"{{"schema_version": "1.1.0"{partial}, "cells": [{{"case": "SEND", "application": "mine",
                "activity": "idle", "goodput_mbps": 1, "slowdown": 2}}]}}"#
        );
        let found = score_table(&text).unwrap();
        (found.partial, found.warnings.len())
    };
    assert_eq!(of(r#", "partial": false"#), (false, 0));
    assert_eq!((of(r#", "partial": true"#), of("")), ((true, 1), (false, 0)));
}

/// Whoever leaves cases out, as `--cases` does, has a part of the matrix.
#[test]
fn a_table_is_whole_with_all_that_an_edition_measures() {
    let all = |cases: &[Case], activities: &[&str]| {
        let mut rows = Vec::new();
        for case in cases {
            for application in names::APPLICATIONS {
                for activity in activities {
                    rows.push(format!(
                        r#"{{"case": "{}", "application": "{application}", "activity": "{activity}",
                            "goodput_mbps": 1, "slowdown": 2}}"#,
                        case.name()
                    ));
                }
            }
        }
        score_table(&table(&rows)).unwrap()
    };
    let whole = all(&Case::ALL, &names::ACTIVITIES);
    assert_eq!((whole.partial, whole.warnings), (false, Vec::new()));
    let two = all(&[Case::Send], &["cpu", "io"]);
    assert!(!two.partial);
    assert_eq!(
        two.warnings,
        [
            "less than an edition measures among the loaded cells: no case RECV, SEND+DL, SEND_RECV, 2RECV+DL, 2SEND+DR; \
             no activity ftp"
        ]
    );
    let idle = score_table(&table(&[row(r#""activity": "none", "goodput_mbps": 3.5"#)])).unwrap();
    assert_eq!(idle.warnings, ["less than an edition measures: no loaded cell"]);
}

/// A row that nobody wrote is as missing as one that says nothing.
#[test]
fn a_repeat_that_lacks_a_row_is_no_whole_one() {
    let table = r#"{"cells": [
        {"case": "SEND", "application": "telnet", "activity": "cpu", "repeat": 1, "goodput_mbps": 10, "slowdown": 2},
        {"case": "SEND", "application": "telnet", "activity": "cpu", "repeat": 2, "goodput_mbps": 10, "slowdown": 4},
        {"case": "SEND", "application": "telnet", "activity": "io", "repeat": 1, "goodput_mbps": 10, "slowdown": 8}
    ]}"#;
    let scored = score_table(table).unwrap();
    assert!((scored.penalty_percent.unwrap() - 300.0).abs() < 1e-9, "{scored:?}");
    let lacks = "1 of 4 loaded rows have no slowdown, or are missing, the first is SEND/telnet/io, repeat 2; the \
                 penalty is over 1 of 2 repeats, which have them all";
    assert!(scored.warnings.iter().any(|warning| warning == lacks), "{:?}", scored.warnings);
}
