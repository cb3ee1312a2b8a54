//! Traffic: many flows of blocks on an absolute schedule, seen at both ends on one clock (napier).
//!
//! A [`Job`] is a set of flows that connect, meet at one barrier, start at one instant and end. Flows
//! share threads: each sending thread keeps the due times of its flows in one heap and waits for the
//! next one, asleep and then awake for the last microseconds; each receiving thread reads whatever
//! came. Nothing blocks: a socket without room is left alone until it has some, so that a flow that
//! cannot go on never delays another. Every wait has a deadline, so nothing hangs.

mod alarms;
mod answerer;
mod answers;
mod capacity;
mod connect;
mod crew;
mod dialogue;
mod flow;
pub mod hands;
mod job;
mod keeper;
mod media;
mod meeting;
mod numbers;
mod opening;
mod outgoing;
mod pacer;
mod path_mtu;
#[cfg(feature = "quic")]
pub(crate) mod quic;
#[cfg(not(feature = "quic"))]
#[path = "traffic/no_quic.rs"]
pub(crate) mod quic;
pub(crate) mod ration;
mod receipts;
mod receiver;
mod request;
mod responsiveness;
mod sampler;
mod sender;
mod side;
mod way;

pub use answerer::Answerer;
pub use answerer::Guests;
pub use capacity::CapacityEnd;
pub use capacity::CapacityOrder;
pub use capacity::CapacitySent;
pub use capacity::capacity;
pub use capacity::capacity_with;
pub use dialogue::Dialogue;
pub use dialogue::converse;
pub use dialogue::converse_with;
pub use job::Carrier;
pub use job::Flow;
pub use job::FlowEnd;
pub use job::Job;
pub use job::JobEnd;
pub use job::Offer;
pub use job::QuicSettings;
pub use job::TcpEnd;
pub use job::run;
pub use job::run_seen;
pub use media::MediaFlow;
pub use media::play;
pub use meeting::Door;
pub use meeting::Reach;
pub use meeting::Reception;
pub use meeting::call;
pub use path_mtu::path_mtu;
pub use path_mtu::path_mtu_with;
pub use quic::Keys;
pub use responsiveness::responsiveness;
pub use responsiveness::responsiveness_with;
pub use side::Side;
pub use side::SideEnd;
pub use side::SideReport;
pub use side::Watch;
pub use side::together;
pub use way::Way;
