//! The findings for a person: each with its mark, causes and remedies below what is not well, as wide as a
//! report.

use btu_report::hanging;

use super::Answer;
use super::able;
use super::finding::Finding;
use super::finding::Status;

/// All lines, the verdict last.
pub(crate) fn render(answers: &[Answer]) -> String {
    let mut text = String::new();
    for (check, finding) in answers {
        let lead = format!("{}  ", mark(finding.status));
        text += &hanging(&lead, &format!("{}: {}", check.title, finding.found));
        text += &below(finding);
    }
    text += "\n";
    let verdict = if able(answers) {
        "btu run and btu link work on this machine"
    } else {
        "btu run and btu link do not work on this machine; remedies above"
    };
    text + &hanging("", verdict)
}

fn below(finding: &Finding) -> String {
    let line = |lead: &str, said: &Option<String>| {
        said.as_ref().map_or_else(String::new, |said| hanging(lead, said))
    };
    line("           because: ", &finding.cause) + &line("           remedy:  ", &finding.remedy)
}

fn mark(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok     ",
        Status::Limited => "limited",
        Status::Missing => "MISSING",
    }
}
