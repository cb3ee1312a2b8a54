//! What `btu score` prints of a table that somebody else measured.

use btu_core::run::score::ClassResult;
use btu_core::run::score::TableScore;
use btu_core::words::several;
use serde::Serialize;

use crate::document::Block;
use crate::document::Column;
use crate::document::Document;
use crate::document::Level;
use crate::document::Pair;
use crate::document::Part;
use crate::document::Table;
use crate::format::blocks_as_text;
use crate::number;
use crate::result::version::SCORE_SCHEMA_VERSION;

/// The score of a table for people.
pub fn score_text(score: &TableScore) -> String {
    let warnings = Block::List { items: score.warnings.clone() };
    let blocks = [Block::Facts { rows: figures(score) }, Block::Table(classes(score)), warnings];
    let part =
        Part { name: "score", title: "Score", level: Level::Headline, blocks: blocks.into() };
    let document = Document {
        title: "Score of a table".to_owned(),
        caption: String::new(),
        sections: vec![part],
    };
    document.cleaned().sections.iter().map(|part| blocks_as_text(&part.blocks)).collect()
}

/// The score of a table for programs: one JSON document and a newline.
pub fn score_json(score: &TableScore) -> String {
    let document = Versioned { schema_version: SCORE_SCHEMA_VERSION, score };
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Versioned<'s> {
    schema_version: &'static str,
    #[serde(flatten)]
    score: &'s TableScore,
}

fn figures(score: &TableScore) -> Vec<Pair> {
    let mbps =
        |value: Option<f64>| value.map(|value| format!("{} Mb/s", number::any_figure(value)));
    let percent =
        |value: Option<f64>| value.map(|value| format!("{} %", number::any_percent(value)));
    let partial = if score.partial { "  PARTIAL" } else { "" };
    let pair = |name: &str, value: Option<String>, reason: &Option<String>| {
        Pair::new(name, value.or_else(|| reason.clone()).unwrap_or_else(|| "none".to_owned()))
    };
    let mut pairs = vec![
        pair("BTU", mbps(score.btu_mbps).map(|text| text + partial), &score.btu_mbps_reason),
        pair("Penalty", percent(score.penalty_percent), &score.penalty_percent_reason),
        pair("BTU idle", mbps(score.btu_idle_mbps), &score.btu_idle_mbps_reason),
        pair(
            "Penalty, 1996",
            percent(score.penalty_classic_percent),
            &score.penalty_classic_percent_reason,
        ),
    ];
    let means = [score.goodput_am_mbps, score.goodput_gm_mbps, score.goodput_hm_mbps];
    let [am, gm, hm] = means.map(|mean| or_none(mean, number::any_figure));
    pairs.push(Pair::new("Loaded cells", format!("AM {am}, GM {gm}, HM {hm} Mb/s")));
    pairs.push(Pair::new(
        "Table",
        format!("{}, {}", several(score.rows, "row"), several(score.cells, "cell")),
    ));
    pairs
}

fn classes(score: &TableScore) -> Table {
    let row = |class: &ClassResult| {
        vec![
            class.name.clone(),
            or_none(class.btu_mbps, number::any_figure),
            or_none(class.btu_idle_mbps, number::any_figure),
            or_none(class.penalty_percent, number::any_percent),
            or_none(class.penalty_classic_percent, number::any_percent),
        ]
    };
    Table {
        title: String::new(),
        columns: vec![
            Column::left("class"),
            Column::right("BTU Mb/s"),
            Column::right("idle Mb/s"),
            Column::right("penalty %"),
            Column::right("of 1996 %"),
        ],
        rows: score.applications.iter().map(row).collect(),
        summary_rows: 0,
    }
}

/// A table from outside may hold any number.
fn or_none(value: Option<f64>, form: fn(f64) -> String) -> String {
    value.map_or_else(|| number::NONE.to_owned(), form)
}

#[cfg(test)]
mod tests {
    use btu_core::run::score::score_table;

    use super::*;

    /// The least and the most that a table may hold.
    #[test]
    fn extremes_are_shown_in_powers_of_ten() {
        let cells = ["1e-100", "1e100"].map(|figure| {
            format!(
                r#"{{"cells": [{{"case": "SEND", "application": "audio", "activity": "cpu",
                    "goodput_mbps": {figure}, "slowdown": {figure}}}]}}"#
            )
        });
        for (cells, shown) in cells.iter().zip(["1.00e-100 Mb/s", "1.00e100 Mb/s"]) {
            let text = score_text(&score_table(cells).unwrap());
            assert!(text.contains(shown), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }

    #[test]
    fn a_table_of_two_cells_reads_as_text() {
        let table = r#"{"activities_base": {"cpu": 100.0}, "cells": [
            {"case": "SEND", "application": "audio", "activity": "none", "repeat": 1,
             "bits": 4000000, "seconds": 1.0},
            {"case": "SEND", "application": "audio", "activity": "cpu", "repeat": 1,
             "bits": 2000000, "seconds": 1.0, "activity_rate": 80.0}]}"#;
        let score = score_table(table).unwrap();
        let text = score_text(&score);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..3],
            ["BTU            2.00 Mb/s", "Penalty        25.0 %", "BTU idle       4.00 Mb/s",]
        );
        assert!(lines.contains(&"audio      2.00       4.00       25.0       25.0"), "{text}");
        assert!(score_json(&score).contains("\"btu_mbps\": 2.0"));
    }
}
