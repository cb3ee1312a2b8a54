//! The directories of a cell that is empty, and where its programs look for them.

use std::fs;
use std::fs::DirBuilder;
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::path::PathBuf;

use btu_sys::namespace::Root;

use super::CELL;
use crate::error::EngineError;

/// Below one directory, which is on a disk.
#[derive(Clone, Debug)]
pub(super) struct Layout(pub(super) PathBuf);

impl Layout {
    /// Makes everything that servers want to find (the comments of OpenAFS's `doc/man-pages` say what for).
    pub(super) fn make(&self, address: Ipv4Addr) -> Result<(), EngineError> {
        let directories =
            ["root", "etc/server", "log", "vicepa", "lib/db", "lib/local", "cache", "mnt"];
        for name in directories {
            let path = self.at(name);
            let made = DirBuilder::new().mode(0o700).recursive(true).create(&path);
            made.map_err(EngineError::file("make directory", path))?;
        }
        let cells = format!(">{CELL} #BTU\n{address} #server\n");
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let hosts = format!("127.0.0.1 localhost\n{address} {} server\n", host.trim());
        let files = [
            ("etc/ThisCell", CELL),
            ("etc/CellServDB", &cells),
            ("etc/cacheinfo", "/afs:/var/cache/openafs:50000\n"),
            ("etc/server/ThisCell", CELL),
            ("etc/server/CellServDB", &cells),
            ("lib/local/NetInfo", &address.to_string()),
            // Nobody has a key here.
            ("lib/local/NoAuth", ""),
            // The partition is a directory, no device.
            ("vicepa/AlwaysAttach", ""),
            // A server asks for the address of its own name.
            ("hosts", &hosts),
        ];
        files.iter().try_for_each(|(name, text)| self.write(name, text))
    }

    /// The root that its programs see: the machine's, without partitions of another cell.
    pub(super) fn root(&self) -> Root {
        let bind = |(name, at): &(&str, &str)| (self.at(name), PathBuf::from(at));
        Root { on: self.at("root"), binds: BINDS.iter().map(bind).collect(), hidden: "vicep" }
    }

    /// Where the file server keeps what is in files, and nothing else.
    pub(super) fn partition(&self) -> PathBuf {
        self.at("vicepa")
    }

    /// Where the cell is a directory.
    pub(super) fn mounted(&self) -> PathBuf {
        self.at("mnt")
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The last line that a server wrote into its log.
    pub(super) fn last_words(&self, log: &str) -> Option<String> {
        let text = fs::read_to_string(self.at("log").join(log)).ok()?;
        text.lines().next_back().map(str::to_owned)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), EngineError> {
        let path = self.at(name);
        fs::write(&path, text).map_err(EngineError::file("write", path))
    }
}

/// Every plain file below a directory.
pub(super) fn files_below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(files_below(&entry.path())?);
        } else {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Directories of the cell, and where OpenAFS as Debian builds it looks for them.
const BINDS: &[(&str, &str)] = &[
    ("etc", "/etc/openafs"),
    ("lib", "/var/lib/openafs"),
    ("log", "/var/log/openafs"),
    ("vicepa", "/vicepa"),
    ("hosts", "/etc/hosts"),
];
