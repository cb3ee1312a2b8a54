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

/// Targets need a nightly compiler and a library that is not built here. Each is these lines around one
/// property, which the tests do compile: one target that builds stands for all.
#[test]
fn every_property_has_a_target_that_calls_it() {
    let fuzz = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let read = |path: &str| std::fs::read_to_string(fuzz.join(path)).unwrap();
    let manifest = read("Cargo.toml");
    for property in &PROPERTIES {
        let name = property.name;
        let wanted = format!(
            "//! Fuzzes what `properties::{name}` says.\n#![no_main]\n\n#[path = \"../properties.rs\"]\n\
             #[allow(dead_code, reason = \"a target needs one of them\")]\nmod properties;\n\n\
             libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::{name}(bytes));\n"
        );
        assert_eq!(read(&format!("targets/{name}.rs")), wanted, "{name}");
        let entry = format!("[[bin]]\nname = \"{name}\"\npath = \"targets/{name}.rs\"\n");
        assert!(manifest.contains(&entry), "{name}: no [[bin]] in fuzz/Cargo.toml");
    }
    let targets = std::fs::read_dir(fuzz.join("targets")).unwrap().count();
    assert_eq!(targets, PROPERTIES.len(), "a target without a property");
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
