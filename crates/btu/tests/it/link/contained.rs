//! Nothing of a link outlives it, however it ends (check E16).

use std::fmt;
use std::fs;
use std::fs::File;
use std::io::BufRead;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::Stdio;

use super::need_namespaces;
use super::users;
use super::users::User;
use super::users::btu;
use super::users::link;
use crate::wait::wait_until;

/// Namespaces of a command, as the kernel names them: `net:[4026532000]`.
#[derive(Debug)]
pub(crate) struct Inside {
    namespaces: Vec<String>,
    /// Stands in the arguments of each process.
    marker: String,
    /// The kernel gives the names of those that are gone to new ones, another test's: what is held stays.
    _held: Vec<File>,
}

impl Inside {
    /// Of processes that still run.
    pub(crate) fn of(namespaces: Vec<String>, marker: String) -> Self {
        let held = processes().flat_map(|number| held(&number, &namespaces)).collect();
        Self { namespaces, marker, _held: held }
    }

    /// Processes of which a thread lives in one of the namespaces, or that carry the marker.
    pub(crate) fn survivors(&self) -> Vec<String> {
        let alive = processes().filter_map(|number| {
            let arguments = arguments_of(&number);
            let namespaces = namespaces_of(&number);
            let lives_there = namespaces.iter().any(|found| self.namespaces.contains(found));
            let ours = lives_there || arguments.contains(&self.marker);
            ours.then(|| format!("{number} {arguments}"))
        });
        alive.collect()
    }

    /// Waits for the end of all, but not for ever.
    pub(crate) fn are_gone_soon(&self) {
        let still_there = fmt::from_fn(|out| write!(out, "still there: {:#?}", self.survivors()));
        wait_until(still_there, || self.survivors().is_empty());
    }
}

/// Every process by its number.
fn processes() -> impl Iterator<Item = String> {
    let names = fs::read_dir("/proc").unwrap().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.parse::<u32>().is_ok())
}

/// Those of a process, with a space between them; nothing where it has ended.
fn arguments_of(process: &str) -> String {
    let arguments = fs::read_to_string(format!("/proc/{process}/cmdline"));
    arguments.unwrap_or_default().replace('\0', " ")
}

/// The network and process namespaces that the threads of a process live in, each once.
pub(crate) fn namespaces_of(process: &str) -> Vec<String> {
    let mut names: Vec<String> = links_of(process).map(|(_, name)| name).collect();
    names.sort();
    names.dedup();
    names
}

/// These namespaces of a process, open: none of them ends before its file does.
fn held(process: &str, namespaces: &[String]) -> Vec<File> {
    let wanted = links_of(process).filter(|(_, name)| namespaces.contains(name));
    wanted.filter_map(|(link, _)| File::open(link).ok()).collect()
}

/// Where the kernel shows the namespaces of each thread of a process, and what it calls them.
fn links_of(process: &str) -> impl Iterator<Item = (PathBuf, String)> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let links =
        threads.flat_map(|thread| ["net", "pid"].map(|kind| thread.path().join("ns").join(kind)));
    links.filter_map(|link| {
        let name = fs::read_link(&link).ok()?.into_os_string().into_string().ok()?;
        Some((link, name))
    })
}

/// No device that this program made is left on the machine itself.
pub(crate) fn assert_no_device_is_left() {
    let devices: Vec<String> = fs::read_dir("/sys/class/net")
        .map(|all| all.flatten().filter_map(|one| one.file_name().into_string().ok()).collect())
        .unwrap_or_default();
    assert!(!devices.iter().any(|name| name.starts_with("btu")), "{devices:?}");
}

/// A `ping`, which clears the parent-death signal; a daemon that left session and parent; and the
/// marker in the arguments of all.
fn survivors_script(marker: &str) -> String {
    format!(
        "ping -q -i 0.2 -W {marker} $BTU_LINK_FAR >/dev/null & \
         sh -c 'setsid sleep {marker} &'; \
         readlink /proc/self/ns/net /proc/self/ns/pid; echo ready; sleep {marker}"
    )
}

/// Kills the program the hard way once everything runs, and looks for what is left.
fn nothing_survives(user: User, command: &mut std::process::Command, marker: String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let namespaces: Vec<String> = lines.take_while(|line| line != "ready").collect();
    assert!(namespaces.len() >= 2, "{user:?}: {namespaces:?}");
    let inside = Inside::of(namespaces, marker);
    assert!(inside.survivors().len() >= 3, "the test sees nothing: {:?}", inside.survivors());
    child.kill().unwrap();
    child.wait().unwrap();
    inside.are_gone_soon();
}

/// Check E16.
#[test]
fn kill_9_leaves_no_process_namespace_or_device() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    for (user, number) in users::users().into_iter().zip(1..) {
        let marker = format!("{}{number}", 700_000 + std::process::id());
        let mut command = link(user, &["--delay", "1ms"], &survivors_script(&marker));
        nothing_survives(user, &mut command, marker);
    }
    assert_no_device_is_left();
}

#[test]
fn kill_9_of_an_outer_link_takes_the_inner_one_along() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    for (user, number) in users::users().into_iter().zip(3..) {
        let marker = format!("{}{number}", 700_000 + std::process::id());
        let program = btu(user).get_program().to_os_string();
        let mut command = btu(user);
        command.args(["link", "--"]).arg(program).args(["link", "--", "bash", "-c"]);
        command.arg(survivors_script(&marker));
        nothing_survives(user, &mut command, marker);
    }
}

#[test]
fn the_commands_end_ends_what_it_left_behind() {
    need_namespaces!();
    for (user, number) in users::users().into_iter().zip(5..) {
        let marker = format!("{}{number}", 700_000 + std::process::id());
        let script = format!("setsid sleep {marker} & sleep 0.1; kill -0 $! && exit 5");
        users::expect_status(&mut link(user, &[], &script), 5);
        let inside = Inside::of(Vec::new(), marker);
        assert!(inside.survivors().is_empty(), "{:?}", inside.survivors());
    }
}
