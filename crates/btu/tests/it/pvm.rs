//! PVM as a message layer: what its user runs of PVM stays as it is.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::BufRead;
use std::io::BufReader;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use tempfile::TempDir;

use crate::program::btu;

/// A daemon whose files are in this folder.
fn daemon(folder: &Path) -> Child {
    let mut command = Command::new("pvmd");
    command.arg("-nlocalhost").env("PVM_TMP", folder).env("PVM_ALLOW_ROOT", "1");
    btu_sys::process::dies_with_its_starter(&mut command);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let out = child.stdout.as_mut().unwrap();
    assert!(BufReader::new(out).read_line(&mut String::new()).unwrap() > 0, "no address");
    child
}

/// Launches a program over PVM as somebody whose daemon is in this folder.
fn launch(folder: &Path) {
    let results = TempDir::new().unwrap();
    let mut command = btu();
    command.current_dir(results.path()).env("PVM_TMP", folder);
    command.args(["app", "run", "is", "--ranks", "2", "--launches", "1", "--layers", "pvm"]);
    let output = command.arg("--quiet").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What is there, with the content of what is a file, but for the log, to which a daemon adds a little later that it listens.
fn content(folder: &Path) -> BTreeMap<OsString, Option<Vec<u8>>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let entries = entries.filter(|one| !one.file_name().as_encoded_bytes().starts_with(b"pvml"));
    entries.map(|entry| (entry.file_name(), fs::read(entry.path()).ok())).collect()
}

#[test]
fn a_daemon_of_the_user_and_what_a_dead_one_left_are_left_as_they_were_found() {
    if !crate::skip::installed("pvmd") {
        skip!("program missing: pvmd");
    }
    let folder = TempDir::new().unwrap();
    let mut daemon = daemon(folder.path());
    let before = content(folder.path());
    launch(folder.path());
    assert_eq!(daemon.try_wait().unwrap(), None);
    assert_eq!(content(folder.path()), before);
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert_eq!(content(folder.path()), before, "a daemon that is killed leaves its files");
    launch(folder.path());
    assert_eq!(content(folder.path()), before);
}
