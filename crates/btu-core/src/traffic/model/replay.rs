//! Recorded conversations: request, answer, think time, from a file.

use super::prelude::*;
use crate::traffic::call::Parameter;
use crate::traffic::call::Takes;
use crate::traffic::train::Conversation;
use crate::traffic::train::Script;
use crate::traffic::train::Step;
use std::collections::VecDeque;

/// The a-b-t vectors of tmix (Weigle et al., 2006): a row of the file is `REQUEST,ANSWER,THINK`, in
/// bytes, bytes and milliseconds; an empty line closes the connection. The file is repeated until the
/// duration ends. Without a file a small example runs.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "replay",
        about: "recorded conversations: request, answer, think time, from a file",
        parameters: &[
            Parameter {
                name: "file",
                takes: Takes::File,
                default: "",
                about: "rows REQUEST,ANSWER,THINK in bytes, bytes, ms; empty lines close",
                range: None,
                at_least: None,
            },
            DURATION,
        ],
    },
    source: "M. Weigle et al., tmix, ACM CCR 36(3), 2006",
    verified: Verified::No("the form of the rows is ours"),
    rates: |call| {
        let rows = rows(call);
        let think: f64 = rows.iter().flatten().map(|row| row.think.seconds()).sum();
        let sum = |part: fn(&Row) -> Bytes| -> f64 {
            rows.iter().flatten().map(|row| float(part(row).count())).sum()
        };
        [sum(|row| row.request) / think, sum(|row| row.answer) / think]
    },
    train: |call, _| {
        let (rows, at) = (rows(call), 0);
        Train::Closed(Box::new(Conversation::new(Box::new(Replay { rows, at }))))
    },
    claims: |_| Vec::new(),
};

#[derive(Clone, Copy, Debug)]
struct Row {
    request: Bytes,
    answer: Bytes,
    think: Nanos,
}

/// The rows over and over; `None` closes the connection.
#[derive(Debug)]
struct Replay {
    rows: Vec<Option<Row>>,
    at: usize,
}

impl Script for Replay {
    fn more(&mut self, _elapsed: Nanos, steps: &mut VecDeque<Step>) {
        let row = self.rows[self.at % self.rows.len()];
        self.at += 1;
        match row {
            None => steps.push_back(Step::Close(0)),
            Some(row) => {
                steps.push_back(Step::Ask(vec![(0, row.request, row.answer)]));
                steps.push_back(Step::Think(row.think));
            }
        }
    }
}

/// The rows of the file that can be read; the example if there are none that take time.
fn rows(call: &Call) -> Vec<Option<Row>> {
    let rows = read(call.file("file").unwrap_or(EXAMPLE));
    let lasts = rows.iter().flatten().any(|row| row.think > Nanos::ZERO);
    if lasts { rows } else { read(EXAMPLE) }
}

fn read(text: &str) -> Vec<Option<Row>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| if line.is_empty() { Some(None) } else { row(line).map(Some) })
        .collect()
}

fn row(line: &str) -> Option<Row> {
    let mut fields = line.split(',').map(|field| field.trim().parse::<f64>().ok());
    let mut field = || fields.next().flatten().filter(|number| (0.0..=1e12).contains(number));
    let (request, answer, think) = (field()?, field()?, field()?);
    Some(Row {
        request: Bytes::new(whole(request).max(1)),
        answer: Bytes::new(whole(answer)),
        think: Nanos::new(whole(ms(think))),
    })
}

/// A page with its style and picture, then a second page.
const EXAMPLE: &str = "350,12000,50\n300,24000,5\n300,180000,4000\n350,9000,6000\n\n";
