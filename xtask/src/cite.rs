//! `cargo xtask cite`: sections of the paper of the score without code, and code without a test.
//!
//! A citation is a comment line `//= maly1996#5 eq. 5`, above the code or inside its test.

use anyhow::Result;

use crate::chore::Chore;
use crate::chore::Verdict;
use crate::repo::Repo;
use crate::source::Source;

pub(crate) const CHORE: Chore = Chore {
    name: "cite",
    about: "sections of the paper of the score without code, cited code without a test",
    run,
};

/// What a paper asks for, in the paper's own order.
static SECTIONS: &[(&str, &str)] = &[
    ("maly1996#3", "the roles of the testbed"),
    ("maly1996#4.1", "drop and delay by packet counters"),
    ("maly1996#4.2 eq. 1", "host activities"),
    ("maly1996#4.2 eq. 2", "application classes"),
    ("maly1996#4.2 eq. 3", "cases of the test suite"),
    ("maly1996#4.3", "restart and synchronisation"),
    ("maly1996#5 eq. 4", "the time of COMM"),
    ("maly1996#5 eq. 5", "BTU of an activity and an application"),
    ("maly1996#5 eq. 6", "BTU of an application"),
    ("maly1996#5 eq. 7", "the composite BTU"),
    ("maly1996#5 eq. 8", "the time of an activity beside COMM"),
    ("maly1996#5 eq. 9", "penalty of an activity and an application"),
    ("maly1996#5 eq. 10", "penalty of an application"),
    ("maly1996#5 eq. 11", "the composite penalty"),
    ("maly1996#5 table 1", "the ranking table and its figures"),
];

/// Where a section is cited.
#[derive(Default)]
struct Cited {
    code: Vec<String>,
    tests: Vec<String>,
}

fn run(repo: &Repo, _args: &[String]) -> Result<Verdict> {
    let sources = repo.sources()?;
    let mut good = true;
    for (section, subject) in SECTIONS {
        let cited = cited(&sources, section);
        good &= !cited.code.is_empty() && !cited.tests.is_empty();
        println!("{section:<20} {:<44} {}", subject, cited.verdict());
    }
    for (place, citation) in unknown(&sources) {
        good = false;
        println!("{place}: cites {citation}, which no paper has");
    }
    Ok(Verdict::of(good))
}

impl Cited {
    fn verdict(&self) -> String {
        match (self.code.as_slice(), self.tests.as_slice()) {
            ([], []) => "no code, no test".into(),
            ([], [test, ..]) => format!("no code; test {test}"),
            ([code, ..], []) => format!("{code}; no test"),
            ([code, ..], [test, ..]) => format!("{code}; test {test}"),
        }
    }
}

fn cited(sources: &[Source], section: &str) -> Cited {
    let mut cited = Cited::default();
    for source in sources {
        for (line, citation) in citations(source).filter(|(_, citation)| *citation == section) {
            debug_assert_eq!(citation, section);
            let place = format!("{}:{}", source.path, line + 1);
            let tested = source.is_test() || source.test_line().is_some_and(|tests| line >= tests);
            if tested { &mut cited.tests } else { &mut cited.code }.push(place);
        }
    }
    cited
}

fn unknown(sources: &[Source]) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|s| s.krate() != "xtask") {
        let others = citations(source)
            .filter(|(_, c)| c.starts_with("maly1996") && !SECTIONS.iter().any(|(s, _)| s == c));
        found.extend(others.map(|(n, c)| (format!("{}:{}", source.path, n + 1), c)));
    }
    found
}

fn citations(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let lines = source.comments.lines().enumerate();
    lines.filter_map(|(n, line)| Some((n, line.trim().strip_prefix("//= ")?.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citation_counts_for_code_or_for_its_test() {
        let text = "//! X.\n//= maly1996#5 eq. 7\nfn btu() {}\n\n#[cfg(test)]\nmod tests {\n    //= maly1996#5 eq. 7\n    fn t() {}\n}\n";
        let sources = [Source::scan("crates/btu-core/src/score.rs".into(), text.into())];
        let cited = cited(&sources, "maly1996#5 eq. 7");
        assert_eq!(cited.code, ["crates/btu-core/src/score.rs:2"]);
        assert_eq!(cited.tests, ["crates/btu-core/src/score.rs:7"]);
    }

    #[test]
    fn a_section_that_the_paper_lacks_is_named() {
        let sources = [Source::scan("crates/btu/src/x.rs".into(), "//= maly1996#9\n".into())];
        assert_eq!(unknown(&sources), [("crates/btu/src/x.rs:1".to_owned(), "maly1996#9")]);
    }
}
