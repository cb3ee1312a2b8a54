//! The findings for a person: each with its mark, causes and remedies below what is not well, as wide as a
//! report.

use btu_report::UNBROKEN_SPACE;
use btu_report::hanging_whole;

use super::Answer;
use super::able;
use super::finding::Check;
use super::finding::Finding;
use super::finding::Serves;
use super::finding::Status;

/// All lines, the verdict last.
pub(crate) fn render(answers: &[Answer]) -> String {
    let mut text = String::new();
    for (check, finding) in answers {
        let lead = format!("{}  ", mark(finding.status));
        text += &hanging_whole(&lead, &format!("{}: {}", title(check), finding.found));
        text += &below(finding);
    }
    text += "\n";
    let verdict = if able(answers) {
        "btu run and btu link work on this machine"
    } else {
        "btu run and btu link do not work on this machine; remedies above"
    };
    text + &hanging_whole("", verdict)
}

/// With the one thing that needs it, where that is no verb: those are most of what there is.
fn title(check: &Check) -> String {
    match check.serves {
        Serves::Verbs(_) => check.title.to_owned(),
        serves => format!("{} (for {serves})", check.title),
    }
}

fn below(finding: &Finding) -> String {
    let line = |lead: &str, said: Option<&str>| {
        said.map_or_else(String::new, |said| hanging_whole(lead, said))
    };
    let remedy = finding.remedy.as_deref().map(with_whole_commands);
    line("           because: ", finding.cause.as_deref())
        + &line("           remedy:  ", remedy.as_deref())
}

/// The remedy with commands that no line ends in: people paste them.
fn with_whole_commands(remedy: &str) -> String {
    let parts = remedy.split('`').enumerate();
    let held = parts.map(|(place, part)| match place % 2 {
        0 => part.to_owned(),
        _ => part.replace(' ', UNBROKEN_SPACE),
    });
    held.collect::<Vec<_>>().join("`")
}

fn mark(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok     ",
        Status::Limited => "limited",
        Status::Missing => "MISSING",
    }
}
