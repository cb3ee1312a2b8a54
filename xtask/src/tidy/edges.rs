//! Which crate may depend on which: a crate exists only for what its edges forbid.

use super::Workspace;

/// Every edge between crates of ours, development dependencies included.
static ALLOWED: &[(&str, &[&str])] = &[
    ("btu", &["btu-control", "btu-core", "btu-engine", "btu-report", "btu-sys", "btu-testbed"]),
    ("btu-control", &["btu-core"]),
    ("btu-core", &[]),
    ("btu-engine", &["btu-core", "btu-sys"]),
    ("btu-report", &["btu-core"]),
    ("btu-sys", &[]),
    ("btu-testbed", &["btu-core", "btu-sys"]),
    ("xtask", &[]),
];

pub(super) fn check(workspace: &Workspace<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for member in &workspace.metadata.members {
        let ours = member.dependencies.iter().map(|d| d.name.as_str()).filter(|d| is_ours(d));
        found.extend(violations(&member.name, ours));
    }
    found
}

fn is_ours(name: &str) -> bool {
    ALLOWED.iter().any(|(krate, _)| *krate == name)
}

fn violations<'a>(from: &str, to: impl Iterator<Item = &'a str>) -> Vec<String> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(krate, _)| *krate == from) else {
        return vec![format!("{from}: a crate that the table of edges does not name")];
    };
    // With itself a crate is tested: by such an edge its tests have a feature of its own.
    to.filter(|to| *to != from && !allowed.contains(to))
        .map(|to| format!("{from} -> {to}: forbidden edge"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_outside_the_table_is_a_violation() {
        assert_eq!(violations("btu-report", ["btu-core", "btu-report"].into_iter()), [""; 0]);
        assert_eq!(
            violations("btu-core", ["btu-sys"].into_iter()),
            ["btu-core -> btu-sys: forbidden edge"]
        );
        assert_eq!(violations("btu-new", [].into_iter()).len(), 1);
    }
}
