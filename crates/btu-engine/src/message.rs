//! Message layers: what carries the messages of a parallel application between its ranks.

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::app::endpoint::Endpoint;
use btu_core::app::sample::Wait;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::error::EngineError;
use crate::place::Place;

/// Every message layer of this build, in the order in which `btu list` shows them.
pub static MESSAGE_LAYERS: &[&dyn MessageLayer] = &[];

/// A way to carry messages between ranks that are threads of this process.
pub trait MessageLayer: Debug + Sync {
    /// The name in plans and results.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// False where all ranks must be on one host.
    fn spans_hosts(&self) -> bool;

    /// How a rank can wait for a message.
    fn waits(&self) -> &'static [Wait];

    /// Joins ranks, one for each seat: the ends in their order.
    fn join(
        &self,
        seats: &[Seat],
        terms: &Terms,
    ) -> Result<Vec<Box<dyn Endpoint + Send>>, EngineError>;
}

/// Where a rank is.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Its host, network and CPUs.
    pub place: Place,
    /// The address of its host for the other ranks.
    pub address: IpAddr,
}

/// What holds for the messages of a launch.
#[derive(Clone, Debug)]
pub struct Terms {
    /// How a rank waits for a message.
    pub wait: Wait,
    /// How long it waits for a rank that is silent.
    pub patience: Nanos,
    /// Set by whoever wants every call to end: it does within a tenth of a second.
    pub stop: Arc<AtomicBool>,
    /// How much each rank keeps of messages that it did not ask for yet.
    pub kept_limit: Bytes,
}

/// The layer of this name.
pub fn by_name(name: &str) -> Option<&'static dyn MessageLayer> {
    MESSAGE_LAYERS.iter().copied().find(|layer| layer.name() == name)
}
