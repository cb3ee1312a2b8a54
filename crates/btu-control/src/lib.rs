//! The conductor of a run and the agents of its black boxes as pure state machines, the words
//! between them, the journal that a run writes, and the identity that signs it.
//!
//! Nothing here knows a transport or an emulator: whoever starts a run hands in a [`Runner`].
#![forbid(unsafe_code)]

pub mod agent;
pub mod client;
mod conductor;
mod drive;
pub mod frame;
mod identity;
pub mod invite;
mod journal;
pub mod line;
pub mod message;
pub mod policy;
pub mod secret;
pub mod tls;

pub use conductor::Action;
pub use conductor::AloneRun;
pub use conductor::CaptureRun;
pub use conductor::CellRun;
pub use conductor::Conductor;
pub use conductor::Ending;
pub use conductor::Event;
pub use conductor::Progress;
pub use conductor::Task;
pub use conductor::TimeLeft;
pub use conductor::When;
pub use drive::Runner;
pub use drive::Watcher;
pub use drive::drive;
pub use identity::HostId;
pub use identity::Identity;
pub use identity::IdentityError;
pub use identity::NoHostId;
pub use identity::PublicKey;
pub use identity::Purpose;
pub use identity::give_to_owner;
pub use identity::state_directory;
pub use journal::JournalDir;
pub use journal::JournalError;
pub use journal::Stored;
pub use journal::is_free;
pub use journal::write_whole;
