//! What each file must say and must not say.

use super::Workspace;
use crate::source::Source;

pub(super) fn check(workspace: &Workspace<'_>) -> Vec<String> {
    workspace.sources.iter().flat_map(violations).collect()
}

fn violations(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    if !source.text.starts_with("//! ") {
        found.push(format!("{}:1: the first line does not say what the file is for", source.path));
    }
    for (n, line) in source.code.lines().enumerate() {
        if line.contains("#[ignore") {
            let hint = "a test that cannot run here says skip!(reason)";
            found.push(format!("{}:{}: #[ignore]; {hint}", source.path, n + 1));
        }
    }
    for (n, line) in source.comments.lines().enumerate() {
        if has_bare_mark(line) {
            found.push(format!("{}:{}: a mark for later without its reason", source.path, n + 1));
        }
    }
    found
}

/// A mark for later is written with its reason in parentheses.
fn has_bare_mark(comment: &str) -> bool {
    ["TODO", "FIXME", "XXX"].iter().any(|mark| {
        comment.split(mark).skip(1).any(|after| {
            let reason = after.strip_prefix('(').and_then(|rest| rest.split(')').next());
            reason.is_none_or(|reason| reason.trim().len() < 8)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_for_later_needs_a_reason_in_parentheses() {
        assert!(has_bare_mark("// TODO: later"));
        assert!(has_bare_mark("// TODO() later"));
        assert!(!has_bare_mark("// TODO(kernel 6.20 brings the field): read it"));
        assert!(!has_bare_mark("// nothing left to do"));
    }

    #[test]
    fn the_first_line_says_what_the_file_is_for() {
        let source = |text: &str| Source::scan("crates/btu/src/x.rs".into(), text.into());
        assert_eq!(violations(&source("//! The clock.\n")).len(), 0);
        assert_eq!(violations(&source("use std::fs;\n")).len(), 1);
        assert_eq!(violations(&source("//! A.\n#[ignore]\nfn a() {}\n")).len(), 1);
    }
}
