//! Recorded conversations: request, answer, think time, from a file.

use super::prelude::*;
use super::vectors;
use super::vectors::Replayed;
use crate::traffic::language::call::Content;
use crate::traffic::language::call::Parameter;
use crate::traffic::language::call::Rows;
use crate::traffic::language::call::Takes;
use crate::traffic::train::Conversation;
use crate::traffic::train::Script;
use crate::traffic::train::Step;
use std::collections::VecDeque;
use std::sync::Arc;

/// The a-b-t vectors of tmix (Weigle et al., 2006): its own files, every connection at its time; or rows
/// `REQUEST,ANSWER,THINK`, in bytes, bytes and milliseconds, one after the other, where an empty line closes the connection.
/// The file is repeated until the duration ends. Without a file a small example runs.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "replay",
        about: "recorded conversations: request, answer, think time, from a file",
        parameters: &[
            Parameter {
                name: "file",
                takes: Takes::File(content),
                default: "",
                about: "connection vectors of tmix, or rows REQUEST,ANSWER,THINK in bytes, bytes, ms; empty lines close",
                range: None,
                at_least: None,
                only_beside: None,
            },
            DURATION,
        ],
    },
    source: "M. Weigle et al., tmix, ACM CCR 36(3), 2006",
    verified: Verified::Yes(
        "both forms of connection vectors with doc/tmix.tex and the files of tmix in ns-2.35 (hbatmit/ns2.35), not with the \
         paper; windows, round trips and losses of the recording are left to the path, waits of the end that was asked pass \
         after its answer, what it sends unasked is asked for with a byte; rows REQUEST,ANSWER,THINK and the repetition are ours",
    ),
    variants: PLAIN,
    rates: |call| match call.file("file") {
        Some(Rows::Vectors(all)) => {
            let time = vectors::period(all).seconds();
            [0, 1].map(|way| all.iter().map(|vector| vector.bytes()[way]).sum::<f64>() / time)
        }
        _ => rates(&rows(call)),
    },
    train: |call, _| {
        if let Some(Rows::Vectors(all)) = call.file("file") {
            return Train::Closed(Box::new(Replayed::new(Arc::clone(all))));
        }
        let (rows, at) = (rows(call), 0);
        Train::Closed(Box::new(Conversation::new(Box::new(Replay { rows, at }))))
    },
    claims: |_| Vec::new(),
};

/// Bytes per second of rows.
fn rates(rows: &[Option<Row>]) -> [f64; 2] {
    let think: f64 = rows.iter().flatten().map(|row| row.think.seconds()).sum();
    let sum = |part: fn(&Row) -> Bytes| -> f64 {
        rows.iter().flatten().map(|row| float(part(row).count())).sum()
    };
    [sum(|row| row.request) / think, sum(|row| row.answer) / think]
}

/// A request with its answer, and the time until the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traffic) struct Row {
    request: Bytes,
    answer: Bytes,
    think: Nanos,
}

/// The rows over and over; `None` closes the connection.
#[derive(Debug)]
struct Replay {
    rows: Arc<[Option<Row>]>,
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

/// What a text records, or why it is no recording: `:LINE: what stands there`.
fn content(text: &str) -> Result<Content, String> {
    if vectors::is_one(text) {
        return vectors::read(text).map(|all| Content(Rows::Vectors(all.into())));
    }
    read(text).map(|rows| Content(Rows::Exchanges(rows.into())))
}

fn read(text: &str) -> Result<Vec<Option<Row>>, String> {
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        match row(line) {
            Some(row) => rows.push(Some(row)),
            None if line.is_empty() => rows.push(None),
            None if line.starts_with('#') => {}
            None => {
                let cause = "write REQUEST,ANSWER,THINK in B, B, ms";
                return Err(format!(":{number}: \"{line}\"; {cause}"));
            }
        }
    }
    let lasts = rows.iter().flatten().any(|row| row.think > Nanos::ZERO);
    // Repeated without a pause it would never end.
    if lasts { Ok(rows) } else { Err(": no row has a think time above 0".to_owned()) }
}

/// The rows of the file, or of the example.
fn rows(call: &Call) -> Arc<[Option<Row>]> {
    match call.file("file") {
        Some(Rows::Exchanges(rows)) => Arc::clone(rows),
        _ => EXAMPLE.lines().map(row).collect(),
    }
}

fn row(line: &str) -> Option<Row> {
    let mut fields = line.split(',').map(|field| field.trim().parse::<f64>().ok());
    let mut field = || fields.next().flatten().filter(|number| (0.0..=1e12).contains(number));
    let (request, answer, think) = (field()?, field()?, field()?);
    if fields.next().is_some() {
        return None;
    }
    Some(Row {
        request: Bytes::new(whole(request).max(1)),
        answer: Bytes::new(whole(answer)),
        think: Nanos::new(whole(ms(think))),
    })
}

/// A page with its style and picture, then a second page.
const EXAMPLE: &str = "350,12000,50\n300,24000,5\n300,180000,4000\n350,9000,6000\n\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_recording_is_refused_with_its_line() {
        for (text, cause) in [
            ("# a\n350,12000,50\n\n350,9000,0\n", None),
            ("350,12000,50\nrequest,answer,think\n", Some(":2: \"request,answer,think\"; write")),
            ("350,12000,50,7\n", Some(":1: ")),
            ("350,12000\n", Some(":1: ")),
            ("350,12000,-1\n", Some(":1: ")),
            ("350,12000,0\n", Some(": no row has a think time above 0")),
            ("", Some(": no row")),
        ] {
            let found = read(text).err();
            assert_eq!(found.is_some(), cause.is_some(), "{text}: {found:?}");
            assert!(found.is_none_or(|found| found.starts_with(cause.unwrap())), "{text}");
        }
        let example = rows(&Call::plain(&MODEL.shape));
        assert_eq!(read(EXAMPLE).as_deref(), Ok(&*example));
    }
}
