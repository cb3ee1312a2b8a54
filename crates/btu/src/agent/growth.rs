//! What a result grew by since it was told last: so that whoever ordered a test has the runs that are
//! done, whatever becomes of this host.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::io::Read;
use std::io::Seek;
use std::io::SeekFrom;
use std::path::PathBuf;

/// A result that is being made, and what of it was told.
pub(super) struct Growth {
    folder: PathBuf,
    /// Whole files, as they were told.
    whole: BTreeMap<&'static str, Vec<u8>>,
    /// How much of each file that is appended to was told.
    lines: BTreeMap<&'static str, u64>,
}

impl Growth {
    /// Of the result in this directory, of which nothing was told yet.
    pub(super) const fn of(folder: PathBuf) -> Self {
        Self { folder, whole: BTreeMap::new(), lines: BTreeMap::new() }
    }

    /// What it grew by, as a bundle; `None` where it did not, or could not be read: what is missing
    /// now is told the next time, and the whole result at the end.
    pub(super) fn taken(&mut self) -> Option<Vec<u8>> {
        let mut grown = BTreeMap::new();
        for name in WHOLE {
            let Ok(content) = std::fs::read(self.folder.join(name)) else { continue };
            if self.whole.get(name) != Some(&content) {
                self.whole.insert(name, content.clone());
                grown.insert(name.to_owned(), content);
            }
        }
        for name in APPENDED {
            let told = self.lines.entry(name).or_default();
            let Ok(lines) = whole_lines(&self.folder.join(name), *told) else { continue };
            if !lines.is_empty() {
                *told += lines.len() as u64;
                grown.insert(name.to_owned(), lines);
            }
        }
        (!grown.is_empty()).then(|| btu_report::pack(&grown))
    }
}

/// The lines of a file from a place on, without one that is not yet whole.
fn whole_lines(path: &std::path::Path, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut lines = Vec::new();
    file.read_to_end(&mut lines)?;
    let end = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    lines.truncate(end);
    Ok(lines)
}

/// Files that are written as a whole.
const WHOLE: [&str; 3] = ["hosts.json", "plan.given.toml", "plan.toml"];
/// Files that grow line by line.
const APPENDED: [&str; 2] = ["events.jsonl", "samples.jsonl"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_told_once_when_it_is_whole_and_a_file_when_it_changed() {
        let folder = tempfile::tempdir().unwrap();
        let mut growth = Growth::of(folder.path().to_owned());
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let mut taken = || growth.taken().map(|bundle| btu_report::unpack(&bundle).unwrap());
        assert_eq!(taken(), None);
        write("plan.toml", "seed = 7\n");
        write("samples.jsonl", "{\"n\":1}\n{\"n\"");
        let grown = |files: &[(&str, &str)]| {
            let file = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
            Some(files.iter().map(file).collect::<BTreeMap<_, _>>())
        };
        let first = [("plan.toml", "seed = 7\n"), ("samples.jsonl", "{\"n\":1}\n")];
        assert_eq!(taken(), grown(&first));
        assert_eq!(taken(), None);
        write("samples.jsonl", "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
        write("hosts.json", "{}");
        let next = [("hosts.json", "{}"), ("samples.jsonl", "{\"n\":2}\n{\"n\":3}\n")];
        assert_eq!(taken(), grown(&next));
        assert_eq!(taken(), None);
    }
}
