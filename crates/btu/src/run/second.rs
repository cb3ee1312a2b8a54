//! The second run of a cell, wherever its black boxes are: what is recorded of it, and what is kept.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use btu_control::CaptureRun;
use btu_control::write_whole;
use btu_core::role::Role;
use btu_core::run::cell::Case;
use btu_core::run::cell::Direction;
use btu_core::sample::CaptureFile;
use btu_core::sample::CapturePoint;
use btu_core::sample::CaptureSample;
use btu_core::sample::CaptureSource;
use btu_core::sample::CellSample;
use btu_core::sample::CounterDelta;
use btu_core::units::Nanos;

/// Packets as a file.
pub(super) struct Packets {
    /// The file.
    pub(super) bytes: Vec<u8>,
    /// How many are in it.
    pub(super) count: u64,
    /// How many passed and are not.
    pub(super) lost: u64,
}

impl Packets {
    /// Writes the file.
    pub(super) fn keep(
        &self,
        emulated: bool,
        seen_at: CapturePoint,
        path: &str,
        directory: &Path,
    ) -> anyhow::Result<CaptureFile> {
        let target = directory.join(path);
        if let Some(folder) = target.parent() {
            let made = std::fs::create_dir_all(folder);
            made.with_context(|| format!("create {}", folder.display()))?;
        }
        // Half a file would keep its room from the journal, where the disk is full.
        write_whole(&target, &self.bytes)?;
        Ok(CaptureFile {
            path: path.to_owned(),
            bytes: u64::try_from(self.bytes.len()).unwrap_or(u64::MAX),
            blake3: blake3::hash(&self.bytes).to_hex().to_string(),
            packets: self.count,
            lost: self.lost,
            source: if emulated { CaptureSource::Emulator } else { CaptureSource::Listener },
            seen_at,
        })
    }
}

/// The run with its file, or why it has none.
pub(super) fn sample(
    order: &CaptureRun,
    run: CellSample,
    black_boxes: Vec<(Role, Vec<CounterDelta>)>,
    file: anyhow::Result<CaptureFile>,
) -> CaptureSample {
    let (file, not_captured) = match file {
        Ok(file) => (Some(file), String::new()),
        Err(cause) => (None, format!("{cause:#}")),
    };
    let (why, black_box_hosts) = (order.why.clone(), Vec::new());
    CaptureSample { run, why, black_boxes, black_box_hosts, file, not_captured }
}

/// The black boxes of a case, each once.
pub(super) fn black_boxes(case: Case) -> Vec<Role> {
    let mut boxes: Vec<Role> = case.flows().iter().map(|flow| flow.peer).collect();
    boxes.sort_unstable();
    boxes.dedup();
    boxes
}

/// The sender's end tells most: when it sent, when it heard of it, when it sent again. Only the
/// emulator knows both.
pub(super) fn point(case: Case, emulated: bool) -> CapturePoint {
    let sends = case.flows().iter().any(|flow| flow.direction == Direction::Send);
    if emulated && sends { CapturePoint::Test } else { CapturePoint::BlackBox }
}

/// Lets arrive what was still on its way when both ends were done, and waited in the links for so long.
pub(super) fn let_arrive(wait: Nanos) {
    thread::sleep(Duration::from(wait) + LAST_PACKETS);
}

const LAST_PACKETS: Duration = Duration::from_millis(5);
