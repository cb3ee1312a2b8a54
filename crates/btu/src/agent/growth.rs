//! What a result grew by since it was told last, signed by this host: so that whoever ordered a test has
//! the runs that are done, whatever becomes of this host, and this host knows them again.

use std::fs::File;
use std::io;
use std::io::Read;
use std::io::Seek;
use std::io::SeekFrom;
use std::path::PathBuf;

use btu_control::Identity;

use crate::elsewhere::proof::APPENDED;
use crate::elsewhere::proof::Files;
use crate::elsewhere::proof::Proof;
use crate::elsewhere::proof::WHOLE;

/// A result that is being made, and what of it was told.
pub(super) struct Growth {
    folder: PathBuf,
    /// Who signs what was told.
    own: Identity,
    told: Files,
}

impl Growth {
    /// Of the result in this directory, of which this much was told before.
    pub(super) const fn of(folder: PathBuf, own: Identity, told: Files) -> Self {
        Self { folder, own, told }
    }

    /// What it grew by, as a bundle; `None` where it did not, could not be read, or is more than a bundle
    /// holds. What is missing now is told the next time, and the whole result at the end.
    pub(super) fn taken(&mut self) -> Option<Vec<u8>> {
        self.taken_by(|grown| btu_report::pack(grown).ok())
    }

    /// The same with a bundle by `pack`: what was not packed was not told.
    fn taken_by(&mut self, pack: impl FnOnce(&Files) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
        let mut told = self.told.clone();
        let mut grown = Files::new();
        for name in WHOLE {
            let Ok(content) = std::fs::read(self.folder.join(name)) else { continue };
            if told.get(name) != Some(&content) {
                told.insert(name.to_owned(), content.clone());
                grown.insert(name.to_owned(), content);
            }
        }
        for name in APPENDED {
            let told = told.entry(name.to_owned()).or_default();
            let from = told.len() as u64;
            let Ok(lines) = whole_lines(&self.folder.join(name), from) else { continue };
            if !lines.is_empty() {
                told.extend_from_slice(&lines);
                grown.insert(name.to_owned(), lines);
            }
        }
        if grown.is_empty() {
            return None;
        }
        Proof::of(&told, &self.own).join(&mut grown);
        let packed = pack(&grown)?;
        self.told = told;
        Some(packed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_told_once_when_it_is_whole_and_a_file_when_it_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (at, own) = (folder.path().to_owned(), Identity::ephemeral().unwrap());
        let id = own.id();
        let mut growth = Growth::of(at, own, Files::new());
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let mut all = Files::new();
        // What came, after its proof was held against all that came so far.
        let mut taken = || {
            let mut grown = btu_report::unpack(&growth.taken()?).unwrap();
            let proof = Proof::part(&mut grown).unwrap();
            for (name, content) in &grown {
                let file = all.entry(name.clone()).or_default();
                if WHOLE.contains(&name.as_str()) {
                    file.clear();
                }
                file.extend_from_slice(content);
            }
            let proved = proof.proved(&all, id).unwrap();
            assert!(all.iter().all(|(name, content)| proved.get(name) == Some(content)));
            Some(grown)
        };
        assert_eq!(taken(), None);
        write("plan.toml", "seed = 7\n");
        write("samples.jsonl", "{\"n\":1}\n{\"n\"");
        let grown = |files: &[(&str, &str)]| {
            let file = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
            Some(files.iter().map(file).collect::<Files>())
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

    #[test]
    fn of_a_result_that_is_gone_on_with_only_the_rest_is_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("samples.jsonl"), "1\n2\n").unwrap();
        let told = Files::from([("samples.jsonl".to_owned(), b"1\n".to_vec())]);
        let own = Identity::ephemeral().unwrap();
        let mut growth = Growth::of(folder.path().to_owned(), own, told);
        let grown = btu_report::unpack(&growth.taken().unwrap()).unwrap();
        assert_eq!(grown["samples.jsonl"], b"2\n");
    }

    /// Who goes on with a test brings back what came, which is what its proof has to be of.
    #[test]
    fn what_could_not_be_packed_is_told_with_the_next_step_and_no_proof_covers_it_before() {
        let folder = tempfile::tempdir().unwrap();
        let own = Identity::ephemeral().unwrap();
        let id = own.id();
        let mut growth = Growth::of(folder.path().to_owned(), own, Files::new());
        let write = |text: &str| std::fs::write(folder.path().join("samples.jsonl"), text).unwrap();
        write("1\n");
        assert_eq!(growth.taken_by(|_| None), None);
        write("1\n2\n");
        let mut came = btu_report::unpack(&growth.taken().unwrap()).unwrap();
        let proof = Proof::part(&mut came).unwrap();
        assert_eq!(came["samples.jsonl"], b"1\n2\n");
        assert!(proof.proved(&came, id).is_ok());
    }
}
