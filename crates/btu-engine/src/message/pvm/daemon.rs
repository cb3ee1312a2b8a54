//! The daemon of a virtual machine of one launch.

use std::env;
use std::io::BufRead;
use std::io::BufReader;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use btu_sys::process;

use crate::error::EngineError;
use crate::message::process::on_path;

/// A daemon that runs. It ends with this value, and with the thread that started it.
#[derive(Debug)]
pub(super) struct Daemon(Child);

impl Daemon {
    /// Starts it, in the directory that the environment names, and waits until it listens.
    pub(super) fn start() -> Result<Self, EngineError> {
        let program = program()?;
        let mut command = Command::new(&program);
        // Its name in the virtual machine: that of the host may have no address.
        command.arg("-nlocalhost").stdin(Stdio::null()).stdout(Stdio::piped());
        process::dies_with_its_starter(&mut command);
        let child = command.spawn().map_err(EngineError::file("start", &program))?;
        let mut daemon = Self(child);
        daemon.listens().map_err(EngineError::file("wait for", &program))?;
        Ok(daemon)
    }

    /// It writes where it listens as soon as it does.
    fn listens(&mut self) -> std::io::Result<()> {
        let Some(out) = &mut self.0.stdout else { return Ok(()) };
        match BufReader::new(out).read_line(&mut String::new())? {
            0 => Err(std::io::Error::other("it ended before it listened")),
            _ => Ok(()),
        }
    }
}

/// Its files are in the directory of the launch, and go with that.
impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program of the daemon: that of `PVM_ROOT`, else the first of the path, else Debian's.
pub(super) fn program() -> Result<PathBuf, EngineError> {
    let named = env::var_os(ROOT).map(|root| Path::new(&root).join("lib").join(NAME));
    let mut all = named.into_iter().chain(on_path(NAME)).chain([PathBuf::from(USUAL)]);
    let lack = || EngineError::Refused(format!("{NAME}, the daemon of PVM, is not on the path"));
    all.find(|program| program.is_file()).ok_or_else(lack)
}

/// Where PVM is installed.
pub(super) const ROOT: &str = "PVM_ROOT";
const NAME: &str = "pvmd";
const USUAL: &str = "/usr/lib/pvm3/lib/pvmd";
