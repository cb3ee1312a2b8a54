//! Tests that spend their time waiting: for a lease that ends, a deadline, a silence that has to last.
//!
//! They need next to no CPU, so they run beside the others instead of keeping a thread from them. What
//! sends or computes for most of its time has no place here: it would disturb what is measured beside it.

use std::process::Command;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

/// So many at once, beside the others.
pub(super) const AT_ONCE: usize = 2;

/// Test binaries by title, and how the names of their patient tests begin.
static PATIENT: &[(&str, &[&str])] = &[(
    "btu: it (test)",
    &[
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
)];

/// The names of a binary's patient tests.
pub(super) fn of(title: &str, command: &impl Fn() -> Command) -> Result<Vec<String>> {
    let Some((_, beginnings)) = PATIENT.iter().find(|(named, _)| *named == title) else {
        return Ok(Vec::new());
    };
    let listed = command().args(["--list", "--format=terse"]).output();
    let listed = listed.with_context(|| format!("list the tests of {title}"))?;
    named(beginnings, &String::from_utf8_lossy(&listed.stdout))
        .with_context(|| format!("xtask/src/test/patient.rs: {title}"))
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
