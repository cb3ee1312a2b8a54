//! How this program is made: compiler, target and commit, as its results disclose them.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    let tell = |name: &str, value: &str| println!("cargo::rustc-env=BTU_{name}={value}");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let compiler = said(Command::new(variable("RUSTC")).arg("--version"));
    tell("COMPILER", &compiler.unwrap_or_default());
    tell("TARGET", &variable("TARGET"));
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    tell("COMMIT", &commit(&root).unwrap_or_default());
    // Whatever the program is made of. What is only committed is the same program.
    for source in sources(&root) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
}

/// The commit whose files these are; one that was changed since says so. None where they are not in
/// the repository of their own.
fn commit(root: &Path) -> Option<String> {
    let git = |args: &[&str]| {
        said(Command::new("git").arg("-C").arg(root).arg("--no-optional-locks").args(args))
    };
    let own = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    if own != root.canonicalize().ok()? {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--", "crates", "editions", "Cargo.lock"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}, changed since") })
}

fn sources(root: &Path) -> Vec<PathBuf> {
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let mut sources: Vec<PathBuf> = crates.map(|one| one.path().join("src")).collect();
    sources.extend(["editions", "Cargo.lock"].map(|name| root.join(name)));
    sources.sort();
    sources.push("build.rs".into());
    sources
}

/// What a command that succeeds prints.
fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
