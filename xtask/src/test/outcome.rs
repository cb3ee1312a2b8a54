//! What one run of a test binary said: its counts and the names of what failed.

use std::io::BufRead;
use std::io::BufReader;
use std::process::Command;
use std::process::Stdio;

use anyhow::Context;
use anyhow::Result;

use super::tally::Tally;

#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) tally: Tally,
    /// As the closing list names them.
    pub(super) failed: Vec<String>,
    in_list: bool,
    /// The closing line: the last of its kind, since a failed test may show that of another process.
    closing: String,
}

impl Outcome {
    /// Runs a command that prints as cargo's test runner does, shows its lines and counts.
    pub(super) fn of(command: &mut Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn().context("start the tests")?;
        let stdout = child.stdout.take().context("read the tests' output")?;
        let mut outcome = Self::default();
        for line in BufReader::new(stdout).lines() {
            let line = line.context("read the tests' output")?;
            println!("{line}");
            outcome.read(&line);
        }
        let status = child.wait().context("wait for the tests")?;
        outcome.tally.read(&outcome.closing);
        outcome.tally.ended(status.success());
        Ok(outcome)
    }

    /// The runner prints two blocks under `failures:`, first what was said, then the names.
    fn read(&mut self, line: &str) {
        if line == "failures:" {
            self.failed.clear();
            self.in_list = true;
        } else if let Some(name) = line.strip_prefix("    ").filter(|_| self.in_list) {
            self.failed.push(name.to_owned());
        } else if line.starts_with("test result: ") {
            (self.in_list, self.closing) = (false, line.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_last_list() {
        let said = "test a::one ... FAILED\ntest a::two ... ok\n\nfailures:\n\n\
                    ---- a::one stdout ----\n    left: 1\n\n\nfailures:\n    a::one\n\n\
                    test result: FAILED. 1 passed; 1 failed; 0 ignored\n    not a name";
        let mut outcome = Outcome::default();
        said.lines().for_each(|line| outcome.read(line));
        assert_eq!(outcome.failed, ["a::one"]);
    }

    #[test]
    fn the_counts_are_those_of_the_last_closing_line() {
        let said = "echo 'test result: FAILED. 0 passed; 1 failed;' && \
                    echo 'test result: FAILED. 4 passed; 1 failed;' && exit 101";
        let outcome = Outcome::of(Command::new("sh").args(["-c", said])).unwrap();
        assert_eq!(outcome.tally.to_string(), "4 passed, 1 failed, 0 skipped");
    }
}
