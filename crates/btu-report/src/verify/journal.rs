//! What a journal cannot hold if it was measured: another order than the seed's, more bits than the
//! kernel counted.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::sample::CellSample;
use btu_core::sample::ConnectionSample;
use btu_core::schedule::Slot;
use btu_core::schedule::Step;
use btu_core::words::several;

use super::Finding;
use crate::files::ResultFiles;

/// Every finding, line by line.
pub(super) fn check(journal: &Journal) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut orders: BTreeMap<u32, Vec<Slot>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (record, line) in journal.records.iter().zip(1..) {
        let place = format!("samples.jsonl:{line}");
        let Some((pass, position, step)) = slot(record) else { continue };
        let order = orders.entry(pass).or_insert_with(|| journal.plan.pass_order(pass));
        if !order.iter().any(|slot| slot.position == position && slot.step == step) {
            let detail = format!("{step} is not step {position} of pass {pass} by the plan's seed");
            found.push(Finding::new("order", place.clone(), detail));
        }
        if let Record::Cell(sample) = record {
            if !seen.insert((pass, position, sample.attempt)) {
                let detail = format!("{step}, attempt {}: a second time", sample.attempt);
                found.push(Finding::new("order", place.clone(), detail));
            }
            let impossible = impossible(sample).map(|it| Finding::new("plausibility", place, it));
            found.extend(impossible);
        }
    }
    found
}

/// Files of captured packets that are not as the journal says, and those that are not there.
pub(super) fn check_captures(
    files: &ResultFiles,
    journal: &Journal,
) -> (Vec<Finding>, Option<String>) {
    let (mut found, mut missing) = (Vec::new(), 0);
    for record in &journal.records {
        let Record::Capture(capture) = record else { continue };
        let Some(file) = &capture.file else { continue };
        match files.capture_hash(&file.path) {
            Some(hash) if hash == file.blake3 => {}
            Some(_) => {
                found.push(Finding::new("files", &file.path, "changed after it was recorded"));
            }
            None => missing += 1,
        }
    }
    let files = several(missing, "file");
    let note = format!("{files} of captured packets not there, and not verified");
    (found, (missing > 0).then_some(note))
}

fn slot(record: &Record) -> Option<(u32, u32, Step)> {
    match record {
        Record::Alone(alone) => {
            Some((alone.pass, alone.position, Step::Alone(alone.activity.clone())))
        }
        Record::Cell(sample) => {
            Some((sample.pass, sample.position, Step::Cell(sample.cell.clone())))
        }
        // Second runs have their own order, and nothing of them is scored.
        Record::Capture(_) | Record::Verification(_) => None,
    }
}

/// Why this run cannot have been measured.
fn impossible(sample: &CellSample) -> Option<String> {
    let comm = sample.comm.as_ref()?;
    let sum: u64 = comm.connections.iter().map(|one| one.bytes.count()).sum();
    if sum != comm.bytes.count() {
        let all = comm.bytes.count();
        return Some(format!("{all} bytes, but its connections carried {sum}"));
    }
    let late = comm.connections.iter().any(|one| one.elapsed_ns > comm.elapsed_ns);
    if late {
        return Some("a connection took longer than the whole run".to_owned());
    }
    comm.connections.iter().find_map(more_than_counted)
}

/// Bytes that no kernel saw pass.
fn more_than_counted(connection: &ConnectionSample) -> Option<String> {
    let bytes = connection.bytes.count();
    let received = connection.receiver.tcp_info.as_ref().and_then(|info| info.bytes_received);
    let sent = connection.sender.tcp_info.as_ref().and_then(|info| info.bytes_sent);
    let (end, counted) = [("receiver", received), ("sender", sent)]
        .into_iter()
        .find_map(|(end, counted)| Some((end, counted.filter(|counted| *counted < bytes)?)))?;
    Some(format!("{bytes} bytes, but the {end}'s kernel counted {counted}"))
}
