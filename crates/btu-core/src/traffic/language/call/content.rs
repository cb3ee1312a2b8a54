//! What stands in a file that a test names.

use std::sync::Arc;

use crate::traffic::model::Exchange;
use crate::traffic::model::RecordedPayload;
use crate::traffic::model::Vector;

/// What stands in a file, as the model that takes it has it. It is read once: trains are drawn of it for every session.
#[derive(Clone, Debug, PartialEq)]
pub struct Content(pub(in crate::traffic) Rows);

/// The rows of a file.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::traffic) enum Rows {
    Exchanges(Arc<[Option<Exchange>]>),
    Payloads(Arc<[RecordedPayload]>),
    Vectors(Arc<[Vector]>),
}
