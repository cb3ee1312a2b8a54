//! One direction of a connection as a file for `xplot`, in the words of tcptrace.

use std::fmt::Write;

use btu_core::tcp::Connection;
use btu_core::tcp::Event;
use btu_core::tcp::Mark;
use btu_core::tcp::Sent;
use btu_core::tcp::Sign;
use btu_core::tcp::Stream;
use btu_core::units::Nanos;

/// The direction with most payload.
pub fn xplot(connection: &Connection) -> String {
    let [stream, _] = connection.streams();
    let mut out = String::from("timeval unsigned\n");
    let _ = writeln!(out, "title\n{}_==>_{} (time sequence graph)", stream.from, stream.to);
    out.push_str("xlabel\ntime\nylabel\nsequence offset\n");
    let begin = connection.begin;
    stream.sent.iter().for_each(|sent| segment(&mut out, begin, sent, edge_of(stream, sent)));
    acknowledgements(&mut out, begin, stream);
    for sack in &stream.sacks {
        let at = clock(begin, sack.at);
        let _ = writeln!(out, "purple\nline {at} {} {at} {}", sack.start, sack.end);
        let _ = writeln!(out, "htick {at} {}\nhtick {at} {}", sack.start, sack.end);
        let _ = writeln!(out, "atext {at} {}\nS", sack.end);
    }
    stream.events.iter().for_each(|event| sign(&mut out, begin, event));
    out.push_str("go\n");
    out
}

/// A letter at its place; the third duplicate stands with the acknowledgements.
fn sign(out: &mut String, begin: Nanos, event: &Event) {
    let colour = match event.sign {
        Sign::Syn | Sign::Fin | Sign::ResetIn | Sign::ResetOut => "orange",
        Sign::Marked | Sign::Reduced => "yellow",
        Sign::Dropped | Sign::Urgent => "red",
        Sign::ThirdDuplicate => return,
    };
    let (at, place, letter) = (clock(begin, event.at), event.place.max(0), event.sign.letter());
    let _ = writeln!(out, "{colour}\natext {at} {place}\n{letter}");
}

/// What a segment begins or ends.
fn edge_of(stream: &Stream, sent: &Sent) -> Option<Sign> {
    let first = stream.events.partition_point(|event| event.at < sent.at);
    let beside = stream.events[first..].iter().take_while(|event| event.at == sent.at);
    let mut edges = beside.filter(|event| event.place == sent.end).map(|event| event.sign);
    edges.find(|sign| matches!(sign, Sign::Syn | Sign::Fin))
}

fn segment(out: &mut String, begin: Nanos, sent: &Sent, edge: Option<Sign>) {
    let (at, start, end) = (clock(begin, sent.at), sent.start.max(0), sent.end.max(0));
    let (colour, letter) = match sent.mark {
        _ if edge.is_some() => ("orange", None),
        Mark::New => ("white", None),
        Mark::OutOfOrder => ("pink", Some("O")),
        Mark::KeepAlive => ("orange", Some("K")),
        Mark::WindowProbe => ("orange", Some("P")),
        _ => ("red", Some("R")),
    };
    let lower = if edge == Some(Sign::Syn) { "diamond" } else { "darrow" };
    let _ = writeln!(out, "{colour}\n{lower} {at} {start}");
    let _ = match edge {
        Some(Sign::Fin) => writeln!(out, "box {at} {end}"),
        None if sent.is_pushed => writeln!(out, "diamond {at} {end} white\ndot {at} {end} white"),
        _ => writeln!(out, "uarrow {at} {end}"),
    };
    let _ = writeln!(out, "line {at} {start} {at} {end}");
    if let Some(letter) = letter {
        let _ = writeln!(out, "atext {at} {end}\n{letter}");
    }
}

/// Steps of what was acknowledged and of where the window ends.
fn acknowledgements(out: &mut String, begin: Nanos, stream: &Stream) {
    let edge = |edge: i64| stream.window_is_known.then_some(edge.max(0));
    for pair in stream.answers.windows(2) {
        let (from, to) = (&pair[0], &pair[1]);
        let (before, at) = (clock(begin, from.at), clock(begin, to.at));
        let (low, high) = (from.acknowledged.max(0), to.acknowledged.max(0));
        let _ = writeln!(out, "green\nline {before} {low} {at} {low}");
        if high > low {
            let _ = writeln!(out, "line {at} {low} {at} {high}");
        } else {
            let _ = writeln!(out, "dtick {at} {low}");
        }
        if to.duplicate == 3 {
            let _ = writeln!(out, "atext {at} {low}\n3");
        }
        if let (Some(low), Some(high)) = (edge(from.edge), edge(to.edge)) {
            let _ = writeln!(out, "yellow\nline {before} {low} {at} {low}");
            if high == low {
                let _ = writeln!(out, "utick {at} {low}");
            } else {
                let _ = writeln!(out, "line {at} {low} {at} {high}");
            }
            if to.edge == to.acknowledged {
                let _ = writeln!(out, "atext {at} {high} magenta\nZ");
            }
        }
    }
}

/// Seconds and microseconds since the epoch.
fn clock(begin: Nanos, at: Nanos) -> String {
    let micros = begin.saturating_add(at).count() / 1_000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}
