//! What only computes, in the CPU time that waiting tests leave over.

use std::process::Command;
use std::process::Output;

use anyhow::Context;
use anyhow::Result;

use super::binary::Binary;
use super::outcome::Binaries;
use super::outcome::Outcome;
use super::outcome::Shown;
use super::tally::Tally;
use crate::repo::Repo;
use crate::spare::spare;

/// Test binaries by title. They ask neither a clock nor the machine, so that they find the same however slowly they
/// run; and they take long enough to be worth it.
static COMPUTING: &[&str] = &["btu-core: btu_core (lib)"];

/// Whether the tests of this title only compute.
pub(super) fn only_computes(title: &str) -> bool {
    COMPUTING.contains(&title)
}

/// What was done, of which nothing is shown yet: other tests show their lines meanwhile.
#[derive(Debug, Default)]
pub(super) struct Beside {
    lints: Vec<(String, Output)>,
    tests: Vec<(String, Outcome)>,
}

impl Beside {
    /// Runs lints, and then tests that only compute.
    pub(super) fn of(repo: &Repo, lints: &[&str], tests: Vec<(&Binary, Command)>) -> Result<Self> {
        let mut done = Self::default();
        for line in lints {
            let output = spare(&repo.words(line)).output();
            done.lints.push(((*line).to_owned(), output.with_context(|| format!("run {line}"))?));
        }
        for (binary, command) in tests {
            let outcome = Outcome::of(&mut spare(&command), Binaries::One, Shown::Later)?;
            done.tests.push((binary.title.clone(), outcome));
        }
        Ok(done)
    }

    /// Shows it: the counts of the tests, and the lints that failed.
    pub(super) fn show(mut self) -> (Tally, Vec<String>) {
        let mut red = Vec::new();
        for (line, output) in self.lints {
            println!("\nbeside them\n$ {line}");
            print!("{}", String::from_utf8_lossy(&output.stdout));
            print!("{}", String::from_utf8_lossy(&output.stderr));
            if !output.status.success() {
                red.push(line);
            }
        }
        let mut tally = Tally::default();
        for (title, outcome) in &mut self.tests {
            println!("\nbeside them\n{title}");
            outcome.show();
            tally.add(outcome.tally);
        }
        (tally, red)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lints_that_fail_are_named_and_tests_are_counted() {
        let repo = Repo::here().unwrap();
        let core = Binary::of_title(COMPUTING[0]);
        let fails = "echo 'test result: FAILED. 2 passed; 1 failed;'; exit 101";
        let tests = vec![
            (&core, shell("echo 'test result: ok. 3 passed; 0 failed;'")),
            (&core, shell(fails)),
        ];
        let (tally, red) = Beside::of(&repo, &["true", "false"], tests).unwrap().show();
        assert_eq!(tally.to_string(), "5 passed, 1 failed, 0 skipped");
        assert_eq!(red, ["false"]);
        let nothing = Beside::of(&repo, &["no-such-program"], Vec::new());
        assert!(nothing.is_ok_and(|done| done.show().1 == ["no-such-program"]));
    }
}
