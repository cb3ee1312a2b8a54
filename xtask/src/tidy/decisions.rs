//! Decisions are short, and each has a number of its own.

use std::path::Path;

use anyhow::Context;
use anyhow::Result;

use super::Workspace;

const FOLDER: &str = "docs/decisions";
const LINES: usize = 40;

pub(super) fn check(workspace: &Workspace<'_>) -> Vec<String> {
    pages(&workspace.repo.path(FOLDER))
        .map_or_else(|error| vec![format!("{error:#}")], |pages| violations(&pages))
}

/// File names with their number of lines, in order.
fn pages(folder: &Path) -> Result<Vec<(String, usize)>> {
    let listed = std::fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let mut pages = Vec::new();
    for entry in listed {
        let path = entry?.path();
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        pages.push((name, text.lines().count()));
    }
    pages.sort();
    Ok(pages)
}

fn violations(pages: &[(String, usize)]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, (name, lines)) in pages.iter().enumerate() {
        let number = format!("{:04}-", at + 1);
        if !name.starts_with(&number) {
            found.push(format!("{FOLDER}/{name}: the next number is {}", at + 1));
        }
        if *lines > LINES {
            found.push(format!("{FOLDER}/{name}: {lines} lines, limit {LINES}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_stands_twice_and_a_long_page_are_named() {
        let page = |name: &str, lines| (name.to_owned(), lines);
        assert!(violations(&[page("0001-a.md", 40), page("0002-b.md", 9)]).is_empty());
        assert_eq!(violations(&[page("0001-a.md", 41), page("0001-b.md", 9)]).len(), 2);
    }
}
