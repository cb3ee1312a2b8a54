//! The sending application had nothing to send.

use super::delayed_ack;
use super::starved_sender::silenced;
use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::run::verdict::LONGEST_STANDSTILL;
use crate::tcp::Limit;
use crate::tcp::Sent;
use crate::tcp::float;
use crate::tcp::total;
use crate::units::Nanos;

pub(super) const CAUSE: Cause = Cause {
    name: "application",
    site: Site::Sender,
    basis: Basis::Waits,
    about: "the sending application had nothing to send",
    remedy: "look at the sending application, not at the network: it waits for something else",
    explains: &[],
    find,
};

/// A conversation of a few words waits for its answers.
const FEWEST: u64 = 10;

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let timeouts = seen.told_timeouts();
    let pauses: Vec<Nanos> = seen
        .stream
        .pauses()
        .filter(|wait| wait.limit == Limit::Application && !timeouts.contains(wait))
        .map(|wait| wait.length())
        .collect();
    let repaired = timeouts.iter().filter(|wait| wait.limit == Limit::Application);
    let repaired = seen.share(total(repaired.map(|wait| wait.length())));
    let starved = silenced(seen);
    let unasked = seen.share(unasked(seen));
    let share = (seen.waited(Limit::Application) - repaired - starved - unasked).max(0.0);
    // A sender of messages waits for the next one: that is news only where nothing else is.
    let is_short = seen.counts().data_segments < FEWEST;
    let is_quiet = pauses.is_empty() && (share < 0.5 || seen.losses() > 0);
    if is_short || is_quiet || share < 0.1 {
        return None;
    }
    let (count, longest) =
        (pauses.len() as u64, pauses.iter().max().map_or(0.0, |one| one.millis()));
    let share_percent = share * 100.0;
    let what = match count {
        0 => format!("the sender had nothing to send {share_percent:.0} % of the time"),
        1 => format!("the application paused for {longest:.0} ms"),
        _ => format!("the application paused {count} times, at the longest {longest:.0} ms"),
    };
    let sentence = format!("{what}, while window and path had room{}", stopped(seen));
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence,
        figures: vec![
            Figure::new("pauses", float(count), ""),
            Figure::new("longest pause", longest, "ms"),
            Figure::by_packets(share),
        ],
    })
}

/// For how long an end that answers had nothing to send because what it is asked was held back: what is left is the
/// time from a question to its answer.
fn unasked(seen: &Seen<'_>) -> Nanos {
    if !delayed_ack::holds_back(seen.back) {
        return Nanos::ZERO;
    }
    let asked = |before: Nanos| {
        let count = seen.back.sent.partition_point(|sent| sent.at < before);
        seen.back.sent[..count].last().map(|sent| sent.at.saturating_add(seen.stream.to_sender))
    };
    let of_answer = |pair: &[Sent]| {
        let (from, to) = (pair[0].at, pair[1].at);
        let until = asked(to).unwrap_or(from).min(to);
        seen.stream.waited_between(Limit::Application, from, until)
    };
    total(seen.stream.sent.windows(2).map(of_answer))
}

/// Who stops a program stops no clock: its pause is not its own.
fn stopped(seen: &Seen<'_>) -> String {
    let stood = seen.evidence.sender.stood_still;
    if stood <= LONGEST_STANDSTILL {
        return String::new();
    }
    let stood = stood.millis();
    format!("; its program stood still for {stood:.0} ms: it was stopped, or its machine was")
}
