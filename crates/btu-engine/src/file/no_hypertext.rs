//! What stands in the place of HTTP in a build without it.

use btu_core::file::sample::Operation;

use super::Offer;
use super::Served;
use super::Session;
use super::Visit;
use super::site::Abroad;
use crate::error::EngineError;

/// Which HTTP would be spoken.
#[derive(Clone, Copy, Debug)]
pub(super) enum Version {
    One,
    Two,
}

/// What clients could do.
pub(super) const OPERATIONS: &[Operation] =
    &[Operation::Call, Operation::Get, Operation::Put, Operation::Stream];

/// No clients for servers of others, as there are none at all.
pub(super) const ABROAD: Option<&dyn Abroad> = None;

pub(super) fn serve(_: &Offer, version: Version) -> Result<Box<dyn Served>, EngineError> {
    Err(left_out(version))
}

pub(super) fn open(_: &Visit, version: Version) -> Result<Box<dyn Session>, EngineError> {
    Err(left_out(version))
}

fn left_out(version: Version) -> EngineError {
    let name = match version {
        Version::One => "http",
        Version::Two => "h2",
    };
    EngineError::Refused(format!("this build leaves {name} out: build with `--features http`"))
}
