//! Files of a result that outlive whoever writes them, and the machine.

use std::fs::File;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Writes a file beside the old one, to the disk, then in its place.
pub(super) fn replace(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let fresh = path.with_added_extension("new");
    let written = File::create(&fresh)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_data()))
        .and_then(|()| std::fs::rename(&fresh, path));
    written.with_context(|| format!("write {}", path.display()))
}

/// Adds to a file, to the disk; makes it where there is none.
pub(super) fn append(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    let written = opened.and_then(|mut file| {
        file.write_all(content)?;
        file.sync_data()
    });
    written.with_context(|| format!("write {}", path.display()))
}
