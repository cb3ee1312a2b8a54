//! Manual pages, completions and the unit: every verb is in them, and the programs that read them do.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::program::btu;
use crate::program::said;

/// Every verb that `btu --help` shows.
fn verbs() -> Vec<String> {
    let help = String::from_utf8(btu().arg("--help").output().unwrap().stdout).unwrap();
    let commands = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let verbs: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    assert!(verbs.len() > 15, "{verbs:?}");
    verbs
}

fn pages(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_verb_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let written = btu().args(["man", "--out"]).arg(folder.path()).output().unwrap();
    assert_eq!((written.status.code(), written.stdout.len()), (Some(0), 0));
    let pages = pages(folder.path());
    for verb in verbs().iter().filter(|verb| *verb != "help") {
        assert!(pages.contains(&format!("btu-{verb}.1")), "{verb}: {pages:?}");
    }
    assert!(
        pages.contains(&"btu.1".to_owned()) && pages.contains(&"btu-agent-invite.1".to_owned())
    );
    assert!(!pages.iter().any(|page| page.contains("worker") || page.contains("front")), "hidden");
    let source = concat!("\"btu ", env!("CARGO_PKG_VERSION"), "\"");
    for page in &pages {
        let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
        let title = text.lines().find(|line| line.starts_with(".TH ")).unwrap();
        assert!(title.contains(source), "{page}: {title}");
    }
    let one = btu().args(["man", "agent", "invite"]).output().unwrap();
    assert_eq!(one.stdout, std::fs::read(folder.path().join("btu-agent-invite.1")).unwrap());
    let link = std::fs::read_to_string(folder.path().join("btu-link.1")).unwrap();
    let synopsis = link.lines().find(|line| line.starts_with("\\fBbtu link\\fR ")).unwrap();
    for word in ["[--delay <TIME>]", "[-q|--quiet]", "[--drop <DROPS>]", "-- [CMD]..."] {
        assert!(synopsis.contains(&word.replace('-', r"\-")), "{word}: {synopsis}");
    }
    assert!(!synopsis.contains("loss"), "{synopsis}");
    let unknown = btu().args(["man", "agent", "invit"]).output().unwrap();
    let said = said(&unknown);
    assert_eq!(unknown.status.code(), Some(2), "{said}");
    assert!(said.contains("no verb \"invit\"; write invite, status, stop-all, resume"), "{said}");
    let document = btu().args(["man", "run", "--json"]).output().unwrap();
    let document: Value = serde_json::from_slice(&document.stdout).unwrap();
    let pages = document["pages"].as_object().unwrap();
    assert_eq!(pages.keys().collect::<Vec<_>>(), ["btu-run.1"]);
    assert!(document["pages"]["btu-run.1"].as_str().unwrap().contains("official"));
}

#[test]
fn shells_read_their_completions() {
    for shell in ["bash", "zsh", "fish"] {
        let script = btu().args(["completions", shell]).output().unwrap();
        assert_eq!(script.status.code(), Some(0), "{shell}");
        let script = String::from_utf8(script.stdout).unwrap();
        for verb in verbs() {
            assert!(script.contains(&verb), "{shell}: {verb}");
        }
        assert!(
            !script.contains("bit-per-second"),
            "{shell}: what only the agent starts is hidden"
        );
        if crate::skip::installed(shell) {
            let read = Command::new(shell).args(["-n", "-c", &script]).output().unwrap();
            assert!(read.status.success(), "{shell}: {}", said(&read));
        }
    }
    let unknown = btu().args(["completions", "tcsh"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(said(&unknown).contains("write bash, zsh or fish"));
}

/// `systemd-analyze` rates 0 (confined) to 10.
#[test]
fn the_unit_is_legal_and_confined() {
    if !crate::skip::installed("systemd-analyze") {
        skip!("no systemd: systemd-analyze is not here");
    }
    let contrib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib");
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("btu-agent.service");
    let program = btu().get_program().to_str().unwrap().to_owned();
    let text = std::fs::read_to_string(contrib.join("btu-agent.service")).unwrap();
    std::fs::write(&here, text.replace("/usr/local/bin/btu", &program)).unwrap();
    confined(&here, 20);
    // With what packets need, and then with what emulated links need.
    let more = folder.path().join("btu-agent.service.d");
    std::fs::create_dir(&more).unwrap();
    for (file, most) in [("btu-agent-packets.conf", 20), ("btu-agent-emulation.conf", 30)] {
        std::fs::copy(contrib.join(file), more.join("more.conf")).unwrap();
        let security = confined(&here, most);
        assert!(security.contains("Service may allocate packet sockets"), "{security}");
    }
}

/// What is said of a unit that is legal and confined: at most so many tenths.
fn confined(here: &Path, most: u32) -> String {
    let (mut told, threshold) = (String::new(), format!("--threshold={most}"));
    for task in [&["verify"][..], &["security", "--offline=true", &threshold]] {
        let done = Command::new("systemd-analyze").args(task).arg(here).output().unwrap();
        let said = said(&done);
        // It looks at the units of the machine, too: what it says of those is not ours.
        assert!(!said.contains("btu-agent.service"), "{task:?}: {said}");
        assert!(done.status.success(), "{task:?}: {said}");
        told = String::from_utf8_lossy(&done.stdout).into_owned();
    }
    told
}

#[test]
fn words_to_choose_from_stand_in_help_manual_and_completions() {
    let told =
        |words: &[&str]| String::from_utf8(btu().args(words).output().unwrap().stdout).unwrap();
    for (verb, values) in [
        ("report", "text, md, html, csv, json"),
        ("compare", "text, md, html, csv, json"),
        ("rank", "text, md, html, csv, json"),
        ("run", "abnormal, all, none"),
    ] {
        for page in [told(&[verb, "--help"]), told(&["man", verb])] {
            let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
            let page = page.replace(" .IP \\(bu 2 ", ", ");
            assert!(page.contains(values), "{verb}: {page}");
        }
    }
    let script = told(&["completions", "bash"]);
    for values in ["text md html csv json", "abnormal all none"] {
        assert!(script.contains(&format!("-W \"{values}\"")), "{values}");
    }
}
