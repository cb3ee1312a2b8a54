//! The repository as the chores see it: its files, its packages, and commands run inside it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde::Deserialize;

use crate::source::Source;

/// The checkout that this program was built from.
pub(crate) struct Repo {
    root: PathBuf,
}

impl Repo {
    pub(crate) fn here() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let root = root.canonicalize().with_context(|| format!("find {}", root.display()))?;
        Ok(Self { root })
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn read(&self, relative: &str) -> Result<String> {
        let path = self.path(relative);
        fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
    }

    /// Every Rust file of the workspace, in the order of its path.
    pub(crate) fn sources(&self) -> Result<Vec<Source>> {
        let mut paths = Vec::new();
        for folder in ["crates", "xtask", "tests"] {
            rust_files(&self.path(folder), &mut paths)?;
        }
        paths.sort();
        paths.iter().map(|path| self.source(path)).collect()
    }

    fn source(&self, path: &Path) -> Result<Source> {
        let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let name = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        Ok(Source::scan(name, text))
    }

    /// What cargo knows about the crates of the workspace.
    pub(crate) fn metadata(&self) -> Result<Metadata> {
        let args = ["metadata", "--format-version", "1", "--locked", "--no-deps"];
        serde_json::from_str(&self.cargo(&args)?).context("read cargo metadata")
    }

    /// Every package that is built here, ours included. (The resolve of `cargo metadata` also
    /// names optional packages that no feature switches on.)
    pub(crate) fn packages(&self) -> Result<BTreeSet<Package>> {
        let args = ["tree", "--workspace", "--locked", "--prefix", "none", "--format", "{p}|{l}"];
        let text = self.cargo(&args)?;
        text.lines().filter(|line| !line.is_empty()).map(Package::parse).collect()
    }

    fn cargo(&self, args: &[&str]) -> Result<String> {
        let command = args.join(" ");
        let output = self.command("cargo").args(args).output();
        let output = output.with_context(|| format!("run cargo {command}"))?;
        if !output.status.success() {
            bail!("cargo {command}: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        String::from_utf8(output.stdout).with_context(|| format!("read cargo {command}"))
    }

    /// A command that starts in the repository's root, without what cargo told this program of its own package:
    /// build scripts that look there (ring's does) would run anew under a chore, and once more without one.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        std::env::vars_os().filter(|(name, _)| of_package(name)).for_each(|(name, _)| {
            command.env_remove(name);
        });
        command
    }

    /// Announces a command, runs it, and says whether it succeeded.
    pub(crate) fn step(&self, line: &str) -> Result<bool> {
        println!("$ {line}");
        let status = self.words(line).status();
        Ok(status.with_context(|| format!("run {line}"))?.success())
    }

    /// A command by its words, none of which holds a space.
    pub(crate) fn words(&self, line: &str) -> Command {
        let mut words = line.split(' ');
        let mut command = self.command(words.next().unwrap_or_default());
        command.args(words);
        command
    }
}

/// What `cargo run` tells a program of its package (The Cargo Book, environment variables that cargo sets).
fn of_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|beginning| name.starts_with(beginning))
}

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            rust_files(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
    Ok(())
}

/// The part of `cargo metadata` that the chores read.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    #[serde(rename = "packages")]
    pub(crate) members: Vec<Member>,
}

/// A crate of the workspace.
#[derive(Deserialize)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
}

/// A package that takes part in the build.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: String,
}

impl Package {
    /// `name v1.2.3 (path or note)|licence`
    fn parse(line: &str) -> Result<Self> {
        let (package, licence) = line.split_once('|').with_context(|| format!("read {line}"))?;
        let mut words = package.split(' ');
        let (name, version) = (words.next(), words.next());
        Ok(Self {
            name: name.unwrap_or_default().to_owned(),
            version: version.with_context(|| format!("read {line}"))?.to_owned(),
            licence: licence.trim_end_matches(" (*)").to_owned(),
        })
    }
}
