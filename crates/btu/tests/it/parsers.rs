//! The corpora of the fuzz targets, as they are and damaged: whoever sends, edits or stores something
//! gets an answer, never a panic.

use std::path::PathBuf;

use crate::dice::Dice;
use crate::dice::mutated;
use crate::properties::PROPERTIES;

/// Damaged copies of each file of a corpus.
const COPIES: u64 = 100;

pub(crate) fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| (file.clone(), std::fs::read(&file).unwrap())).collect()
}

#[test]
fn every_parser_takes_its_corpus_and_what_damage_makes_of_it() {
    for property in &PROPERTIES {
        let files = corpus(property.name);
        assert!(files.len() >= 5, "{}: a corpus of {} files", property.name, files.len());
        for (file, bytes) in files {
            (property.holds)(&bytes);
            for seed in 0..COPIES {
                let damaged = mutated(&bytes, &mut Dice::new(seed));
                let held = std::panic::catch_unwind(|| (property.holds)(&damaged));
                assert!(held.is_ok(), "{} damaged by seed {seed}", file.display());
            }
        }
    }
}
