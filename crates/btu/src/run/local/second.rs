//! A cell once more, with its packets recorded at the black box: evidence, never a figure.

use std::path::Path as FilePath;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use btu_control::CaptureRun;
use btu_core::cell::Case;
use btu_core::cell::Direction;
use btu_core::cell::Role;
use btu_core::sample::CaptureFile;
use btu_core::sample::CapturePoint;
use btu_core::sample::CaptureSample;
use btu_core::sample::CaptureSource;
use btu_core::sample::CellSample;
use btu_core::sample::CounterDelta;
use btu_engine::files::Files;
use btu_engine::probe::Observation;
use btu_engine::probe::observe;
use btu_testbed::capture::Capture;
use btu_testbed::capture::End;
use btu_testbed::capture::write_pcapng;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Path;

use super::LocalRunner;
use super::timestamp;

/// Runs the cell and writes its packets; `None` where it was interrupted.
pub(super) fn run(
    runner: &mut LocalRunner,
    order: &CaptureRun,
    directory: &FilePath,
) -> Option<CaptureSample> {
    let (run, started_at) = (&order.run, timestamp());
    let emulated = match runner.impair(run.cell.case, runner.plan.seed) {
        Ok(emulated) => emulated,
        Err(cause) => {
            let failed = super::failed(run, started_at, &format!("{cause:#}"));
            return Some(without_packets(order, failed, format!("{cause:#}")));
        }
    };
    let boxes = black_boxes(run.cell.case);
    let path = if emulated { Path::Emulated } else { Path::Direct };
    let counters = Counters::read(&runner.testbed, &boxes);
    let recording = runner.testbed.record(&boxes, path, MOST_PACKETS);
    let sample = runner.observed(run, emulated, started_at)?;
    thread::sleep(Duration::from(runner.plan.link.delay * 2) + LAST_PACKETS);
    let captures = recording.and_then(btu_testbed::local::Recording::finish);
    let file = captures.map_err(anyhow::Error::new).and_then(|captures| {
        let seen_at = if emulated { point(run.cell.case) } else { CapturePoint::BlackBox };
        write(&captures, emulated, seen_at, &CaptureFile::path_of(&run.cell), directory)
    });
    let black_boxes = counters.since(&runner.testbed);
    Some(match file {
        Ok(file) => CaptureSample {
            black_boxes,
            file: Some(file),
            ..without_packets(order, sample, String::new())
        },
        Err(cause) => {
            CaptureSample { black_boxes, ..without_packets(order, sample, format!("{cause:#}")) }
        }
    })
}

fn without_packets(order: &CaptureRun, run: CellSample, not_captured: String) -> CaptureSample {
    let why = order.why.clone();
    CaptureSample { run, why, black_boxes: Vec::new(), file: None, not_captured }
}

/// The black boxes of a case, each once.
fn black_boxes(case: Case) -> Vec<Role> {
    let mut boxes: Vec<Role> = case.flows().iter().map(|flow| flow.peer).collect();
    boxes.sort_unstable();
    boxes.dedup();
    boxes
}

/// The sender's end tells most: when it sent, when it heard of it, when it sent again.
fn point(case: Case) -> CapturePoint {
    if case.flows().iter().any(|flow| flow.direction == Direction::Send) {
        CapturePoint::Test
    } else {
        CapturePoint::BlackBox
    }
}

/// Writes the packets of all links into one file.
fn write(
    captures: &[Capture],
    emulated: bool,
    seen_at: CapturePoint,
    path: &str,
    directory: &FilePath,
) -> anyhow::Result<CaptureFile> {
    let end = if seen_at == CapturePoint::Test { End::Near } else { End::Far };
    let mut bytes = Vec::new();
    let packets = write_pcapng(&mut bytes, captures, end)?;
    let target = directory.join(path);
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    std::fs::write(&target, &bytes).with_context(|| format!("write {}", target.display()))?;
    Ok(CaptureFile {
        path: path.to_owned(),
        bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        blake3: blake3::hash(&bytes).to_hex().to_string(),
        packets,
        lost: captures.iter().map(|capture| capture.lost).sum(),
        source: if emulated { CaptureSource::Emulator } else { CaptureSource::Listener },
        seen_at,
    })
}

/// What every probe reads on the black boxes.
struct Counters(Vec<(Role, Observation)>);

impl Counters {
    fn read(testbed: &LocalTestbed, boxes: &[Role]) -> Self {
        let files = Files::host();
        let read = |role: &Role| {
            let inside = testbed.net(*role).inside(|| observe(&files));
            inside.ok().map(|seen| (*role, seen))
        };
        Self(boxes.iter().filter_map(read).collect())
    }

    fn since(&self, testbed: &LocalTestbed) -> Vec<(Role, Vec<CounterDelta>)> {
        let files = Files::host();
        let moved = |(role, before): &(Role, Observation)| {
            let inside = testbed.net(*role).inside(|| before.finish(&files));
            inside.ok().map(|sample| (*role, sample.counters))
        };
        self.0.iter().filter_map(moved).collect()
    }
}

/// Of each direction of each link: with their headers some 30 MB.
const MOST_PACKETS: usize = 250_000;
/// What was still on its way when both ends were done.
const LAST_PACKETS: Duration = Duration::from_millis(5);
