//! Options that every verb with a document takes: its format, and files to write it to.

use std::path::Path;
use std::path::PathBuf;

use btu_report::FORMATS;
use btu_report::Format;
use clap::builder::PossibleValue;
use clap::builder::PossibleValuesParser;

use crate::exit::Failure;
use crate::output;

/// Where a document goes, and in which form.
#[derive(Debug, clap::Args)]
pub(crate) struct Rendering {
    /// Format on stdout [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = formats(), conflicts_with = "json")]
    format: Option<String>,
    /// Write exactly one JSON document to stdout (as --format json)
    #[arg(long)]
    json: bool,
    /// Write to this file, and to stdout only what --json or --format asks for; its ending names the
    /// format; repeatable
    #[arg(long, value_name = "FILE")]
    export: Vec<PathBuf>,
}

impl Rendering {
    /// Writes every form that was asked for, or none where one of them cannot be made.
    pub(crate) fn write(
        &self,
        render: impl Fn(&str) -> Result<Vec<u8>, Failure>,
    ) -> Result<(), Failure> {
        let made = self.export.iter().map(|file| Ok((file, render(ending(file))?)));
        let files: Vec<(&PathBuf, Vec<u8>)> = made.collect::<Result<_, Failure>>()?;
        let shown = self.of_stdout().map(&render).transpose()?;
        for (file, bytes) in files {
            std::fs::write(file, bytes).map_err(|error| {
                Failure::environment(
                    anyhow::Error::new(error).context(format!("write {}", file.display())),
                )
            })?;
        }
        shown.map_or(Ok(()), |bytes| output::bytes(&bytes))
    }

    /// Files take the place of stdout, unless somebody asked for a form there as well.
    fn of_stdout(&self) -> Option<&str> {
        let asked = if self.json { Some("json") } else { self.format.as_deref() };
        asked.or_else(|| self.export.is_empty().then_some("text"))
    }

    /// True where stdout carries JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json || self.format.as_deref() == Some("json")
    }
}

/// Every format by its name, or by the ending of its files: help, manual pages and completions say which.
fn formats() -> PossibleValuesParser {
    let format = |format: &&dyn Format| PossibleValue::new(format.name()).alias(format.extension());
    PossibleValuesParser::new(FORMATS.iter().map(format))
}

/// Names the format of a file.
fn ending(file: &Path) -> &str {
    file.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn a_form_that_cannot_be_made_leaves_no_other_one_behind() {
        let folder = tempfile::tempdir().unwrap();
        let [good, bad] = ["x.json", "x.pdf"].map(|name| folder.path().join(name));
        let wanted = Rendering { format: None, json: false, export: vec![good.clone(), bad] };
        let render = |format: &str| match format {
            "json" => Ok(b"{}".to_vec()),
            other => Err(Failure::usage(anyhow::anyhow!("{other}"))),
        };
        assert!(wanted.write(render).unwrap_err().exit == Exit::Usage);
        assert!(!good.exists());
    }
}
