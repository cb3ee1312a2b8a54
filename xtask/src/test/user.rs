//! The rootless test binaries as an ordinary user, from a folder that everybody may read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::chown;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde::Deserialize;

use super::Tally;
use super::close;
use super::scratch::Scratch;
use super::tallied;
use crate::chore::Verdict;
use crate::repo::Repo;
use crate::skips::Who;

/// The crates whose tests make namespaces, sockets and processes.
const CRATES: &[&str] = &["btu-sys", "btu-engine", "btu-testbed", "btu"];

pub(super) fn run(repo: &Repo, uid: u32) -> Result<Verdict> {
    if !super::is_root() {
        bail!("--as-uid {uid}: only root may become another user");
    }
    let stage = Stage::new(uid)?;
    let mut tally = Tally::default();
    for artifact in artifacts(repo)? {
        let copy = stage.take(&artifact.executable)?;
        if artifact.is_test {
            println!("\nuid {uid}: {}", artifact.title);
            tally.add(tallied(&mut stage.command(&copy))?);
        }
    }
    close(repo, tally, &stage.path("skips.jsonl"), Who::Ordinary)
}

/// Copies of programs and tests, with a home and a temporary folder of the user.
struct Stage {
    root: Scratch,
    uid: u32,
}

impl Stage {
    fn new(uid: u32) -> Result<Self> {
        let stage = Self { root: Scratch::new("btu-as-user")?, uid };
        for folder in ["", "bin", "bin/deps", "home", "tmp"] {
            let path = stage.path(folder);
            fs::create_dir_all(&path).with_context(|| format!("create {}", path.display()))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
            chown(&path, Some(uid), Some(uid))
                .with_context(|| format!("give {} to uid {uid}", path.display()))?;
        }
        Ok(stage)
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    /// Programs go to `bin`, where tests look for them through `BTU_BIN`.
    fn take(&self, executable: &Path) -> Result<PathBuf> {
        let name = executable.file_name().context("a test binary without a name")?;
        let copy = self.path("bin").join(name);
        fs::copy(executable, &copy).with_context(|| format!("copy {}", executable.display()))?;
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
        Ok(copy)
    }

    fn command(&self, binary: &Path) -> Command {
        let uid = self.uid.to_string();
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &uid, "--regid", &uid, "--clear-groups", "--inh-caps=-all"]);
        command.arg(binary).current_dir(self.path("tmp"));
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env("BTU_BIN", self.path("bin/btu")).env("BTU_SKIPS", self.path("skips.jsonl"));
        command
    }
}

struct Artifact {
    title: String,
    executable: PathBuf,
    is_test: bool,
}

/// What cargo says about each thing it has built.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
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

/// Programs first, since the tests start them.
fn artifacts(repo: &Repo) -> Result<Vec<Artifact>> {
    let mut command = repo.command("cargo");
    command.args(["test", "--no-run", "--locked", "--quiet", "--message-format=json"]);
    for krate in CRATES {
        command.args(["-p", krate]);
    }
    let output = command.output().context("run cargo test --no-run")?;
    if !output.status.success() {
        bail!("cargo test --no-run: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8(output.stdout).context("read cargo's messages")?;
    let mut found: Vec<Artifact> = text.lines().filter_map(artifact).collect();
    found.sort_by_key(|artifact| artifact.is_test);
    Ok(found)
}

fn artifact(line: &str) -> Option<Artifact> {
    let message: Message = serde_json::from_str(line).ok()?;
    let target = message.target?;
    Some(Artifact {
        title: format!("{} ({})", target.name, target.kind.join(", ")),
        executable: message.executable?,
        is_test: message.profile?.test,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_about_executables_are_artifacts() {
        let test = r#"{"reason":"compiler-artifact","target":{"name":"it","kind":["test"]},"profile":{"test":true},"executable":"/t/it-1"}"#;
        let lib = r#"{"reason":"compiler-artifact","target":{"name":"a","kind":["lib"]},"profile":{"test":false},"executable":null}"#;
        assert!(artifact(test).is_some_and(|a| a.is_test && a.title == "it (test)"));
        assert!(artifact(lib).is_none());
        assert!(artifact("{\"reason\":\"build-finished\",\"success\":true}").is_none());
    }
}
