//! The reasons for which a test may say that it cannot run here.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use anyhow::Result;
use serde::Deserialize;

/// The kind of a reason stands before its colon. Root installs every program that the tests use,
/// so a missing one is a fault of the list in `test.rs`, not a reason.
static KINDS: &[Kind] = &[
    Kind { kind: "no user namespaces", who: Who::Anyone },
    Kind { kind: "not root", who: Who::Ordinary },
    Kind { kind: "only as root", who: Who::Ordinary },
    Kind { kind: "only as an ordinary user", who: Who::Root },
    Kind { kind: "program missing", who: Who::Ordinary },
    Kind { kind: "library missing", who: Who::Ordinary },
    Kind { kind: "another version", who: Who::Anyone },
    Kind { kind: "no systemd", who: Who::Anyone },
    Kind { kind: "device missing", who: Who::Anyone },
    Kind { kind: "kernel lacks", who: Who::Anyone },
    Kind { kind: "too few CPUs", who: Who::Anyone },
    Kind { kind: "only in a release build", who: Who::Anyone },
    Kind { kind: "not built", who: Who::Anyone },
    Kind { kind: "not readable", who: Who::Anyone },
    Kind { kind: "machine too busy", who: Who::Anyone },
];

struct Kind {
    kind: &'static str,
    who: Who,
}

/// Who may give a reason.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Anyone,
    Ordinary,
    Root,
}

/// One line of the skip journal.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Skip {
    #[serde(rename = "crate")]
    pub(crate) krate: String,
    pub(crate) test: String,
    pub(crate) reason: String,
}

impl Skip {
    /// True if somebody of this kind may give this reason.
    pub(crate) fn listed(&self, user: Who) -> bool {
        let kind = self.reason.split(':').next().unwrap_or_default().trim();
        KINDS.iter().any(|k| k.kind == kind && (k.who == Who::Anyone || k.who == user))
    }
}

/// The journal of one pass of the tests; each test counts once. No file means no skip.
pub(crate) fn read(journal: &Path) -> Result<BTreeSet<Skip>> {
    if !journal.exists() {
        return Ok(BTreeSet::new());
    }
    let text =
        std::fs::read_to_string(journal).with_context(|| format!("read {}", journal.display()))?;
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("read skip {line}")))
        .collect()
}

/// Prints every reason with the tests that gave it; unlisted ones are marked.
pub(crate) fn print(skips: &BTreeSet<Skip>, user: Who) {
    let mut by_reason: BTreeMap<&str, Vec<&Skip>> = BTreeMap::new();
    for skip in skips {
        by_reason.entry(&skip.reason).or_default().push(skip);
    }
    for (reason, tests) in by_reason {
        let names: Vec<String> = tests.iter().map(|s| format!("{} {}", s.krate, s.test)).collect();
        let mark = if tests[0].listed(user) { "" } else { "NOT LISTED in xtask/src/skips.rs: " };
        println!("  skipped: {mark}{reason} ({})", names.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(reason: &str) -> Skip {
        Skip { krate: "btu".into(), test: "t".into(), reason: reason.into() }
    }

    #[test]
    fn a_reason_is_listed_by_its_kind_and_by_who_gives_it() {
        assert!(skip("program missing: ping").listed(Who::Ordinary));
        assert!(!skip("program missing: ping").listed(Who::Root));
        assert!(skip("no user namespaces: EPERM").listed(Who::Root));
        assert!(!skip("did not feel like it").listed(Who::Ordinary));
    }

    #[test]
    fn the_macro_and_the_reader_agree_about_the_journal() {
        let line = "{\"crate\":\"btu\",\"test\":\"it::a\",\"reason\":\"not root\"}";
        let read: Skip = serde_json::from_str(line).unwrap();
        assert_eq!(
            read,
            Skip { krate: "btu".into(), test: "it::a".into(), reason: "not root".into() }
        );
    }
}
