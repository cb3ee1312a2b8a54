//! Which sources this crate is made of: what they found once need not be found again by the same.

use std::hash::DefaultHasher;
use std::hash::Hasher;
use std::path::Path;
use std::path::PathBuf;

/// Cargo runs this in the folder of the crate.
fn main() {
    let mut files = vec![PathBuf::from("../../Cargo.lock")];
    below(Path::new("src"), &mut files);
    files.sort();
    let mut hash = DefaultHasher::new();
    for file in &files {
        hash.write(&std::fs::read(file).unwrap_or_default());
        hash.write_u8(0xff);
    }
    println!("cargo::rustc-env=BTU_SOURCES={:016x}", hash.finish());
    for place in ["build.rs", "src", "../../Cargo.lock"] {
        println!("cargo::rerun-if-changed={place}");
    }
}

/// Every file in a folder and in those below it.
fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|one| one.path()) {
        if path.is_dir() { below(&path, files) } else { files.push(path) }
    }
}
