//! Programs and tests that cargo has built, and how a test binary is run.
//!
//! Integration tests send real traffic, most of them side by side on all CPUs. What fails there is run once
//! more, alone: a disturbance passes then and is counted as one, a fault of the product stays red.

use std::panic::resume_unwind;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde::Deserialize;

use super::aside::Division;
use super::aside::Wanted;
use super::outcome::Binaries;
use super::outcome::Outcome;
use super::outcome::Shown;
use super::tally::Tally;
use crate::repo::Repo;

pub(super) struct Binary {
    pub(super) title: String,
    pub(super) executable: PathBuf,
    /// Of its crate: where cargo runs tests.
    pub(super) folder: PathBuf,
    pub(super) is_test: bool,
    is_real: bool,
}

/// More failures than that are no disturbance.
const MOST_DISTURBED: usize = 3;

/// Builds the tests of the crates that `which` selects, and no examples; programs come first, since tests start them.
pub(super) fn build(repo: &Repo, which: &[&str]) -> Result<Vec<Binary>> {
    let mut command = repo.command("cargo");
    command.args(["test", "--no-run", "--locked", "--message-format=json"]);
    command.args(["--lib", "--bins", "--tests"]).args(which);
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.context("run cargo test --no-run")?;
    if !output.status.success() {
        bail!("cargo test --no-run did not build the tests");
    }
    let text = String::from_utf8(output.stdout).context("read cargo's messages")?;
    let mut found: Vec<Binary> = text.lines().filter_map(Binary::named).collect();
    found.sort_by_key(|binary| binary.is_test);
    Ok(found)
}

/// What cargo says about each thing it has built.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    profile: Option<Profile>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Binary {
    fn named(line: &str) -> Option<Self> {
        let message: Message = serde_json::from_str(line).ok()?;
        let target = message.target?;
        let folder = message.manifest_path?.parent().map(Path::to_owned)?;
        let krate = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Some(Self {
            title: format!("{krate}: {} ({})", target.name, target.kind.join(", ")),
            executable: message.executable?,
            is_real: target.kind.iter().any(|kind| kind == "test"),
            is_test: message.profile?.test,
            folder,
        })
    }

    /// The name of its crate.
    pub(super) fn krate(&self) -> &str {
        self.title.split(':').next().unwrap_or_default()
    }

    /// Runs all tests of the binary, and alone those that real traffic may have disturbed.
    pub(super) fn run(&self, wanted: Wanted, command: impl Fn() -> Command) -> Result<Tally> {
        let all = self.side_by_side(wanted, &command)?;
        if !self.is_real || all.failed.is_empty() || all.failed.len() > MOST_DISTURBED {
            return Ok(all.tally);
        }
        println!("\nonce more, alone: {}", all.failed.join(", "));
        let mut alone = command();
        alone.args(&all.failed).args(["--exact", "--test-threads=1"]);
        Ok(all.tally.settled(Outcome::of(&mut alone, Binaries::One, Shown::AtOnce)?.tally))
    }

    /// All tests: each group that stands aside in a process of its own, beside the others.
    fn side_by_side(&self, wanted: Wanted, command: &impl Fn() -> Command) -> Result<Outcome> {
        let division = Division::of(&self.title, command, wanted)?;
        let mut others = command();
        if division.elsewhere().next().is_some() {
            others.arg("--exact").args(division.elsewhere().flat_map(|name| ["--skip", name]));
        }
        if !division.left_out.is_empty() {
            println!("not again, since they find the same: {}", division.left_out.join(", "));
        }
        let groups = &division.groups;
        thread::scope(|scope| {
            let aside = groups.iter().map(|(group, names)| {
                let mut command = command();
                command.arg("--exact").args(names);
                command.arg(format!("--test-threads={}", group.at_once));
                scope.spawn(move || Outcome::of(&mut command, Binaries::One, Shown::Later))
            });
            let aside: Vec<_> = aside.collect();
            let mut all = Outcome::of(&mut others, Binaries::One, Shown::AtOnce);
            for ((group, names), outcome) in groups.iter().zip(aside) {
                let mut outcome = outcome.join().unwrap_or_else(|panic| resume_unwind(panic))?;
                println!("\nbeside them, {} {}", names.len(), group.what);
                outcome.show();
                all = all.map(|all| all.with(outcome));
            }
            all
        })
    }
}

#[cfg(test)]
impl Binary {
    /// Integration tests, whose command a test says.
    pub(super) fn of_title(title: &str) -> Self {
        Self {
            title: title.into(),
            executable: PathBuf::new(),
            folder: PathBuf::new(),
            is_test: true,
            is_real: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_about_executables_are_binaries() {
        let test = r#"{"reason":"compiler-artifact","manifest_path":"/w/a/Cargo.toml","target":{"name":"it","kind":["test"]},"profile":{"test":true},"executable":"/t/it-1"}"#;
        let lib = r#"{"reason":"compiler-artifact","manifest_path":"/w/a/Cargo.toml","target":{"name":"a","kind":["lib"]},"profile":{"test":false},"executable":null}"#;
        let named = Binary::named(test).unwrap();
        assert!(named.is_test && named.is_real);
        let alone = Binary::named(&test.replace("\"it\"", "\"alone\"")).unwrap();
        assert!(alone.is_real, "{}", alone.title);
        let pure = test.replace("\"it\"", "\"a\"").replace("[\"test\"]", "[\"lib\"]");
        assert!(!Binary::named(&pure).unwrap().is_real);
        assert_eq!((named.title.as_str(), named.folder), ("a: it (test)", "/w/a".into()));
        assert!(Binary::named(lib).is_none());
        assert!(Binary::named("{\"reason\":\"build-finished\",\"success\":true}").is_none());
    }

    /// A shell stands for a test binary: it fails until it is asked for one test alone.
    fn ran(is_real: bool, alone: &str) -> Tally {
        let script = format!(
            "if [ $# = 0 ]; then printf 'failures:\n    a::b\n\n\
             test result: FAILED. 4 passed; 1 failed;\n'; exit 1; fi; {alone}"
        );
        let binary = Binary {
            title: String::new(),
            executable: PathBuf::new(),
            folder: PathBuf::new(),
            is_test: true,
            is_real,
        };
        let command = || {
            let mut command = Command::new("sh");
            command.args(["-c", &script, "sh"]);
            command
        };
        binary.run(Wanted::All, command).unwrap()
    }

    const PASSES: &str = "test \"$1 $2\" = 'a::b --exact' && \
                          echo 'test result: ok. 1 passed; 0 failed;'";

    #[test]
    fn what_passes_alone_was_disturbed_and_is_counted_as_that() {
        let tally = ran(true, PASSES);
        assert!(tally.is_green());
        assert!(tally.to_string().starts_with("1 passed only alone"), "{tally}");
    }

    /// A shell stands for a binary with groups of tests: it says how many of them it was told to leave out.
    #[test]
    fn groups_run_beside_the_others_and_every_test_runs_once() {
        let list = "case $1 in --list) printf 'agent::%s_: test\n' a_killed_agent a_second_conductor \
            an_agent_that_comes_back between::a blocks::a broken::a crowd::a cut::a elsewhere::a ended::a limits::a \
            resumed::a shared::a stepped::a stop_all unit::a nonsense::a; printf '%s: test\n' \
            ending::a_run_in_which_a_cell_met_its_cap_a faults::a link::a pingpong::a redact::a run::a \
            compare::a html::a rank::a readme::a trust::a traffic::a;;";
        // 22 that wait and five that look at one run; two others, of which the shell counts one.
        let ran = "*) case $2 in --skip) n=1 skipped=$((($# - 1) / 2));; *) n=$(($# - 2)) skipped=0;; esac; \
            test $skipped = 0 -o $skipped = 27 && echo \"test result: ok. $n passed; 0 failed;\";; esac";
        let script = format!("{list} {ran}");
        let binary = Binary::of_title("btu: it (test)");
        let command = || {
            let mut command = Command::new("sh");
            command.args(["-c", &script, "sh"]);
            command
        };
        let tally = binary.run(Wanted::All, command).unwrap();
        assert!(tally.is_green());
        assert_eq!(tally.to_string(), "28 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn what_fails_alone_too_or_breaks_off_is_red() {
        assert!(!ran(true, "echo 'test result: FAILED. 0 passed; 1 failed;'; exit 1").is_green());
        assert!(!ran(true, "exit 101").is_green());
    }

    #[test]
    fn pure_tests_have_no_second_chance() {
        assert!(!ran(false, PASSES).is_green());
    }
}
