//! A time-sequence chart of a million segments in a browser: how long its frames take while a reader
//! points, zooms and moves, as ratios.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use super::Bench;
use super::options::Options;
use super::paired::median;
use crate::chore::Verdict;
use crate::program::installed;
use crate::repo::Repo;
use chromium::Browser;

#[path = "../../../tests/chromium.rs"]
mod chromium;

pub(super) const BENCH: Bench = Bench {
    name: "charts",
    about: "a million segments in a browser: frames while pointing, zooming, moving",
    own_options: &[],
    run,
};

const FOLDER: &str = "target/bench/charts";
/// Of the charts that are compared: one that no level of detail helps, and the large one.
const SEGMENTS: [u32; 2] = [2_000, 1_000_000];
/// A redraw of the large chart over that of the small one: detail is by pixels, not by segments.
const MOST_FOR_SIZE: f64 = 3.0;
/// A step of zooming or moving over a redraw of the same chart that stands still.
const MOST_FOR_STEP: f64 = 1.5;
/// Steps of the mouse in one measurement.
const STEPS: u32 = 60;
const SCREEN: [u32; 2] = [1400, 1400];

/// Median frames of one chart, in milliseconds.
struct Frames {
    pointing: f64,
    zooming: f64,
    moving: f64,
}

fn run(repo: &Repo, _: &Options) -> Result<Verdict> {
    if installed("chromium").is_none() {
        bail!("charts: chromium is not installed");
    }
    if !repo.step("cargo build --release --locked --quiet -p btu")? {
        bail!("btu did not build");
    }
    let folder = repo.path(FOLDER);
    // Left from the time before, if there is one.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let mut browser = Browser::start(&folder, SCREEN).context("start chromium")?;
    println!("{:>9}  pointing ms  zooming ms  moving ms", "segments");
    let mut measured = Vec::new();
    for segments in SEGMENTS {
        let page = page(repo, &folder, segments)?;
        let frames = measure(&mut browser, &page).context("drive the browser")?;
        let Frames { pointing, zooming, moving } = frames;
        println!("{segments:>9}  {pointing:>11.1}  {zooming:>10.1}  {moving:>9.1}");
        measured.push(frames);
    }
    let [small, large] = &measured[..] else { bail!("charts: two are measured") };
    let held = [
        held("a redraw, large over small", large.pointing / small.pointing, MOST_FOR_SIZE),
        held("a step of zooming over a redraw", large.zooming / large.pointing, MOST_FOR_STEP),
        held("a step of moving over a redraw", large.moving / large.pointing, MOST_FOR_STEP),
    ];
    Ok(Verdict::of(held.iter().all(|held| *held)))
}

fn held(what: &str, ratio: f64, most: f64) -> bool {
    println!("{what}: {ratio:.2} (at most {most})");
    ratio <= most
}

/// The page of a transfer of so many segments.
fn page(repo: &Repo, folder: &Path, segments: u32) -> Result<PathBuf> {
    let [capture, page] = ["pcap", "html"].map(|kind| folder.join(format!("{segments}.{kind}")));
    fs::write(&capture, transfer(segments)).context("write a capture")?;
    let mut btu = repo.command(repo.path("target/release/btu"));
    btu.arg("explain").arg(&capture).arg("--html").arg(&page);
    let ended = btu.output().context("run btu explain")?;
    if !ended.status.success() {
        bail!("btu explain: {}", String::from_utf8_lossy(&ended.stderr));
    }
    Ok(page)
}

/// Segments of 1448 bytes in bursts of ten, an answer to every second one, one in 400 sent again.
fn transfer(segments: u32) -> Vec<u8> {
    let mut out = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    out.extend([2, 0, 4, 0]);
    out.extend([0, 0, 65_535, 101_u32].map(u32::to_le_bytes).concat());
    let mut micros = 0_u32;
    for number in 0..segments {
        micros += if number % 10 == 0 { 90 } else { 3 };
        let sequence = 1 + number.wrapping_mul(1448);
        packet(&mut out, micros, 1, [sequence, 1], 1448);
        if number % 400 == 399 {
            packet(&mut out, micros + 1, 1, [sequence, 1], 1448);
        }
        if number % 2 == 1 {
            packet(&mut out, micros + 2, 2, [1, sequence.wrapping_add(1448)], 0);
        }
    }
    out
}

/// IPv4 and TCP headers without their payload, as a file has them.
fn packet(out: &mut Vec<u8>, micros: u32, from: u8, numbers: [u32; 2], payload: u16) {
    let fields = [micros / 1_000_000, micros % 1_000_000, 40, 40 + u32::from(payload)];
    out.extend(fields.map(u32::to_le_bytes).concat());
    out.extend([0x45, 0]);
    out.extend((40 + payload).to_be_bytes());
    out.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, from, 10, 0, 0, 3 - from]);
    let port = |end: u8| 5000 + u16::from(end);
    out.extend([port(from), port(3 - from)].map(u16::to_be_bytes).concat());
    out.extend(numbers.map(u32::to_be_bytes).concat());
    out.extend([0x50, 16, 0xff, 0xff, 0, 0, 0, 0]);
}

fn measure(browser: &mut Browser, page: &Path) -> Result<Frames> {
    browser.open(&format!("file://{}", page.display()))?;
    browser.ask(DRAWN)?;
    browser.ask("document.querySelector('canvas').scrollIntoView({ behavior: 'instant' })")?;
    browser.ask(TWO_FRAMES)?;
    let place = browser.ask(PLACE)?;
    let [left, top] = [0, 1].map(|at| place[at].as_f64().unwrap_or(0.0));
    let at = |step: u32| [left + 200.0 + 10.0 * f64::from(step), top + 150.0];
    browser.mouse("mouseMoved", at(0))?;
    browser.ask(TWO_FRAMES)?;
    let pointing = recorded(browser, |browser, step| browser.mouse("mouseMoved", at(step)))?;
    // There and back, so that every depth is seen twice.
    let zooming = recorded(browser, |browser, step| {
        browser.wheel(at(30), if step % 30 < 15 { -120.0 } else { 120.0 })
    })?;
    for _ in 0..8 {
        browser.wheel(at(30), -120.0)?;
    }
    browser.mouse("mousePressed", at(STEPS))?;
    let moving =
        recorded(browser, |browser, step| browser.mouse("mouseMoved", at(STEPS - step - 1)))?;
    browser.mouse("mouseReleased", at(0))?;
    Ok(Frames { pointing, zooming, moving })
}

/// The median time between frames while something is done step by step, each answered by a frame.
fn recorded(
    browser: &mut Browser,
    step: impl Fn(&mut Browser, u32) -> std::io::Result<()>,
) -> Result<f64> {
    browser.ask(RECORD)?;
    for number in 0..STEPS {
        step(browser, number)?;
    }
    browser.ask(TWO_FRAMES)?;
    let frames = browser.ask("cancelAnimationFrame(recording), frames")?;
    let at: Vec<f64> =
        frames.as_array().context("frames")?.iter().filter_map(serde_json::Value::as_f64).collect();
    let apart: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if apart.len() < 10 {
        bail!("only {} frames in {STEPS} steps", apart.len());
    }
    median(&apart).context("no frames")
}

const DRAWN: &str = "new Promise((is) => { const look = () => document.querySelector('canvas[data-view]') \
                     ? is(true) : requestAnimationFrame(look); look(); })";
const TWO_FRAMES: &str =
    "new Promise((is) => requestAnimationFrame(() => requestAnimationFrame(() => is(true))))";
const PLACE: &str = "(() => { const at = document.querySelector('canvas').getBoundingClientRect(); \
                     return [at.left, at.top]; })()";
const RECORD: &str = "window.frames = []; window.recording = 0; (function tick(at) { frames.push(at); \
                      window.recording = requestAnimationFrame(tick); })(performance.now())";
