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

/// Test binaries by title, and how those tests of them begin that find the same whoever runs them: they read what is
/// stored or written, compute, speak to an agent, or lose one, or judge what was measured. What makes namespaces or
/// sockets in another way for an ordinary user stands in the tests that are left: a run, flows and blocks between hosts,
/// every layer and transport. Whoever runs all tests as root runs these here once.
static ALIKE: &[(&str, &[&str])] = &[
    ("btu: alone (test)", &["alike::", "oracles::"]),
    (
        "btu-engine: it (test)",
        &["messages::kernels::", "messages::processes::m9_", "pingpong_hosts::"],
    ),
    (
        "btu: it (test)",
        &[
            "agent::a_second_conductor_",
            "agent::an_agent_that_comes_back_",
            "agent::between::",
            "agent::broken::",
            "agent::capped::",
            "agent::cut::",
            "agent::elsewhere::",
            "agent::ended::",
            "agent::limits::",
            "agent::mesh::",
            "agent::nonsense::",
            "agent::resumed::",
            "agent::shared::",
            "agent::stepped::",
            "agent::stop_all_",
            "app::",
            "calibrated::",
            "compare::",
            "disagreements::",
            "history::",
            "html::",
            "manual::",
            "math::",
            "media::",
            "model::",
            "parsers::",
            "pingpong::chasm::",
            "planted::",
            "rank::",
            "refusals::",
            "score::",
            "traffic_methods::",
            "trust::",
        ],
    ),
];

/// They spend most of their time waiting: for a lease that ends, a deadline, a silence that has to last, a host that
/// comes back. Each takes a quarter of a CPU or less. What sends or computes for most of its time has no place here:
/// it would disturb what is measured beside it.
const PATIENT: Group = Group {
    what: "that mostly wait",
    at_once: 3,
    beginnings: &[
        "agent::a_killed_agent_",
        "agent::a_second_conductor_",
        "agent::an_agent_that_comes_back_",
        "agent::between::",
        "agent::blocks::",
        "agent::broken::",
        "agent::crowd::",
        "agent::cut::",
        "agent::elsewhere::",
        "agent::ended::",
        "agent::limits::",
        "agent::resumed::",
        "agent::shared::",
        "agent::stepped::",
        "agent::stop_all_",
        "agent::unit::",
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

/// Which tests of a binary run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    /// Those that may find something else for another user.
    ByUser,
}

/// How the tests of a binary are run.
#[derive(Debug, Default)]
pub(super) struct Division {
    /// Groups, each with the names of its tests.
    pub(super) groups: Vec<(&'static Group, Vec<String>)>,
    /// The names of those that are not run.
    pub(super) left_out: Vec<String>,
}

impl Division {
    /// Of the binary of this title.
    pub(super) fn of(title: &str, command: &impl Fn() -> Command, wanted: Wanted) -> Result<Self> {
        let groups = of_title(ASIDE, title);
        let alike = if wanted == Wanted::All { &[] } else { of_title(ALIKE, title) };
        if groups.is_empty() && alike.is_empty() {
            return Ok(Self::default());
        }
        let listed = command().args(["--list", "--format=terse"]).output();
        let listed = listed.with_context(|| format!("list the tests of {title}"))?;
        let list = String::from_utf8_lossy(&listed.stdout);
        let all = Self::by_list(groups, alike, &list);
        all.with_context(|| format!("xtask/src/test/aside.rs: {title}"))
    }

    fn by_list(groups: &'static [Group], alike: &[&str], list: &str) -> Result<Self> {
        let left_out = named(alike, list)?;
        let with_names = |group: &'static Group| {
            let mut names = named(group.beginnings, list)?;
            names.retain(|name| !left_out.contains(name));
            Ok((group, names))
        };
        let groups = groups.iter().map(with_names).collect::<Result<_>>()?;
        Ok(Self { groups, left_out })
    }

    /// The tests that do not run with the rest of the binary.
    pub(super) fn elsewhere(&self) -> impl Iterator<Item = &String> {
        self.groups.iter().flat_map(|(_, names)| names).chain(&self.left_out)
    }
}

/// Whether tests of this title run in groups.
pub(super) fn has_groups(title: &str) -> bool {
    !of_title(ASIDE, title).is_empty()
}

fn of_title<T>(table: &'static [(&str, &'static [T])], title: &str) -> &'static [T] {
    table.iter().find(|(named, _)| *named == title).map_or(&[], |(_, values)| values)
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

    #[test]
    fn what_finds_the_same_for_everybody_is_in_no_group() {
        static GROUPS: &[Group] =
            &[Group { what: "that wait", at_once: 2, beginnings: &["agent::ended::"] }];
        let division = Division::by_list(GROUPS, &["agent::ended::b"], LIST).unwrap();
        assert_eq!(division.groups[0].1, ["agent::ended::a"]);
        assert_eq!(division.left_out, ["agent::ended::b"]);
        assert_eq!(division.elsewhere().count(), 2);
        assert!(Division::by_list(GROUPS, &["gone::"], LIST).is_err());
    }
}
