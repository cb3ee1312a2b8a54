//! Only `btu-sys` contains unsafe code and names the crates that wrap system calls.

use super::Workspace;
use crate::source::Source;

const UNSAFE_CRATE: &str = "btu-sys";

/// Dependencies that only the unsafe crate may name.
const SYSTEM: &[&str] = &["libc", "libloading", "netlink-sys", "nix", "rustix", "socket2"];

pub(super) fn check(workspace: &Workspace<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for member in workspace.metadata.members.iter().filter(|m| m.name != UNSAFE_CRATE) {
        let named = member.dependencies.iter().filter(|d| SYSTEM.contains(&d.name.as_str()));
        found.extend(
            named.map(|d| format!("{}: only {UNSAFE_CRATE} may name {}", member.name, d.name)),
        );
    }
    let others = || workspace.sources.iter().filter(|s| s.krate() != UNSAFE_CRATE);
    found.extend(
        others().filter(|s| s.has_word("unsafe")).map(|s| format!("{}: unsafe code", s.path)),
    );
    found.extend(
        others()
            .filter(|s| is_root(s) && !forbids(s))
            .map(|s| format!("{}: the crate root lacks #![forbid(unsafe_code)]", s.path)),
    );
    found
}

fn is_root(source: &Source) -> bool {
    source.path.ends_with("/src/lib.rs") || source.path.ends_with("/src/main.rs")
}

fn forbids(source: &Source) -> bool {
    source.code.contains("#![forbid(unsafe_code)]")
}
