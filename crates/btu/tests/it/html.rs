//! The HTML report in a real browser.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::said;
use crate::quick::shown;

/// What headless Chromium makes of a page: its document and everything its console said.
struct Page {
    document: String,
    console: Vec<String>,
}

/// `no-sandbox`: a browser started by root refuses to run otherwise, and the page is our own.
fn open(page: &Path, options: &[&str]) -> Page {
    let profile = TempDir::new().unwrap();
    let mut command = Command::new("chromium");
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]);
    command.args(["--no-first-run", "--disable-dev-shm-usage", "--window-size=1200,3000"]);
    command.arg(format!("--user-data-dir={}", profile.path().display())).args(options);
    command.arg(format!("file://{}", page.display()));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    let stderr = said(&output);
    Page {
        document: String::from_utf8_lossy(&output.stdout).into_owned(),
        console: stderr.lines().filter(|l| l.contains(":CONSOLE")).map(String::from).collect(),
    }
}

#[test]
fn a_browser_shows_every_table_and_bar_and_its_console_stays_empty() {
    needs!("chromium");
    let report = shown().join("report.html");
    let page = open(&report, &["--dump-dom"]);
    assert_eq!(page.console, [""; 0]);
    for name in ["telnet", "ftp", "audio", "netscape", "video"] {
        assert!(page.document.contains(name), "no word of {name}");
    }
    let count = |tag: &str| page.document.matches(tag).count();
    // One table per activity and one for the baselines at least; two figures with five bars each.
    assert!(count("<table") >= 4, "{} tables", count("<table"));
    assert!(count("<svg") >= 2, "{} pictures", count("<svg"));
    assert!(count("<rect") >= 10, "{} bars", count("<rect"));
}

#[test]
fn the_report_asks_the_network_for_nothing_and_carries_no_script() {
    needs!();
    let text = std::fs::read_to_string(shown().join("report.html")).unwrap();
    for forbidden in ["src=\"http", "href=\"http", "@import", "url(http", "<script src"] {
        assert!(!text.contains(forbidden), "the page contains {forbidden}");
    }
}

#[test]
fn a_picture_of_the_page_is_not_blank() {
    needs!("chromium");
    let folder = TempDir::new().unwrap();
    let picture = folder.path().join("page.png");
    let report = shown().join("report.html");
    open(&report, &["--hide-scrollbars", &format!("--screenshot={}", picture.display())]);
    // A blank page of this size packs into about 10 kB.
    assert!(std::fs::metadata(&picture).unwrap().len() > 40_000);
}

#[test]
fn the_same_journal_gives_the_same_page() {
    needs!();
    let folder = shown();
    let again = || run(btu().args(["report", "--format", "html"]).arg(folder)).unwrap();
    assert_eq!(again(), again());
    assert_eq!(again(), std::fs::read_to_string(folder.join("report.html")).unwrap());
}
