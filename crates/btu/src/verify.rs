//! The verb `verify`: is a stored result what was measured, and who stands for it?

use std::path::PathBuf;

use btu_control::HostId;
use btu_report::ResultFiles;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::sign;

/// Options of `btu verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// The directory of a result, or its bundle
    #[arg(value_name = "DIR|FILE")]
    result: PathBuf,
    /// Demand that this host signed everything; repeatable, one of them is enough
    #[arg(long, value_name = "ID")]
    signed_by: Vec<HostId>,
    /// Accept a result that nobody signed (made before results were signed, or without a key)
    #[arg(long, conflicts_with = "signed_by")]
    allow_unsigned: bool,
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    let files = ResultFiles::read(&args.result).map_err(Failure::usage)?;
    let ids: Vec<String> = args.signed_by.iter().map(ToString::to_string).collect();
    let mut found = btu_report::verify(&files, &sign::signer).demanding(&ids);
    if args.allow_unsigned {
        found = found.accepting_unsigned();
    }
    if args.json {
        output::json(&serde_json::to_value(&found).map_err(Failure::environment)?)?;
    } else {
        output::result(&btu_report::verification_text(&found))?;
    }
    Ok(if found.valid { Exit::Done } else { Exit::Threshold })
}
