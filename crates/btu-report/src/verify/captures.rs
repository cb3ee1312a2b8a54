//! Files of captured packets that are not as the journal says, and extracts that do not say what these do.

use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::manifest;
use btu_core::run::analysis::RunAgain;
use btu_core::sample::CaptureSample;
use btu_core::words::several;

use super::Finding;
use crate::abreast;
use crate::captures::extract_of;
use crate::files::ResultFiles;

/// What was found of the packets of all second runs.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) findings: Vec<Finding>,
    pub(super) notes: Vec<String>,
    /// Files of packets that are not there.
    pub(super) missing: usize,
}

/// What was found of one.
enum Found {
    AsRecorded,
    Changed(Finding),
    Missing,
    Unused,
}

impl Checked {
    /// Looks at every file that the journal names, and at the extract beside it.
    pub(super) fn of(files: &ResultFiles, journal: &Journal) -> Self {
        let again = RunAgain::of(journal);
        let (mut checked, mut missing, mut unused) = (Self::default(), 0, 0);
        let samples = journal.records.iter().filter_map(|record| match record {
            Record::Capture(sample) => Some(&**sample),
            _ => None,
        });
        let samples: Vec<&CaptureSample> = samples.collect();
        for found in abreast::map(&samples, |sample| found(files, &again, sample)) {
            match found {
                Found::AsRecorded => {}
                Found::Changed(finding) => checked.findings.push(finding),
                Found::Missing => missing += 1,
                Found::Unused => unused += 1,
            }
        }
        let gone =
            format!("{} of captured packets not there, and not verified", several(missing, "file"));
        let idle = format!("{} {UNUSED}", several(unused, "extract"));
        checked.notes.extend((missing > 0).then_some(gone));
        checked.notes.extend((unused > 0).then_some(idle));
        checked.missing = missing;
        checked
    }
}

fn found(files: &ResultFiles, again: &RunAgain<'_>, sample: &CaptureSample) -> Found {
    let Some(file) = &sample.file else { return Found::AsRecorded };
    let Some(packets) = files.capture(&file.path) else { return Found::Missing };
    let changed = |place: &str, detail| Found::Changed(Finding::new("files", place, detail));
    if manifest::hash(&packets) != file.blake3 {
        return changed(&file.path, "changed after it was recorded");
    }
    let place = extract_of(file);
    let Some(extract) = files.capture(&place) else { return Found::AsRecorded };
    let Some(kept) = again.recalled(sample, &extract) else {
        return Found::Unused;
    };
    let run = again.judge(sample, |_| Ok(&packets));
    if again.extract(sample, &run, &kept.details()).as_ref() == Some(&extract) {
        Found::AsRecorded
    } else {
        changed(&place, "does not say what its packets say")
    }
}

/// Of extracts that no report of this program looks at.
const UNUSED: &str = "not used, and not verified: made by another version of the program, of another journal, or damaged";
