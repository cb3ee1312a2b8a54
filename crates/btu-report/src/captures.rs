//! The packets of second runs in a result's directory, and the extracts beside them.

use std::fs::File;
use std::io::ErrorKind;
use std::io::Read;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use btu_core::journal::Journal;
use btu_core::run::analysis::RunAgain;
use btu_core::run::analysis::SecondRun;
use btu_core::sample::CaptureFile;
use btu_core::sample::CaptureSample;

use crate::abreast;
use crate::section::chart_details;

/// Where the second runs of an analysis come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Captures {
    /// From the extracts beside the captures; from packets where there is none that fits.
    Extracted,
    /// From every packet.
    Followed,
}

impl Captures {
    /// The second runs of a journal whose directory this is.
    pub(crate) fn second_runs(self, directory: &Path, again: &RunAgain<'_>) -> Vec<SecondRun> {
        let first = |content: &mut Vec<u8>, sample: &&CaptureSample| match self {
            Self::Extracted => recalled(directory, again, sample, content)
                .unwrap_or_else(|| followed(directory, again, sample, content)),
            Self::Followed => followed(directory, again, sample, content),
        };
        let mut runs = abreast::map_with(&again.samples, Vec::new, first);
        let coarse = too_coarse(&runs);
        let follow = |content: &mut Vec<u8>, place: &usize| {
            followed(directory, again, again.samples[*place], content)
        };
        let finer = abreast::map_with(&coarse, Vec::new, follow);
        for (place, run) in coarse.into_iter().zip(finer) {
            runs[place] = run;
        }
        runs
    }
}

/// The extracts of those second runs whose packets were followed, by their names in the directory.
pub(crate) fn extracts(journal: &Journal, runs: &[SecondRun]) -> Vec<(String, Vec<u8>)> {
    let again = RunAgain::of(journal);
    let mut details = chart_details(runs).into_iter();
    let each = again.samples.iter().zip(runs).map(|(sample, run)| {
        let details: Vec<_> = details.by_ref().take(run.connections.len()).collect();
        (*sample, run, details)
    });
    let followed: Vec<_> = each.filter(|(_, run, _)| !run.is_recalled()).collect();
    let made = abreast::map(&followed, |(sample, run, details)| {
        let name = extract_of(sample.file.as_ref()?);
        Some((name, again.extract(sample, run, details)?))
    });
    made.into_iter().flatten().collect()
}

/// The name of the extract of a capture: `captures/SEND-telnet-none.pcapng.extract`.
pub(crate) fn extract_of(file: &CaptureFile) -> String {
    format!("{}.extract", file.path)
}

/// A second run by the extract beside its capture, if that capture is still there.
fn recalled(
    directory: &Path,
    again: &RunAgain<'_>,
    sample: &CaptureSample,
    content: &mut Vec<u8>,
) -> Option<SecondRun> {
    let file = sample.file.as_ref()?;
    let packets = regular(&directory.join(inside(file)?)).and_then(|file| file.metadata());
    packets.ok().filter(|found| found.len() == file.bytes)?;
    content.clear();
    let extract = regular(&directory.join(extract_of(file))).ok()?;
    extract.take(LONGEST_EXTRACT).read_to_end(content).ok()?;
    again.recalled(sample, content)
}

/// No extract is read that is longer: that of the densest capture has some 10 MB.
const LONGEST_EXTRACT: u64 = 256 << 20;

/// A second run by its packets. They are read into `content`: fresh memory for each file takes longer than
/// the reading.
fn followed(
    directory: &Path,
    again: &RunAgain<'_>,
    sample: &CaptureSample,
    content: &mut Vec<u8>,
) -> SecondRun {
    again.judge(sample, |file| packets(directory, file, content))
}

/// The packets of a second run, if its file is what the journal says.
fn packets<'c>(
    directory: &Path,
    file: &CaptureFile,
    content: &'c mut Vec<u8>,
) -> Result<&'c [u8], String> {
    let path = inside(file).ok_or_else(|| format!("{} is no place for a capture", file.path))?;
    content.clear();
    let opened = regular(&directory.join(path));
    let read = opened.and_then(|mut opened| opened.read_to_end(content));
    read.map_err(|cause| match cause.kind() {
        ErrorKind::NotFound => format!("{} is gone", file.path),
        _ => format!("read {}: {cause}", file.path),
    })?;
    if blake3::hash(content).to_hex().as_str() == file.blake3 {
        Ok(content)
    } else {
        Err(format!("{} is not the file that was written: its BLAKE3 differs", file.path))
    }
}

/// Opens a file: whatever else lies there might be waited for without end.
fn regular(path: &Path) -> std::io::Result<File> {
    if std::fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(std::io::Error::other("it is no regular file"))
    }
}

/// The path of a capture; `None` where it leads elsewhere.
fn inside(file: &CaptureFile) -> Option<PathBuf> {
    let path = Path::new(&file.path);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_inside && path.starts_with(CaptureFile::FOLDER)).then(|| path.to_owned())
}

/// Places of those whose extracts hold less of a chart than a page of all of them shows: captures beside
/// them are gone, or lines of the journal.
fn too_coarse(runs: &[SecondRun]) -> Vec<usize> {
    let mut details = chart_details(runs).into_iter();
    let is_coarse = |run: &SecondRun| {
        let each: Vec<_> = run.connections.iter().zip(details.by_ref()).collect();
        let mut charts =
            each.into_iter().filter_map(|(one, detail)| Some((one.connection.as_ref()?, detail)));
        charts.any(|(carried, detail)| !carried.chart.holds(detail))
    };
    let coarse: Vec<bool> = runs.iter().map(is_coarse).collect();
    (0..runs.len()).filter(|place| coarse[*place]).collect()
}
