//! The verb `bundle`: a result as one file that can be sent, read and verified anywhere.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use anyhow::anyhow;
use btu_core::manifest::hash;
use btu_core::words::several;
use btu_report::MANIFEST;
use btu_report::ResultFiles;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

/// Options of `btu bundle`.
#[derive(Debug, clap::Args)]
pub(crate) struct BundleArgs {
    /// The directory of a result
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Where the bundle goes [default: DIR.btu]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) fn bundle(args: &BundleArgs) -> Result<Exit, Failure> {
    let files = ResultFiles::read(&args.directory).map_err(Failure::usage)?;
    let bundle = packed(files.origin(), files.all())?;
    let path = args.path()?;
    write(&path, &bundle)?;
    let manifest = files.get(MANIFEST).map(hash);
    if args.json {
        output::json(&serde_json::json!({
            "bundle": path,
            "bytes": bundle.len(),
            "files": files.all().keys().collect::<Vec<_>>(),
            "manifest_blake3": manifest,
        }))?;
    } else {
        let (files, bytes) = (several(files.all().len(), "file"), bundle.len());
        output::result(&format!("{}: {files}, {bytes} bytes\n", path.display()))?;
    }
    if manifest.is_none() {
        output::message("btu: warning: nobody signed this result; nobody can verify the bundle");
    }
    Ok(Exit::Done)
}

impl BundleArgs {
    /// The file that was named, else the directory's own name with an ending.
    fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.output {
            return Ok(path.clone());
        }
        let Some(name) = self.directory.file_name() else {
            let cause = anyhow!("{}: has no name", self.directory.display());
            return Err(Failure::usage(cause).hint("name the bundle with --output FILE"));
        };
        let mut name = name.to_owned();
        name.push(".btu");
        Ok(self.directory.with_file_name(name))
    }
}

/// The bundle of these files, unless nobody could read it.
fn packed(origin: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, Failure> {
    let named =
        |error| anyhow::Error::new(error).context(format!("bundle of {}", origin.display()));
    let bundle = btu_report::pack(files).map_err(|error| Failure::usage(named(error)));
    bundle
        .map_err(|failure| failure.hint("every verb that reads a bundle takes the directory, too"))
}

/// Writes a new file; never over another one, and all of it or nothing.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let named = |error| anyhow::Error::new(error).context(format!("write {}", path.display()));
    let mut file = File::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(named(error)).hint("name another file"),
        _ => Failure::environment(named(error)),
    })?;
    file.write_all(content).map_err(|error| {
        // The first cause is told; a torn file would be taken for a result.
        let _ = std::fs::remove_file(path);
        Failure::environment(named(error))
    })
}
