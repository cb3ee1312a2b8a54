//! The packets of a capture file at their times.

use super::prelude::*;
use crate::traffic::language::call::Content;
use crate::traffic::language::call::Parameter;
use crate::traffic::language::call::Rows;
use crate::traffic::language::call::Takes;
use crate::traffic::language::recording;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Every packet with payload is due when it passed, on the connection that it passed on, in its direction; what
/// TCP sent again in the capture is not sent again here. The file is repeated until the duration ends, its last packet
/// followed by the first one of the next round after the mean gap. Open loop: what waited for an answer in the
/// capture waits here for its time alone. Without a file a small example runs.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "capture",
        about: "the payloads of a capture file at their times, connection by connection",
        parameters: &[
            Parameter {
                name: "file",
                takes: Takes::File(content),
                default: "",
                about: "pcap or pcapng; or rows SECONDS,FLOW,WAY,BYTES",
                range: None,
                at_least: None,
                only_beside: None,
            },
            DURATION,
        ],
    },
    source: "the file",
    verified: Verified::No("what waited for answers when it was captured does not wait here"),
    variants: PLAIN,
    rates: |call| {
        let rows = rows(call);
        let sum = |way: Direction| -> f64 {
            let own = rows.iter().filter(|row| row.direction == way);
            own.map(|row| float(row.bytes.count())).sum()
        };
        [Forward, Backward].map(|way| sum(way) / period(&rows).seconds())
    },
    train: |call, _| Train::Open(Box::new(Recorded { rows: rows(call), next: 0 })),
    claims: |_| Vec::new(),
};

/// A payload that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traffic) struct Row {
    at: Nanos,
    flow: u32,
    direction: Direction,
    bytes: Bytes,
}

/// The rows over and over.
#[derive(Debug)]
struct Recorded {
    rows: Arc<[Row]>,
    next: usize,
}

impl Open for Recorded {
    fn next(&mut self) -> Option<Arrival> {
        let at = self.next % self.rows.len();
        let row = *self.rows.get(at)?;
        let gap = match at.checked_sub(1) {
            Some(before) => row.at.since(self.rows[before].at),
            None if self.next == 0 => row.at,
            // The time before the first packet of a file belongs to none of its gaps.
            None => mean_gap(&self.rows),
        };
        self.next += 1;
        Some(Arrival { gap, bytes: row.bytes, flow: row.flow, direction: row.direction })
    }
}

/// From the first packet to the last.
fn span(rows: &[Row]) -> Nanos {
    let ends = rows.first().zip(rows.last());
    ends.map_or(Nanos::ZERO, |(first, last)| last.at.since(first.at))
}

fn mean_gap(rows: &[Row]) -> Nanos {
    let gaps = u64::try_from(rows.len().saturating_sub(1)).unwrap_or(u64::MAX);
    Nanos::new(span(rows).count() / gaps.max(1))
}

/// From a first packet to the next time that it is due.
fn period(rows: &[Row]) -> Nanos {
    span(rows).saturating_add(mean_gap(rows))
}

/// The payloads of a text, or why it is no capture: `:LINE: what stands there`.
fn content(text: &str) -> Result<Content, String> {
    read(text).map(|rows| Content(Rows::Payloads(rows.into())))
}

fn read(text: &str) -> Result<Vec<Row>, String> {
    let (mut rows, mut flows) = (Vec::new(), BTreeSet::new());
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if is_blank(line) {
            continue;
        }
        let row = row(line).map_err(|cause| format!(":{number}: \"{line}\"; {cause}"))?;
        if rows.last().is_some_and(|before: &Row| before.at > row.at) {
            return Err(format!(":{number}: \"{line}\"; it is earlier than the row before"));
        }
        flows.insert(row.flow);
        rows.push(row);
    }
    if flows.len() > MOST_FLOWS {
        return Err(format!(
            ": {} connections; take at most {MOST_FLOWS}, by a filter of what captures",
            flows.len()
        ));
    }
    // Repeated without a gap it would never end.
    if mean_gap(&rows) > Nanos::ZERO { Ok(rows) } else { Err(": no time passes in it".to_owned()) }
}

/// The rows of the file, or of the example.
fn rows(call: &Call) -> Arc<[Row]> {
    match call.file("file") {
        Some(Rows::Payloads(rows)) => Arc::clone(rows),
        _ => EXAMPLE.lines().flat_map(row).collect(),
    }
}

fn is_blank(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

/// The payload of a row, or what to write instead.
fn row(line: &str) -> Result<Row, String> {
    let (seconds, row) = fields(line).ok_or(
        "write a capture, or rows SECONDS,FLOW,WAY,BYTES (forward or backward; BYTES from 1 to 1 TiB)",
    )?;
    let longest = recording::LONGEST.seconds();
    if (0.0..=longest).contains(&seconds) {
        return Ok(row);
    }
    Err(format!(
        "SECONDS count from the begin of the file, and not from 1970; write 0 to {longest}"
    ))
}

/// The fields of a row, and its time in seconds as it is written.
fn fields(line: &str) -> Option<(f64, Row)> {
    let mut fields = line.split(',').map(str::trim);
    let seconds: f64 = fields.next()?.parse().ok()?;
    let flow = fields.next()?.parse().ok()?;
    let direction = match fields.next()? {
        recording::FORWARD => Forward,
        recording::BACKWARD => Backward,
        _ => return None,
    };
    let bytes: f64 = fields.next()?.parse().ok().filter(|bytes| (1.0..=LARGEST).contains(bytes))?;
    let row =
        Row { at: Nanos::new(whole(s(seconds))), flow, direction, bytes: Bytes::new(whole(bytes)) };
    fields.next().is_none().then_some((seconds, row))
}

/// Each has a connection of its own in each direction.
const MOST_FLOWS: usize = 256;
/// A request and its answer in three packets, then speech both ways.
const EXAMPLE: &str = "0,0,forward,350\n0.04,0,backward,1448\n0.041,0,backward,1448\n0.042,0,backward,620\n\
                       0.05,1,forward,160\n0.055,1,backward,160\n0.07,1,forward,160\n0.075,1,backward,160\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Dialect;
    use crate::traffic::FileText;
    use crate::traffic::train::Timeline;

    fn call(text: &'static str) -> Result<Call, String> {
        let files = |_: &str| Ok(text.to_owned().into());
        let read = crate::traffic::call("capture(file=\"x.pcap\")", Dialect::Btu, &files);
        read.map(|(call, _)| call).map_err(|problem| problem.to_string())
    }

    /// Two packets 100 ms apart and a third 20 ms later: the file lasts 120 ms, its mean gap is 60 ms.
    #[test]
    fn a_file_is_sent_at_its_times_and_again_after_its_mean_gap() {
        let text = "# of a test\n2.5,7,forward,100\n2.6,7,backward,1000\n2.62,3,forward,50\n";
        let call = call(text).unwrap();
        let Some(Train::Open(train)) = call.train(&Streams::new(1, "t")) else { panic!("open") };
        let found: Vec<(u64, u64, u32, Direction)> = Timeline::new(train)
            .take(5)
            .map(|(at, one)| (at.count() / 1_000_000, one.bytes.count(), one.flow, one.direction))
            .collect();
        let wanted = [
            (2_500, 100, 7, Forward),
            (2_600, 1_000, 7, Backward),
            (2_620, 50, 3, Forward),
            (2_680, 100, 7, Forward),
            (2_780, 1_000, 7, Backward),
        ];
        assert_eq!(found, wanted);
        let [forward, backward] = (MODEL.rates)(&call);
        assert!((forward - 150.0 / 0.18).abs() < 1e-6, "{forward}");
        assert!((backward - 1_000.0 / 0.18).abs() < 1e-6, "{backward}");
    }

    /// However many sessions draw a train of it.
    #[test]
    fn a_file_is_read_once() {
        let call = call("0,0,forward,5\n1,0,forward,5\n").unwrap();
        assert!(Arc::ptr_eq(&rows(&call), &rows(&call.clone())));
        assert_eq!(rows(&call).len(), 2);
    }

    #[test]
    fn what_a_file_lacks_is_a_warning_where_it_is_named() {
        let text = "0,0,forward,5\n1,0,forward,5\n".to_owned();
        let lacks = vec!["the capture is not whole: a, b".to_owned(), "c".to_owned()];
        let files = |_: &str| Ok(FileText { text: text.clone(), lacks: lacks.clone() });
        let read = crate::traffic::call("capture(file=\"x.pcap\")", Dialect::Btu, &files);
        let warnings: Vec<String> = read.unwrap().1.iter().map(ToString::to_string).collect();
        let wanted = ["1:14: x.pcap: the capture is not whole: a, b", "1:14: x.pcap: c"];
        assert_eq!(warnings, wanted);
    }

    #[test]
    fn what_is_no_capture_is_refused_with_its_line() {
        for (text, cause) in [
            ("0,0,forward,350\n350,12000,50\n", "x.pcap:2: \"350,12000,50\"; write a capture"),
            ("0,0,up,350\n", "x.pcap:1: "),
            ("0,0,forward,0\n", "x.pcap:1: "),
            ("0,0,forward,5,6\n", "x.pcap:1: "),
            (
                "0,0,forward,5\n1700000000.5,0,forward,5\n",
                "x.pcap:2: \"1700000000.5,0,forward,5\"; SECONDS count from the begin of the file, and not from \
                 1970; write 0 to 1000000",
            ),
            ("-1,0,forward,5\n", "x.pcap:1: \"-1,0,forward,5\"; SECONDS count"),
            ("1,0,forward,5\n0.5,0,forward,5\n", "x.pcap:2: \"0.5,0,forward,5\"; it is earlier"),
            ("1,0,forward,5\n", "x.pcap: no time passes in it"),
            ("", "x.pcap: no time passes in it"),
        ] {
            let refused = call(text).unwrap_err();
            assert!(refused.contains(cause), "{text}: {refused}");
        }
        let example = rows(&Call::plain(&MODEL.shape));
        assert_eq!(read(EXAMPLE).as_deref(), Ok(&*example));
        let many: Vec<String> = (0..300).map(|flow| format!("{flow},{flow},forward,5")).collect();
        assert!(
            read(&many.join("\n")).unwrap_err().starts_with(": 300 connections; take at most 256")
        );
    }
}
