//! A cell once more, with its packets recorded at the black box: evidence, never a figure.

use std::path::Path as FilePath;

use btu_control::CaptureRun;
use btu_core::role::Role;
use btu_core::sample::CaptureFile;
use btu_core::sample::CapturePoint;
use btu_core::sample::CaptureSample;
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
use crate::run::second;
use crate::run::second::Packets;

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
            return Some(second::sample(order, failed, Vec::new(), Err(cause)));
        }
    };
    let boxes = second::black_boxes(run.cell.case);
    let path = if emulated { Path::Emulated } else { Path::Direct };
    let counters = Counters::read(&runner.testbed, &boxes);
    let recording = runner.testbed.record(&boxes, path, MOST_PACKETS);
    let sample = runner.observed(run, emulated, started_at)?;
    second::let_arrive(runner.plan.wait(run.cell.case));
    let captures = recording.and_then(btu_testbed::local::Recording::finish);
    let file = captures.map_err(anyhow::Error::new).and_then(|captures| {
        let seen_at = second::point(run.cell.case, emulated);
        write(&captures, emulated, seen_at, &CaptureFile::path_of(&run.cell), directory)
    });
    let black_boxes = counters.since(&runner.testbed);
    Some(second::sample(order, sample, black_boxes, file))
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
    let count = write_pcapng(&mut bytes, captures, end)?;
    let lost = captures.iter().map(|capture| capture.lost).sum();
    let packets = Packets { bytes, count, lost };
    packets.keep(emulated, seen_at, path, directory)
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
