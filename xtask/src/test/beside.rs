//! What only computes, in the CPU time that waiting tests leave over.

use std::io;
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use anyhow::Context;
use anyhow::Result;

use super::binary::Binary;
use super::outcome::Outcome;
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

/// Test binaries by title that run with nothing beside them.
static ALONE: &[&str] = &["btu: alone (test)"];

/// Whether the tests of this title want the machine for themselves.
pub(super) fn wants_the_machine(title: &str) -> bool {
    ALONE.contains(&title)
}

/// Whose turn it is. While tests wait, whatever else runs gives way to everybody; where others keep this machine busy it
/// may then have hardly any time. So it goes on as an ordinary program as soon as those tests are over.
#[derive(Debug, Default)]
pub(super) struct Turn(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    are_tests_over: bool,
    giving_way: Option<u32>,
}

impl Turn {
    /// The tests are over: what gives way to them is ended, and begun again. Cargo goes on where it was.
    pub(super) fn tests_are_over(&self) -> Result<()> {
        let mut state = self.state();
        state.are_tests_over = true;
        if let Some(leader) = state.giving_way.take() {
            let group = format!("-{leader}");
            Command::new("kill").args(["-TERM", "--", &group]).status().context("run kill")?;
        }
        Ok(())
    }

    /// Runs a command to its end.
    fn output(&self, mut command: Command) -> io::Result<Output> {
        let ended = self.begin(&mut command)?.wait_with_output()?;
        let mut state = self.state();
        state.giving_way = None;
        if !(state.are_tests_over && ended.status.signal().is_some()) {
            return Ok(ended);
        }
        drop(state);
        self.begin(&mut command)?.wait_with_output()
    }

    fn begin(&self, command: &mut Command) -> io::Result<Child> {
        let mut state = self.state();
        if state.are_tests_over {
            return command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        }
        let mut spare = spare(command);
        let child = spare.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
        state.giving_way = Some(child.id());
        Ok(child)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was done, of which nothing is shown yet: other tests show their lines meanwhile.
#[derive(Debug, Default)]
pub(super) struct Beside {
    lints: Vec<(String, Output)>,
    tests: Vec<(String, Outcome)>,
}

impl Beside {
    /// Runs lints, and then tests that only compute.
    pub(super) fn of(
        repo: &Repo,
        lints: &[&str],
        tests: Vec<(&Binary, Command)>,
        turn: &Turn,
    ) -> Result<Self> {
        let mut done = Self::default();
        for line in lints {
            let output = turn.output(repo.words(line)).with_context(|| format!("run {line}"))?;
            done.lints.push(((*line).to_owned(), output));
        }
        for (binary, command) in tests {
            let output = turn.output(command).with_context(|| format!("run {}", binary.title))?;
            done.tests.push((binary.title.clone(), Outcome::held_back(&output)));
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
        let (repo, turn) = (Repo::here().unwrap(), Turn::default());
        let core = Binary::of_title(COMPUTING[0]);
        let fails = "echo 'test result: FAILED. 2 passed; 1 failed;'; exit 101";
        let passes = "echo 'test result: ok. 3 passed; 0 failed;'";
        let tests = vec![(&core, shell(passes)), (&core, shell(fails))];
        let (tally, red) = Beside::of(&repo, &["true", "false"], tests, &turn).unwrap().show();
        assert_eq!(tally.to_string(), "5 passed, 1 failed, 0 skipped");
        assert_eq!(red, ["false"]);
        let nothing = Beside::of(&repo, &["no-such-program"], Vec::new(), &turn).unwrap();
        assert_eq!(nothing.show().1, ["no-such-program"]);
    }

    /// A shell that waits for ever at first, with a child that holds its output open.
    #[test]
    fn what_gives_way_goes_on_as_an_ordinary_program_when_the_tests_are_over() {
        let begun = std::env::temp_dir().join(format!("btu-gives-way-{}", std::process::id()));
        let script = format!(
            "if test -e {0}; then cat /proc/$$/stat; else touch {0}; sleep 600 & wait; fi",
            begun.display()
        );
        let turn = Turn::default();
        let said = std::thread::scope(|scope| {
            let done = scope.spawn(|| turn.output(shell(&script)).unwrap());
            while !begun.exists() && !done.is_finished() {
                std::thread::yield_now();
            }
            turn.tests_are_over().unwrap();
            done.join().unwrap().stdout
        });
        std::fs::remove_file(begun).unwrap();
        let own = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        assert_eq!(priority(&String::from_utf8(said).unwrap()), priority(&own));
        assert!(turn.output(shell("kill -KILL $$")).unwrap().status.signal().is_some());
    }

    /// Nice value and policy: fields 19 and 41 of `/proc/PID/stat` (proc(5)).
    fn priority(stat: &str) -> [String; 2] {
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        [19, 41].map(|number| fields[number - 3].to_owned())
    }
}
