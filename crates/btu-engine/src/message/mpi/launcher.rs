//! The launcher of a library of MPI.

use std::path::PathBuf;

use crate::error::EngineError;
use crate::message::process;

/// A launcher.
#[derive(Debug)]
pub(in crate::message) struct Launcher {
    /// What Debian calls it beside those of other libraries. Everyone calls his own [`ANYONES`].
    pub(in crate::message) name: &'static str,
    /// Whether a program that everyone calls so is of this library, by the name of its file.
    pub(in crate::message) is_own: fn(&str) -> bool,
    /// Set to 1 for it.
    pub(in crate::message) variables: &'static [&'static str],
    /// How to get it, and the library.
    pub(in crate::message) remedy: &'static str,
}

impl Launcher {
    /// Where it is.
    pub(in crate::message) fn program(&self) -> Result<PathBuf, EngineError> {
        let lack =
            || EngineError::Refused(format!("not available: no {}: {}", self.name, self.remedy));
        self.among(&process::on_path(self.name), &process::on_path(ANYONES)).ok_or_else(lack)
    }

    fn among(&self, own: &[PathBuf], anyones: &[PathBuf]) -> Option<PathBuf> {
        let is_own = |program: &&PathBuf| {
            let real = program.canonicalize().unwrap_or_default();
            (self.is_own)(&real.file_name().unwrap_or_default().to_string_lossy())
        };
        own.first().or_else(|| anyones.iter().find(is_own)).cloned()
    }

    /// What readers of results should know of it.
    pub(in crate::message) fn disclosed(&self) -> String {
        let program = self.program().unwrap_or_default();
        let set = self.variables.iter().map(|name| format!(", {name}=1"));
        format!("started by {}{}", program.display(), set.collect::<String>())
    }
}

/// What every library calls its launcher.
const ANYONES: &str = "mpirun";

#[cfg(test)]
mod tests {
    use crate::message::mpich;
    use crate::message::openmpi;

    #[test]
    fn a_launcher_of_another_library_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let [of_open_mpi, mpirun] = ["orterun", "mpirun"].map(|name| folder.path().join(name));
        std::fs::write(&of_open_mpi, "").unwrap();
        std::os::unix::fs::symlink(&of_open_mpi, &mpirun).unwrap();
        let anyones = [mpirun.clone()];
        assert_eq!(mpich::LAUNCHER.among(&[], &anyones), None);
        let open_mpi = openmpi::LAUNCHER;
        assert_eq!(open_mpi.among(&[], &anyones), Some(mpirun));
        assert_eq!(open_mpi.among(std::slice::from_ref(&of_open_mpi), &anyones), Some(of_open_mpi));
    }
}
