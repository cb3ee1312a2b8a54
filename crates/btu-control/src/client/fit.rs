//! Which answer fits which question, and what people call both.

use crate::message::Answer;
use crate::message::Request;

/// Why an answer does not fit its question; `None` where it does.
pub(super) fn misfit(request: &Request, answer: &Answer) -> Option<String> {
    let wrong = || Some(format!("{} to {}", name(answer), asked(request)));
    let fits = match (request, answer) {
        (Request::Reserve(_), Answer::Granted { .. } | Answer::Refused { .. })
        | (Request::Vouch { .. }, Answer::Vouched {} | Answer::Refused { .. })
        | (Request::Ping {}, Answer::Pong {})
        | (
            Request::Status {} | Request::StopAll {} | Request::Resume {},
            Answer::Status(_) | Answer::Refused { .. },
        ) => return None,
        (Request::Prepare(order), Answer::Prepared { which, addresses }) => {
            if *which != order.which || addresses.len() != order.flows.len() {
                return Some("the far ends of another run".to_owned());
            }
            true
        }
        (Request::Service(order), Answer::Said { which, .. }) => *which == order.which,
        (Request::Word(word), Answer::Said { which, .. }) => *which == word.which,
        (
            Request::Facts { .. }
            | Request::Collect(_)
            | Request::Packets { .. }
            | Request::Test(_),
            Answer::Document { .. },
        )
        | (Request::Given { .. }, Answer::Taken { .. })
        | (Request::Serve { .. }, Answer::Serving { .. })
        | (Request::Sign(_), Answer::Signed { .. })
        | (Request::Cancel(_), Answer::Cancelled { .. })
        | (Request::Release { .. }, Answer::Released { .. })
        | (_, Answer::Failed { .. } | Answer::Stale { .. }) => true,
        _ => false,
    };
    if fits && answer.seq() == request.seq() && answer.seq().is_some() { None } else { wrong() }
}

/// What was asked, for people.
pub(super) const fn asked(request: &Request) -> &'static str {
    match request {
        Request::Hello { .. } => "hello",
        Request::Join { .. } => "join",
        Request::Ping {} => "ping",
        Request::Reserve(_) => "a reservation",
        Request::Facts { .. } => "the question for the host's facts",
        Request::Serve { .. } => "the request for an FTP server",
        Request::Prepare(_) => "the preparation of a run",
        Request::Service(_) => "the beginning of a service",
        Request::Word(_) => "a word for a service",
        Request::Cancel(_) => "the end of a run",
        Request::Collect(_) => "the question what a run did",
        Request::Packets { .. } => "the request for the packets of a run",
        Request::Vouch { .. } => "the word for another host",
        Request::Test(_) => "the next step of the test",
        Request::Given { .. } => "a piece of a result",
        Request::Sign(_) => "the request for a signature",
        Request::Release { .. } => "the end of the reservation",
        Request::Status {} | Request::StopAll {} | Request::Resume {} => "a question",
    }
}

/// What was answered, for people.
pub(super) const fn name(answer: &Answer) -> &'static str {
    match answer {
        Answer::Welcome { .. } => "welcome",
        Answer::Joined {} => "joined",
        Answer::Pong {} => "pong",
        Answer::Queued { .. } => "queued",
        Answer::Granted { .. } => "granted",
        Answer::Refused { .. } => "refused",
        Answer::Serving { .. } => "serving",
        Answer::Prepared { .. } => "prepared",
        Answer::Connected { .. } | Answer::Moved { .. } => "a worker's word",
        Answer::Said { .. } => "the words of a service",
        Answer::Cancelled { .. } => "cancelled",
        Answer::Document { .. } => "a document",
        Answer::Signed { .. } => "signed",
        Answer::Vouched {} => "vouched",
        Answer::Taken { .. } => "taken",
        Answer::Progress { .. } => "progress",
        Answer::Released { .. } => "released",
        Answer::Failed { .. } => "failed",
        Answer::Stale { .. } => "stale",
        Answer::Status(_) => "a status",
        Answer::Bye { .. } => "bye",
    }
}
