//! From bytes to a message: syntax first, then the bounds of every value.

use btu_core::units::Nanos;
use serde::de::DeserializeOwned;

use super::Answer;
use super::Carried;
use super::Offer;
use super::Preparation;
use super::Request;
use super::Reservation;
use super::ServiceOrder;
use super::TestOrder;

/// A message that nobody may send.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// No JSON, or no message.
    #[error("no message")]
    Syntax(#[from] serde_json::Error),
    /// A value beyond its bounds.
    #[error("{field} is {found}, at most {limit} is allowed")]
    Bound {
        /// Which value.
        field: &'static str,
        /// What it is.
        found: u64,
        /// The limit.
        limit: u64,
    },
}

/// A message with bounds.
pub trait Bounded: DeserializeOwned {
    /// Refuses values beyond their bounds.
    ///
    /// # Errors
    /// The first such value.
    fn check(&self) -> Result<(), MessageError>;

    /// Bytes of a frame as a message.
    ///
    /// # Errors
    /// They are none, or one with a value beyond its bounds.
    fn parse(bytes: &[u8]) -> Result<Self, MessageError> {
        let message: Self = serde_json::from_slice(bytes)?;
        message.check().map(|()| message)
    }
}

impl Bounded for Request {
    fn check(&self) -> Result<(), MessageError> {
        match self {
            Self::Hello { build, .. } => text("build", build),
            Self::Join { name, .. } => at_most("name", name.len() as u64, LONGEST_NAME),
            Self::Reserve(wanted) => wanted.check(),
            Self::Serve { user, password, .. } => {
                text("user", user)?;
                text("password", password)
            }
            Self::Prepare(order) => order.check(),
            Self::Vouch { guest, for_ns } => {
                text("guest", guest)?;
                at_most("for_ns", for_ns.count(), LONGEST.count())
            }
            Self::Test(order) => order.check(),
            Self::Given { piece, .. } => at_most("piece", piece.len() as u64, LONGEST_PIECE),
            Self::Sign(wanted) => at_most("runs", wanted.runs.len() as u64, MOST_SIGNED),
            Self::Service(order) => order.check(),
            Self::Word(word) => at_most("lease_ns", word.lease_ns.count(), LONGEST.count()),
            _ => Ok(()),
        }
    }
}

impl Reservation {
    fn check(&self) -> Result<(), MessageError> {
        text("plan", &self.plan)?;
        at_most("longest_run_ns", self.longest_run_ns.count(), LONGEST.count())?;
        at_most("silence_ns", self.silence_ns.count(), LONGEST.count())?;
        at_most("flows", self.flows.into(), MOST_FLOWS)?;
        at_most("activities", self.activities.len() as u64, MOST_ITEMS)?;
        self.activities.iter().try_for_each(|name| text("activities", name))?;
        at_most("services", self.services.len() as u64, MOST_ITEMS)?;
        self.services.iter().try_for_each(|name| text("services", name))
    }
}

impl ServiceOrder {
    fn check(&self) -> Result<(), MessageError> {
        at_most("service", self.service.len() as u64, LONGEST_NAME)?;
        at_most("flows", self.flows.into(), MOST_FLOWS)?;
        at_most("lease_ns", self.lease_ns.count(), LONGEST.count())
    }
}

impl TestOrder {
    fn check(&self) -> Result<(), MessageError> {
        at_most("lease_ns", self.lease_ns.count(), LONGEST.count())?;
        at_most("boxes", self.boxes.len() as u64, MOST_ITEMS)?;
        at_most("marks", self.marks.len() as u64, MOST_ITEMS)?;
        let service = self.service.as_ref().map_or(0, String::len);
        at_most("service", service as u64, LONGEST_NAME)?;
        let mut boxes = self.boxes.iter().flat_map(|one| [&one.id, &one.address, &one.name]);
        boxes.try_for_each(|one| text("boxes", one))?;
        self.price.iter().try_for_each(|one| text("price", one))?;
        self.note.iter().try_for_each(|one| text("note", one))?;
        self.marks.iter().try_for_each(|one| text("length of a mark", one))
    }
}

impl Preparation {
    fn check(&self) -> Result<(), MessageError> {
        at_most("flows", self.flows.len() as u64, MOST_FLOWS)?;
        at_most("message_bytes", self.message_bytes.count(), LARGEST_MESSAGE)?;
        let read = self.calls.black_box_read.size(self.message_bytes);
        at_most("black_box_read", read.count(), LARGEST_MESSAGE)?;
        at_most("cap_ns", self.cap_ns.count(), LONGEST.count())?;
        at_most("connect_ns", self.connect_ns.unwrap_or_default().count(), LONGEST.count())?;
        at_most("lease_ns", self.lease_ns.count(), LONGEST.count())?;
        for buffer in [self.buffer_bytes, self.window_clamp_bytes].into_iter().flatten() {
            at_most("buffer_bytes", buffer.count(), LARGEST_MESSAGE)?;
        }
        if let Carried::WindowNs(window) = self.amount {
            at_most("window_ns", window.count(), LONGEST.count())?;
        }
        if let Some(of) = &self.of {
            at_most("cell", of.label.cell.len() as u64, LONGEST_CELL)?;
        }
        let Some(link) = &self.link else { return Ok(()) };
        at_most("link", (link.up.len().max(link.down.len())) as u64, MOST_ITEMS)?;
        link.up.iter().chain(&link.down).try_for_each(|element| text("link", element))
    }
}

impl Bounded for Answer {
    fn check(&self) -> Result<(), MessageError> {
        match self {
            Self::Welcome { build, .. } => text("build", build),
            Self::Refused { reason } | Self::Failed { reason, .. } | Self::Bye { reason } => {
                text("reason", reason)
            }
            Self::Progress { text: said, kept_bytes, .. } => {
                at_most("kept_bytes", *kept_bytes, LONGEST_DOCUMENT)?;
                text("text", said)
            }
            Self::Granted { emulation: Offer::None(reason), .. } => text("emulation", reason),
            Self::Prepared { addresses, .. } => {
                at_most("addresses", addresses.len() as u64, MOST_FLOWS)
            }
            Self::Signed { key, signature, .. } => {
                text("key", key)?;
                text("signature", signature)
            }
            Self::Document { length, .. } => at_most("length", *length, LONGEST_DOCUMENT),
            _ => Ok(()),
        }
    }
}

fn text(field: &'static str, text: &str) -> Result<(), MessageError> {
    at_most(field, text.len() as u64, LONGEST_TEXT)
}

const fn at_most(field: &'static str, found: u64, limit: u64) -> Result<(), MessageError> {
    if found > limit { Err(MessageError::Bound { field, found, limit }) } else { Ok(()) }
}

/// Of any text in a message, in bytes.
const LONGEST_TEXT: u64 = 4096;
const LONGEST_NAME: u64 = 64;
/// Of a cell's name, in bytes: an agent keeps many of them, for long.
const LONGEST_CELL: u64 = 256;
const MOST_FLOWS: u64 = 1024;
const MOST_ITEMS: u64 = 64;
/// Of a piece of a result, in hexadecimal digits: it fits into a frame.
const LONGEST_PIECE: u64 = 60 << 10;
/// Runs under one signature: as many as fit into a frame.
const MOST_SIGNED: u64 = 4096;
const LARGEST_MESSAGE: u64 = 64 << 20;
/// Of a document: what a run leaves behind.
const LONGEST_DOCUMENT: u64 = 64 << 20;
/// No run, lease or silence is longer than a day.
const LONGEST: Nanos = Nanos::from_secs(86_400);
