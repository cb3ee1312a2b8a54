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

struct Page {
    name: String,
    heading: String,
    lines: usize,
}

/// Every page, in the order of their names.
fn pages(folder: &Path) -> Result<Vec<Page>> {
    let listed = std::fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let mut pages = Vec::new();
    for entry in listed {
        let path = entry?.path();
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let heading = text.lines().next().unwrap_or_default().to_owned();
        pages.push(Page { name, heading, lines: text.lines().count() });
    }
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(pages)
}

fn violations(pages: &[Page]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, Page { name, heading, lines }) in (1..).zip(pages) {
        if !name.starts_with(&format!("{number:04}-")) {
            found.push(format!("{FOLDER}/{name}: the next number is {number}"));
        }
        if !heading.starts_with(&format!("# {number}. ")) {
            found.push(format!("{FOLDER}/{name}: begins with \"{heading}\", not \"# {number}. \""));
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

    fn page(name: &str, heading: &str, lines: usize) -> Page {
        Page { name: name.to_owned(), heading: heading.to_owned(), lines }
    }

    #[test]
    fn a_number_that_stands_twice_and_a_long_page_are_named() {
        let pages = [page("0001-a.md", "# 1. A", 40), page("0002-b.md", "# 2. B", 9)];
        assert!(violations(&pages).is_empty());
        let pages = [page("0001-a.md", "# 1. A", 41), page("0001-b.md", "# 2. B", 9)];
        assert_eq!(violations(&pages).len(), 2);
    }

    #[test]
    fn a_page_begins_with_its_own_number() {
        let found = violations(&[page("0001-a.md", "# 0001: A", 3)]);
        assert_eq!(found.len(), 1);
    }
}
