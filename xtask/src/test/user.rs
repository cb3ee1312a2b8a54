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

use super::Tally;
use super::aside::Wanted;
use super::binary;
use super::close;
use super::scratch::Scratch;
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
    // The whole workspace, as the first pass builds it: for fewer crates cargo chooses fewer features and builds anew.
    let mut binaries = binary::build(repo, &["--workspace"])?;
    binaries.retain(|binary| CRATES.contains(&binary.krate()));
    for binary in binaries {
        let copy = stage.take(&binary.executable)?;
        if binary.is_test {
            println!("\nuid {uid}: {}", binary.title);
            tally.add(binary.run(Wanted::ByUser, || stage.command(&copy))?);
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
