//! What one run of a test binary said: its counts and the names of what failed.

use std::io::BufRead;
use std::io::BufReader;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Output;
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
    /// The closing lines, the last one last.
    closing: Vec<String>,
    /// What is not shown yet.
    held_back: Vec<String>,
}

/// When the lines of a command are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// As they come.
    AtOnce,
    /// By [`Outcome::show`]: another command shows its own meanwhile.
    Later,
}

/// How many test binaries a command runs, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binaries {
    /// The last closing line counts, since a failed test may show that of another process.
    One,
    /// Each closes with a line of its own.
    Several,
}

impl Outcome {
    /// Runs a command that prints as cargo's test runner does, shows its lines and counts.
    pub(super) fn of(command: &mut Command, binaries: Binaries, shown: Shown) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn().context("start the tests")?;
        let stdout = child.stdout.take().context("read the tests' output")?;
        let mut outcome = Self::default();
        for line in BufReader::new(stdout).lines() {
            let line = line.context("read the tests' output")?;
            outcome.read(&line);
            match shown {
                Shown::AtOnce => println!("{line}"),
                Shown::Later => outcome.held_back.push(line),
            }
        }
        let status = child.wait().context("wait for the tests")?;
        outcome.close(binaries, status);
        Ok(outcome)
    }

    /// Of a binary that has run: all that it said is shown later.
    pub(super) fn held_back(output: &Output) -> Self {
        let mut outcome = Self::default();
        let [said, complaint] =
            [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        said.lines().for_each(|line| outcome.read(line));
        let lines = said.lines().chain(complaint.lines());
        outcome.held_back.extend(lines.map(ToOwned::to_owned));
        outcome.close(Binaries::One, output.status);
        outcome
    }

    fn close(&mut self, binaries: Binaries, status: ExitStatus) {
        let count = if binaries == Binaries::One { 1 } else { self.closing.len() };
        self.closing.iter().rev().take(count).for_each(|line| self.tally.read(line));
        self.tally.ended(status.success());
    }

    /// Shows the lines that were held back.
    pub(super) fn show(&mut self) {
        self.held_back.drain(..).for_each(|line| println!("{line}"));
    }

    /// Together with the rest of the same tests.
    pub(super) fn with(mut self, rest: Self) -> Self {
        self.tally.add(rest.tally);
        self.failed.extend(rest.failed);
        self
    }

    /// The runner prints two blocks under `failures:`, first what was said, then the names.
    fn read(&mut self, line: &str) {
        if line == "failures:" {
            self.failed.clear();
            self.in_list = true;
        } else if let Some(name) = line.strip_prefix("    ").filter(|_| self.in_list) {
            self.failed.push(name.to_owned());
        } else if line.starts_with("test result: ") {
            self.in_list = false;
            self.closing.push(line.to_owned());
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
    fn of_one_binary_the_last_closing_line_counts_and_of_several_all_do() {
        let said = "echo 'test result: FAILED. 3 passed; 1 failed;' && \
                    echo 'test result: FAILED. 4 passed; 1 failed;' && exit 101";
        let of = |binaries| {
            Outcome::of(Command::new("sh").args(["-c", said]), binaries, Shown::AtOnce).unwrap()
        };
        let [one, all] = [Binaries::One, Binaries::Several].map(|binaries| of(binaries).tally);
        assert_eq!(one.to_string(), "4 passed, 1 failed, 0 skipped");
        assert_eq!(all.to_string(), "7 passed, 2 failed, 0 skipped");
    }

    #[test]
    fn a_command_that_fails_without_a_failed_test_broke_off() {
        let said = "echo 'test result: ok. 3 passed; 0 failed;' && exit 101";
        for binaries in [Binaries::One, Binaries::Several] {
            let mut command = Command::new("sh");
            let outcome = Outcome::of(command.args(["-c", said]), binaries, Shown::AtOnce).unwrap();
            assert!(!outcome.tally.is_green());
        }
    }
}
