//! The conductor of a run as a pure state machine, the journal it writes, and the identity that signs it.
//!
//! Nothing here knows a transport or an emulator: whoever starts a run hands in a [`Runner`].
#![forbid(unsafe_code)]

mod conductor;
mod drive;
mod identity;
mod journal;

pub use conductor::Action;
pub use conductor::AloneRun;
pub use conductor::CaptureRun;
pub use conductor::CellRun;
pub use conductor::Conductor;
pub use conductor::Ending;
pub use conductor::Event;
pub use conductor::Progress;
pub use conductor::Task;
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
pub use identity::state_directory;
pub use journal::JournalDir;
pub use journal::JournalError;
pub use journal::Stored;
