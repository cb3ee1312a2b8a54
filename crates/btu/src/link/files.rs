//! The files that a link leaves: statistics, captured packets.

use std::fs::File;
use std::fs::Metadata;
use std::io;
use std::io::BufWriter;
use std::io::ErrorKind;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::anyhow;
use btu_testbed::capture::Capture;
use btu_testbed::capture::End;
use btu_testbed::capture::write_pcapng;
use serde_json::Value;

use super::options::OutputArgs;
use crate::exit::Failure;
use crate::measurement::place;

/// Files opened before anything runs, so that a wrong path costs nothing.
#[derive(Debug)]
pub(crate) struct Files {
    statistics: Option<Opened>,
    capture: Option<Opened>,
}

/// A file that will be written at the end. One that was made for it goes where the end never comes, and
/// one that was there stays as it was until then.
#[derive(Debug)]
struct Opened {
    file: File,
    path: PathBuf,
    /// Whether it has to be removed again.
    is_made: bool,
}

impl Files {
    /// Creates what the options name.
    pub(crate) fn create(args: &OutputArgs) -> Result<Self, Failure> {
        let statistics = create("--stats", args.stats.as_deref())?;
        let capture = create("--capture", args.capture.as_deref())?;
        if let Some((statistics, capture)) = statistics.as_ref().zip(capture.as_ref())
            && statistics.is_same_file(capture)
        {
            let [one, other] = [statistics, capture].map(|opened| opened.path.display());
            return Err(Failure::usage(anyhow!(
                "--stats {one} and --capture {other} are one file; give each a file of its own"
            )));
        }
        Ok(Self { statistics, capture })
    }

    /// Writes both, as far as they were asked for. The capture shows what the command's end saw.
    pub(crate) fn write(self, document: &Value, packets: Option<&Capture>) -> Result<(), Failure> {
        if let Some(statistics) = self.statistics {
            statistics.write("--stats", |file| writeln!(file, "{document:#}"))?;
        }
        if let Some((capture, packets)) = self.capture.zip(packets) {
            let packets = std::slice::from_ref(packets);
            capture.write("--capture", |file| write_pcapng(file, packets, End::Near).map(drop))?;
        }
        Ok(())
    }
}

impl Opened {
    fn new(path: &Path) -> io::Result<Self> {
        match File::create_new(path) {
            Ok(file) => Ok(Self { file, path: path.to_owned(), is_made: true }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let file = File::options().write(true).open(path)?;
                Ok(Self { file, path: path.to_owned(), is_made: false })
            }
            Err(error) => Err(error),
        }
    }

    /// True where both would overwrite each other, by whatever names; a terminal takes both.
    fn is_same_file(&self, other: &Self) -> bool {
        let place = |opened: &Self| {
            let found = opened.file.metadata().ok().filter(Metadata::is_file)?;
            Some((found.dev(), found.ino()))
        };
        place(self).is_some_and(|here| place(other) == Some(here))
    }

    fn write(
        mut self,
        option: &str,
        content: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        self.is_made = false;
        let whole = || {
            if self.file.metadata()?.is_file() {
                self.file.set_len(0)?;
            }
            let mut out = BufWriter::new(&self.file);
            content(&mut out)?;
            out.flush()
        };
        let written = whole().with_context(|| format!("{option}: write {}", self.path.display()));
        written.map_err(Failure::environment)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if self.is_made {
            // Nobody misses an empty file.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn create(option: &str, path: Option<&Path>) -> Result<Option<Opened>, Failure> {
    let Some(path) = path else { return Ok(None) };
    Opened::new(path).map(Some).map_err(|cause| {
        // Another name helps; where a directory takes no file, none does.
        let of_name = matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory);
        let is_lost = cause.kind() == ErrorKind::NotFound && !place::is_nowhere();
        let cause = anyhow!(cause).context(format!("{option}: create {}", path.display()));
        let failure = if of_name { Failure::usage(cause) } else { Failure::environment(cause) };
        if is_lost {
            failure.hint("name a directory that is there: it is not made")
        } else {
            failure
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_never_written_leaves_nothing_and_spoils_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        std::fs::write(&old, "what was there before").unwrap();
        drop([&old, &new].map(|path| Opened::new(path).unwrap()));
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "what was there before");
        assert!(!new.exists());
        for path in [&old, &new] {
            Opened::new(path).unwrap().write("--stats", |file| write!(file, "this")).unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), "this");
        }
    }
}
