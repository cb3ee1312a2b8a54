//! The page in a real browser: no message on its console, tables and drawings in its document.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::chromium::Browser;
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
    let folder = TempDir::new().unwrap();
    let mut browser = Browser::start(folder.path(), [1000, 1600]).unwrap();
    let named = ["slow.pcap", "</script><img src=x onerror=alert(1)>"].map(explain::page);
    for page in named.into_iter().chain([explain::crowded()]) {
        shown(&mut browser, folder.path(), &page);
        let seen = browser.ask("document.documentElement.outerHTML").unwrap();
        let seen = seen.as_str().unwrap();
        assert_eq!(seen.matches("<canvas class=\"sequence\"").count(), 1);
        assert!(seen.contains("class=\"live\"") && seen.contains("or + and -, zoom"));
    }
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

/// The wheel zooms, dragging moves, and the cursor stands at one moment in every panel.
#[test]
fn a_reader_zooms_moves_and_points_at_a_time_sequence() {
    if !skip::installed("chromium") {
        skip!("program missing: chromium");
    }
    let folder = TempDir::new().unwrap();
    let mut browser = Browser::start(folder.path(), [1000, 1600]).unwrap();
    shown(&mut browser, folder.path(), &explain::page("slow.pcap"));
    let [left, top] = canvas(&mut browser);
    let [_, all] = view(&mut browser);
    browser.wheel([left + 500.0, top + 200.0], -120.0).unwrap();
    let [from, to] = view(&mut browser);
    assert!(from > 0.0 && to < all && (to - from) < all * 0.9, "zoomed: {from} {to} of {all}");
    for (kind, x) in [("mousePressed", 500.0), ("mouseMoved", 450.0), ("mouseReleased", 450.0)] {
        browser.mouse(kind, [left + x, top + 200.0]).unwrap();
    }
    let [moved, end] = view(&mut browser);
    assert!(moved > from && (end - moved - (to - from)).abs() < 1.0, "moved: {moved} {end}");
    browser.ask("document.querySelector('canvas').dispatchEvent(new Event('dblclick'))").unwrap();
    let [begin, end] = view(&mut browser);
    assert!(begin <= 0.0 && end >= all, "all of it again: {begin} {end}");

    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
    let mut pointed = |x: f64| {
        browser.mouse("mouseMoved", [left + x, top + 300.0]).unwrap();
        let said = "document.querySelector('.readout').textContent";
        (drawn_column(&mut browser, 700), browser.ask(said).unwrap())
    };
    let ((before, first), (there, second)) = (pointed(400.0), pointed(700.0));
    assert!(first != second && second.as_str().unwrap().contains("in flight"), "{first} {second}");
    // Where the second cursor stands, every panel changed from its top to its bottom: the stream, bytes
    // in flight, the line in place of a congestion window, round trips.
    let changed: Vec<bool> = before.iter().zip(&there).map(|(a, b)| a != b).collect();
    let panels = changed.chunk_by(|a, b| a == b).filter(|run| run[0] && run.len() > 10);
    let heights: Vec<usize> = panels.map(<[bool]>::len).collect();
    assert_eq!(heights.len(), 4, "{heights:?}");
}

/// Opens a page and waits until its first chart is drawn.
fn shown(browser: &mut Browser, folder: &Path, page: &str) {
    let file = folder.join("report.html");
    std::fs::write(&file, page).unwrap();
    browser.open(&format!("file://{}", file.display())).unwrap();
    let drawn = "new Promise((is) => { const look = () => document.querySelector('canvas[data-view]') \
                 ? is(true) : requestAnimationFrame(look); look(); })";
    browser.ask(drawn).unwrap();
}

/// Where the canvas is, brought into sight and drawn there: what the mouse meets is what was drawn last.
fn canvas(browser: &mut Browser) -> [f64; 2] {
    browser
        .ask("document.querySelector('canvas').scrollIntoView({ behavior: 'instant' })")
        .unwrap();
    view(browser);
    let place = "(() => { const at = document.querySelector('canvas').getBoundingClientRect(); \
                 return [at.left, at.top]; })()";
    let place = browser.ask(place).unwrap();
    let place = [0, 1].map(|at| place[at].as_f64().unwrap());
    browser.mouse("mouseMoved", place.map(|at| at + 10.0)).unwrap();
    view(browser);
    place
}

/// From when to when the chart shows, once it has drawn what was asked.
fn view(browser: &mut Browser) -> [f64; 2] {
    let view = "new Promise((is) => requestAnimationFrame(() => requestAnimationFrame(() => \
                is(document.querySelector('canvas').dataset.view))))";
    let view = browser.ask(view).unwrap();
    let mut ends = view.as_str().unwrap().split(' ').map(|end| end.parse().unwrap());
    [ends.next().unwrap(), ends.next().unwrap()]
}

/// What is drawn in a column of pixels and beside it, a number for each row.
fn drawn_column(browser: &mut Browser, x: u32) -> Vec<u64> {
    view(browser);
    let rows = format!(
        "(() => {{ const canvas = document.querySelector('canvas'); \
         const {{ data }} = canvas.getContext('2d').getImageData({}, 0, 3, canvas.height); \
         return Array.from({{ length: canvas.height }}, (_, row) => \
         data.slice(row * 12, row * 12 + 12).reduce((sum, one) => sum + one, 0)); }})()",
        x - 1
    );
    let rows = browser.ask(&rows).unwrap();
    rows.as_array().unwrap().iter().map(|row| row.as_u64().unwrap()).collect()
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
