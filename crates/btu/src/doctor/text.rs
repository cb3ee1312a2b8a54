//! The findings for a person: one line each, causes and remedies below what is not well.

use std::fmt::Write;

use super::Answer;
use super::able;
use super::finding::Finding;
use super::finding::Status;

/// All lines, the verdict last.
pub(crate) fn render(answers: &[Answer]) -> String {
    let mut text = String::new();
    for (check, finding) in answers {
        let mark = mark(finding.status);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{mark}  {}: {}", check.title, finding.found);
        text.push_str(&below(finding));
    }
    let verdict = if able(answers) {
        "btu run and btu link work on this machine"
    } else {
        "btu run and btu link do not work on this machine; remedies above"
    };
    let _ = writeln!(text, "\n{verdict}");
    text
}

fn below(finding: &Finding) -> String {
    let mut text = String::new();
    if let Some(cause) = &finding.cause {
        let _ = writeln!(text, "           because: {cause}");
    }
    if let Some(remedy) = &finding.remedy {
        let _ = writeln!(text, "           remedy:  {remedy}");
    }
    text
}

fn mark(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok     ",
        Status::Limited => "limited",
        Status::Missing => "MISSING",
    }
}
