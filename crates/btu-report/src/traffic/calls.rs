//! What telephone calls would be worth on the path, by the E-model, and why films have no such figure.

use btu_core::traffic::analysis::Measured;
use btu_core::traffic::analysis::Totals;
use btu_core::traffic::class;
use btu_core::traffic::plan::Group;

use super::Seen;
use super::qos::percent;
use super::span;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let rows: Vec<Vec<String>> = calls(seen).map(row).collect();
    let mut blocks = Vec::new();
    if !rows.is_empty() {
        blocks.extend([table(rows), Block::paragraph(CALLS.to_owned())]);
    }
    if seen.analysis.classes.iter().any(|carried| FILMS.contains(&carried.class.as_str())) {
        blocks.push(Block::paragraph(NO_FILMS.to_owned()));
    }
    blocks
}

/// The cells of classes that are calls.
fn calls<'a>(seen: &'a Seen<'_>) -> impl Iterator<Item = &'a Measured> {
    let is_call = |measured: &&Measured| {
        let class = measured.cell.class.as_deref().and_then(class::by_name);
        class.is_some_and(|class| class.is_call)
    };
    seen.analysis.group(Group::Class).filter(is_call)
}

fn table(rows: Vec<Vec<String>>) -> Block {
    let columns = vec![
        Column::left("sessions"),
        Column::right("p99.9"),
        Column::right("lost %"),
        Column::right("R"),
        Column::right("MOS"),
    ];
    let title = "Worth of a call by the E-model (ITU-T G.107), worst flow and pass".to_owned();
    Block::Table(Table { title, columns, rows, summary_rows: 0 })
}

fn row(measured: &Measured) -> Vec<String> {
    let most =
        |of: fn(&Totals) -> Option<f64>| measured.runs.iter().filter_map(of).max_by(f64::total_cmp);
    let worst = measured.worst_call();
    let fixed = |value: Option<f64>, digits| {
        value.map_or_else(|| number::NONE.to_owned(), |value| number::fixed(value, digits))
    };
    vec![
        measured.cell.sessions.to_string(),
        span(most(|run| run.known(run.delay_p999))),
        percent(most(|run| run.worst_loss)),
        fixed(worst.map(|rating| rating.r), 0),
        fixed(worst.map(|rating| rating.mos), 2),
    ]
}

const CALLS: &str = "R goes from 0 to 100, MOS from 1 to 4.5; a call without fault has 93 and 4.4. An estimate for G.711 with \
    concealment in packets of 20 ms, whose decoder waits until 99.9 % of those that come are there; everything \
    else has the default of G.107. Nobody listened.";
const FILMS: [&str; 2] = ["mpeg", "teleconf"];
const NO_FILMS: &str = "Films and conferences have no score: the models of ITU-T P.1203 want the coded picture (its size, \
    bitrate and stalls), and what was sent here has the sizes of frames and nothing in them.";
