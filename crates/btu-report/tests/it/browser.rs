//! The page in a real browser: no message on its console, tables and drawings in its document.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::explain;
use crate::fixture;
use crate::hostile;
use crate::page::page;
use crate::pingpong;
use crate::skip;

/// What the browser made of a page: its document, and what it complained about.
struct Seen {
    document: String,
    complaints: Vec<String>,
}

fn look_at(page: &str) -> Seen {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, page).unwrap();
    let output = browser(folder.path()).arg(format!("file://{}", file.display())).output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    Seen {
        document: String::from_utf8_lossy(&output.stdout).into_owned(),
        complaints: messages.lines().filter(|l| l.contains("CONSOLE")).map(Into::into).collect(),
    }
}

fn browser(profile: &Path) -> Command {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]);
    command.args(["--no-first-run", "--disable-background-networking", "--disable-sync"]);
    command.args(["--disable-component-update", "--enable-logging=stderr", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", profile.join("profile").display()));
    command
}

#[test]
fn a_browser_shows_the_page_without_complaint() {
    if !skip::installed("chromium") {
        skip!("program missing: chromium");
    }
    let seen = look_at(&page(&fixture::journal()));
    assert!(seen.complaints.is_empty(), "{:#?}", seen.complaints);
    assert_eq!(seen.document.matches("<svg").count(), 4);
    assert!(seen.document.matches("<table").count() >= 12);
    assert!(seen.document.contains("Bits to the user, by application class"));
}

/// The script ran: it tells how to zoom. Nothing that a hostile file said ran.
#[test]
fn a_browser_zooms_the_graphs_of_a_ping_pong_without_complaint() {
    if !skip::installed("chromium") {
        skip!("program missing: chromium");
    }
    let seen = look_at(&pingpong::rendered("html", &pingpong::journal()));
    assert!(seen.complaints.is_empty(), "{:#?}", seen.complaints);
    assert_eq!(seen.document.matches("<svg").count(), 3);
    assert_eq!(seen.document.matches("Ctrl and the wheel, or + and -, zoom").count(), 3 + 1);
}

/// The script ran: a canvas stands in the place of the picture.
#[test]
fn a_browser_draws_the_time_sequence_of_a_capture_without_complaint() {
    if !skip::installed("chromium") {
        skip!("program missing: chromium");
    }
    let named = ["slow.pcap", "</script><img src=x onerror=alert(1)>"].map(explain::page);
    for page in named.into_iter().chain([explain::crowded()]) {
        let seen = look_at(&page);
        assert!(seen.complaints.is_empty(), "{:#?}", seen.complaints);
        assert_eq!(seen.document.matches("<canvas class=\"sequence\"").count(), 1);
        assert!(
            seen.document.contains("class=\"live\"") && seen.document.contains("or + and -, zoom")
        );
    }
}

#[test]
fn a_browser_runs_nothing_that_a_hostile_host_wrote() {
    if !skip::installed("chromium") {
        skip!("program missing: chromium");
    }
    // The attacks alone, then those that try to close what is open.
    for wrap in [0, 5] {
        let attacks: String =
            hostile::strings().into_iter().skip(wrap).step_by(8).take(27).collect();
        assert!(attacks.chars().count() <= btu_report::LONGEST_TEXT);
        let seen = look_at(&page(&hostile::journal_saying(&attacks)));
        assert!(seen.complaints.is_empty(), "{:#?}", seen.complaints);
        assert_eq!(seen.document.matches("<svg").count(), 4);
    }
}

/// The proof that the two tests above can fail: a page that is not ours brings complaints.
#[test]
fn the_policy_blocks_and_reports_what_is_not_ours() {
    if !skip::installed("chromium") {
        skip!("program missing: chromium");
    }
    let ours = page(&fixture::small_journal());
    let injected = ours.replace("<main>", "<main><script>document.title = 'x'</script>");
    assert_ne!(injected, ours);
    for other in [injected, ours.replace("--page: #", "--page:  #")] {
        assert!(!look_at(&other).complaints.is_empty());
    }
}
