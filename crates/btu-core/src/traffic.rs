//! Traffic without any I/O: scenarios, distributions, models and their trains.
//!
//! A text in the block language of NetSpec ([`read_script`]) or in TOML ([`read_toml`]) becomes a
//! [`Scenario`]; each of its [`Test`]s has a [`Call`] whose [`Train`] says what is due when. A sender
//! carries a train out as [`burst`] says, both ends make a [`trace`] of it, and [`analysis`] says what
//! that means.

pub mod analysis;
mod build;
pub mod burst;
mod call;
mod chance;
mod check;
pub mod class;
mod form;
mod law;
mod model;
mod observe;
pub mod plan;
mod preview;
mod quantity;
pub mod sample;
mod scenario;
mod script;
mod settings;
pub mod simulated;
pub mod study;
#[cfg(test)]
mod tests;
pub mod trace;
mod train;
mod variate;
mod write;

pub use build::Reading;
pub use build::ScenarioError;
pub use build::read_script;
pub use call::Argument;
pub use call::BASICS;
pub use call::Call;
pub use call::Overrun;
pub use call::Parameter;
pub use call::Pattern;
pub use call::Shape;
pub use call::Takes;
pub use chance::Stream;
pub use chance::Streams;
pub use check::Checked;
pub use check::LEAST_P;
pub use check::check;
pub use form::read_toml;
pub use law::Interpolation;
pub use law::KINDS;
pub use law::Kind;
pub use law::Law;
pub use law::Table;
pub use model::Claim;
pub use model::MODELS;
pub use model::Model;
pub use model::Says;
pub use model::Verified;
pub use model::find;
pub use preview::Message;
pub use preview::Summary;
pub use preview::preview;
pub use preview::summary;
pub use quantity::Dialect;
pub use quantity::Quantity;
pub use scenario::Axis;
pub use scenario::Block;
pub use scenario::Cluster;
pub use scenario::Drain;
pub use scenario::Endpoint;
pub use scenario::Keep;
pub use scenario::Pace;
pub use scenario::Protocol;
pub use scenario::Scenario;
pub use scenario::Test;
pub use scenario::Variant;
pub use script::Problem;
pub use script::call;
pub use script::variate;
pub use settings::Vocabulary;
pub use train::Action;
pub use train::Arrival;
pub use train::Closed;
pub use train::Direction;
pub use train::Event;
pub use train::Open;
pub use train::Outcome;
pub use train::Timeline;
pub use train::Train;
pub use train::converse;
pub use variate::Variate;
pub use write::to_toml;
