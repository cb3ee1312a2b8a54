//! Under a CPU quota of a control group, as in a container: what it stopped is told, and the machine is not blamed.

use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;

use serde_json::Value;

use crate::commands::needs;
use crate::link::users;
use crate::program::Cells;
use crate::program::btu;
use crate::program::plan_file;

/// A group with a tenth of a CPU, which is used up where ten others want the same CPUs, too, around one without a quota, which holds a command.
#[derive(Debug)]
struct Tenth {
    around: PathBuf,
}

impl Tenth {
    fn make() -> io::Result<Self> {
        let around = PathBuf::from(format!("/sys/fs/cgroup/cpu/btu-{}", std::process::id()));
        std::fs::create_dir(&around)?;
        let made = Self { around };
        std::fs::create_dir(made.own())?;
        std::fs::write(made.around.join("cpu.cfs_period_us"), "100000")?;
        std::fs::write(made.around.join("cpu.cfs_quota_us"), "10000")?;
        Ok(made)
    }

    fn own(&self) -> PathBuf {
        self.around.join("own")
    }

    /// What the program does with these arguments, in the group.
    fn run(&self, arguments: &[&str]) -> Output {
        let program = btu().get_program().to_os_string();
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]);
        command.arg(self.own().join("cgroup.procs")).arg(program).args(arguments);
        command.output().unwrap()
    }
}

/// The document on stdout, and what was said.
fn parsed(output: &Output) -> (Value, String) {
    let said = users::text(&output.stderr);
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    (value, said)
}

impl Drop for Tenth {
    fn drop(&mut self) {
        for folder in [&self.own(), &self.around] {
            // Whoever cannot be removed is empty and costs nothing.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

#[test]
fn a_quota_around_the_group_of_a_run_is_disclosed_and_what_it_stopped_is_told() {
    needs!();
    let group = match Tenth::make() {
        Ok(group) => group,
        Err(cause) if users::is_root() => skip!("kernel lacks: control groups 1: {cause}"),
        Err(cause) => skip!("only as root: make a control group: {cause}"),
    };
    let (doctor, _) = parsed(&group.run(&["doctor", "--json"]));
    let checks = doctor["checks"].as_array().unwrap();
    let quota = checks.iter().find(|check| check["name"] == "cpu-quota").unwrap();
    assert!(quota["found"].as_str().is_some_and(|text| text == "0.10 CPUs"), "{quota}");

    let dir = tempfile::tempdir().unwrap();
    let cells = Cells {
        applications: &["telnet"],
        window: "1s",
        more: Cells::WITHOUT_CAPTURES,
        ..Cells::SHORT
    };
    let (plan, out) = (plan_file(dir.path(), cells), dir.path().join("result"));
    let run = ["run", "--json", "--plan", word(&plan), "--out", word(&out)];
    let (result, said) = parsed(&group.run(&run));
    assert!(said.contains(NOTE), "{said}");
    let hosts = std::fs::read_to_string(out.join("hosts.json")).unwrap();
    assert!(hosts.contains("\"10000 100000\""), "{hosts}");
    let cell = &result["cells"][0];
    let flags = cell["flags"].as_array().unwrap();
    assert!(flags.iter().any(|flag| flag.to_string().contains("cpu-quota")), "{cell}");

    let out = dir.path().join("pingpong");
    let pingpong = group.run(&["pingpong", "--sizes", "64B", "--out", word(&out)]);
    let said = users::text(&pingpong.stderr);
    assert!(pingpong.status.success() && said.contains(NOTE), "{said}");
}

/// Said before anything is measured.
const NOTE: &str = "note: a CPU quota of 0.10 on ";

fn word(path: &Path) -> &str {
    path.to_str().unwrap()
}
