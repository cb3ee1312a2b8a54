//! Tests that run in processes of their own, beside the others of their binary: so they keep no thread from
//! those.

use std::process::Command;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

/// Some tests of a binary.
#[derive(Debug)]
pub(super) struct Group {
    /// Ends "beside them, so many ...".
    pub(super) what: &'static str,
    /// So many at once, beside the others.
    pub(super) at_once: usize,
    /// How their names begin.
    beginnings: &'static [&'static str],
}

/// Test binaries by title, and their groups.
static ASIDE: &[(&str, &[Group])] = &[("btu: it (test)", &[PATIENT, OF_ONE_RUN])];

/// They spend their time waiting: for a lease that ends, a deadline, a silence that has to last. What sends or
/// computes for most of its time has no place here: it would disturb what is measured beside it.
const PATIENT: Group = Group {
    what: "that mostly wait",
    at_once: 2,
    beginnings: &[
        "agent::between::",
        "agent::blocks::",
        "agent::broken::a_silent_cut_",
        "agent::broken::strangers_",
        "agent::elsewhere::",
        "agent::ended::",
        "agent::limits::",
        "ending::a_run_in_which_a_cell_met_its_cap_",
        "faults::",
        "link::",
        "pingpong::",
        "redact::",
        "run::",
    ],
};

/// The first of them makes the one real run that all look at; each thread that had one would stand still
/// meanwhile.
const OF_ONE_RUN: Group = Group {
    what: "that look at one run",
    at_once: 1,
    beginnings: &["compare::", "html::", "rank::", "readme::", "trust::"],
};

/// The groups of a binary, each with the names of its tests.
pub(super) fn of(
    title: &str,
    command: &impl Fn() -> Command,
) -> Result<Vec<(&'static Group, Vec<String>)>> {
    let Some((_, groups)) = ASIDE.iter().find(|(named, _)| *named == title) else {
        return Ok(Vec::new());
    };
    let listed = command().args(["--list", "--format=terse"]).output();
    let listed = listed.with_context(|| format!("list the tests of {title}"))?;
    let list = String::from_utf8_lossy(&listed.stdout);
    let with_names = |group: &'static Group| Ok((group, named(group.beginnings, &list)?));
    let all: Result<_> = groups.iter().map(with_names).collect();
    all.with_context(|| format!("xtask/src/test/aside.rs: {title}"))
}

/// Those of a terse list that begin so. A beginning that nothing has is a mistake of the list here.
fn named(beginnings: &[&str], list: &str) -> Result<Vec<String>> {
    let tests: Vec<&str> = list.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    if let Some(stale) = beginnings.iter().find(|one| !tests.iter().any(|t| t.starts_with(**one))) {
        bail!("no test begins with {stale}");
    }
    let is_patient = |test: &&&str| beginnings.iter().any(|one| test.starts_with(one));
    Ok(tests.iter().filter(is_patient).map(ToString::to_string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "agent::ended::a: test\nagent::ended::b: test\nlink::c: test\n\n3 tests\n";

    #[test]
    fn beginnings_name_modules_and_single_tests() {
        assert_eq!(
            named(&["agent::ended::"], LIST).unwrap(),
            ["agent::ended::a", "agent::ended::b"]
        );
        assert_eq!(named(&["link::c"], LIST).unwrap(), ["link::c"]);
    }

    #[test]
    fn a_test_that_is_gone_does_not_stay_in_the_list() {
        let error = named(&["agent::ended::", "link::d"], LIST).unwrap_err();
        assert_eq!(error.to_string(), "no test begins with link::d");
    }
}
