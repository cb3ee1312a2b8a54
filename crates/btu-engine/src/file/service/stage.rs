//! Files on a disk, for servers to give: made once for each size, and cold or warm before each trial.

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::io;
use std::io::Read;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::file::sample::Held;
use btu_core::file::sample::ServerSample;
use btu_core::file::sample::Trial;
use btu_core::sample::Flag;
use btu_core::units::Bytes;
use btu_sys::disk;
use btu_sys::memory::Buffer;

use super::Posted;
use crate::error::EngineError;
use crate::file::ftp::scramble;
use crate::file::scratch::Kind;
use crate::file::scratch::Scratch;
use crate::file::scratch::is_two_numbers;

/// A directory of this process alone, removed with everything in it.
#[derive(Debug)]
pub(super) struct Stage {
    above: PathBuf,
    made: Scratch,
    /// How many files there are of a size.
    files: BTreeMap<Bytes, u32>,
}

/// The files of one trial.
#[derive(Debug)]
pub(super) struct Prop {
    directory: PathBuf,
    /// Where servers have them, once they do.
    paths: Vec<PathBuf>,
    /// In the order in which clients ask for them.
    pub(super) names: Vec<String>,
    size: Bytes,
    held: Held,
    /// Why they cannot be cold.
    obstacle: Option<String>,
    /// Set by whoever wants everything to end now.
    stop: Arc<AtomicBool>,
}

impl Stage {
    /// One below this directory.
    pub(super) fn below(above: PathBuf) -> Result<Self, EngineError> {
        let made = Scratch::below(&above, KIND)?;
        Ok(Self { above, made, files: BTreeMap::new() })
    }

    /// Where the files are.
    pub(super) fn directory(&self) -> PathBuf {
        self.made.path().to_owned()
    }

    /// The files of a trial: where they are to be cold, each is retrieved once by every client.
    pub(super) fn prop(
        &mut self,
        trial: &Trial,
        stop: &Arc<AtomicBool>,
    ) -> Result<Prop, EngineError> {
        let (size, held) = (trial.size_bytes, trial.held);
        let count = if held == Held::Cold { trial.count } else { 1 };
        let directory = self.directory();
        self.fill((&directory, stop), size, count)?;
        let in_memory = disk::file_system(&directory)?.in_memory;
        let obstacle = in_memory
            .then(|| format!("{} keeps its files in memory and on no disk", self.above.display()));
        let names = (0..count).map(|number| name(size, number)).collect();
        Ok(Prop {
            directory,
            paths: Vec::new(),
            names,
            size,
            held,
            obstacle,
            stop: Arc::clone(stop),
        })
    }

    fn fill(
        &mut self,
        (directory, stop): (&Path, &AtomicBool),
        size: Bytes,
        count: u32,
    ) -> Result<(), EngineError> {
        let have = self.files.get(&size).copied().unwrap_or(0);
        let wanted = size.count().saturating_mul(count.saturating_sub(have).into());
        let free = disk::file_system(directory)?.free_bytes.min(MOST.count());
        if wanted > free {
            let (wanted, free) = (Bytes::new(wanted), Bytes::new(free));
            let what = format!("files of {wanted} in {}: room for {free}", directory.display());
            return Err(EngineError::Refused(what));
        }
        for number in have..count {
            let path = directory.join(name(size, number));
            write(&path, size, stop).map_err(EngineError::file("write", path))?;
            self.files.insert(size, number + 1);
        }
        Ok(())
    }
}

impl Prop {
    /// Gives up the pages of cold files, reads warm ones, where these servers have them.
    pub(super) fn set(&mut self, servers: &[Posted]) -> Result<(), EngineError> {
        self.paths = servers.iter().flat_map(|one| self.paths_at(one)).collect();
        self.paths.sort_unstable();
        self.paths.dedup();
        for path in &self.paths {
            let file = open(path)?;
            match self.held {
                Held::Cold => disk::give_up_pages(&file)?,
                Held::Nowhere | Held::Unknown | Held::Warm => {
                    let read = read(file, &self.stop);
                    read.map_err(EngineError::file("read", path))?;
                }
            }
        }
        if self.held == Held::Cold {
            let (resident, all) = (self.resident()?, self.size_of(self.paths.len()));
            let stays = resident.count() * 100 > all.count() * (100 - PROOF_PERCENT);
            let told = || format!("{resident} of {all} stayed in memory");
            self.obstacle = self.obstacle.take().or_else(|| stays.then(told));
        }
        Ok(())
    }

    /// A server gives files of the directory, or copies of its own.
    fn paths_at(&self, server: &Posted) -> Vec<PathBuf> {
        let path =
            |name: &String| server.copy_of(name).unwrap_or_else(|| self.directory.join(name));
        self.names.iter().map(path).collect()
    }

    fn all(&self) -> Bytes {
        self.size_of(self.names.len())
    }

    fn size_of(&self, files: usize) -> Bytes {
        Bytes::new(self.size.count().saturating_mul(files as u64))
    }

    /// Bytes of the files that are in memory, now.
    fn resident(&self) -> Result<Bytes, EngineError> {
        let of = |path: &PathBuf| -> Result<u64, EngineError> {
            Ok(disk::resident_bytes(&open(path)?)?)
        };
        self.paths.iter().map(of).sum::<Result<u64, EngineError>>().map(Bytes::new)
    }

    /// Why a file that was to be cold was not. Two servers of one disk read it once.
    pub(super) fn doubt(&self, servers: &[ServerSample]) -> Option<Flag> {
        if self.held != Held::Cold {
            return None;
        }
        let why = self.obstacle.clone().or_else(|| lack_of_proof(servers, self.all()));
        why.map(|why| Flag::new("not-cold", why))
    }
}

/// Why nobody can say that all of it came from the disk.
fn lack_of_proof(servers: &[ServerSample], all: Bytes) -> Option<String> {
    let mut read = Bytes::ZERO;
    for server in servers {
        let Some(own) = server.disk_read else {
            let why = server.not_available.get("disk_read").cloned().unwrap_or_default();
            return Some(format!("no proof that {all} came from the disk: {why}"));
        };
        read += own;
    }
    let is_proof = read.count() * 100 >= all.count().saturating_mul(PROOF_PERCENT);
    (!is_proof).then(|| format!("{read} of {all} came from the disk"))
}

/// Removes a directory with the files that are made here. One that has anything else is not ours, and stays; so does
/// what cannot be removed now, which is in nobody's way.
fn remove(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_two_numbers) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir(directory);
}

/// A plain file, and no link.
fn open(path: &Path) -> Result<File, EngineError> {
    let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
    Ok(disk::file_within(folder, &name.to_string_lossy())?)
}

fn name(size: Bytes, number: u32) -> String {
    format!("{}-{number}", size.count())
}

/// A file of random bytes, on its disk.
fn write(path: &Path, size: Bytes, stop: &AtomicBool) -> io::Result<()> {
    let mut buffer = Buffer::prefaulted(BUFFER).map_err(io::Error::other)?;
    scramble(&mut buffer);
    // One that was stopped half written is begun again.
    let mut file = File::create(path)?;
    let mut left = size.len();
    while left > 0 {
        go_on(stop)?;
        let length = left.min(BUFFER);
        file.write_all(&buffer[..length])?;
        left -= length;
    }
    file.sync_all()
}

fn read(mut file: File, stop: &AtomicBool) -> io::Result<()> {
    let mut space = vec![0; BUFFER];
    while file.read(&mut space)? > 0 {
        go_on(stop)?;
    }
    Ok(())
}

fn go_on(stop: &AtomicBool) -> io::Result<()> {
    if stop.load(Relaxed) { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
}

/// The directories of this kind.
const KIND: Kind = Kind { prefix: "btu-file-", remove };

const BUFFER: usize = 65536;

/// Files of one trial that have to be made, at most.
const MOST: Bytes = Bytes::new(4 << 30);

/// What has to come from the disk of a file that is called cold.
const PROOF_PERCENT: u64 = 95;
