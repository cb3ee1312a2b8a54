//! The README stays short, and each of its commands is run by a test.

use anyhow::Result;

use super::Workspace;

const LINES: usize = 200;

/// The test file that runs the commands of the README.
const TEST: &str = "crates/btu/tests/it/readme.rs";

pub(super) fn check(workspace: &Workspace<'_>) -> Vec<String> {
    violations(workspace).unwrap_or_else(|error| vec![format!("{error:#}")])
}

fn violations(workspace: &Workspace<'_>) -> Result<Vec<String>> {
    let readme = workspace.repo.read("README.md")?;
    let mut found = Vec::new();
    let lines = readme.lines().count();
    if lines > LINES {
        found.push(format!("README.md: {lines} lines, limit {LINES}"));
    }
    let test = workspace.repo.read(TEST)?;
    let untested = commands(&readme).filter(|command| !test.contains(command));
    found.extend(untested.map(|c| format!("README.md: `{c}` is not run by {TEST}")));
    Ok(found)
}

/// The lines of the blocks marked `sh`, without comments and empty lines.
fn commands(readme: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    readme.lines().filter(move |line| {
        if line.starts_with("```") {
            inside = *line == "```sh";
            return false;
        }
        inside && !line.trim().is_empty() && !line.starts_with('#')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_marked_sh_hold_commands() {
        let readme = "# A\n```sh\ncargo run\n\n# why\nbtu list\n```\n```text\nno\n```\nnor this\n";
        assert_eq!(commands(readme).collect::<Vec<_>>(), ["cargo run", "btu list"]);
    }
}
