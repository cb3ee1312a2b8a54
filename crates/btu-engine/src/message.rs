//! Message layers: what carries the messages of a parallel application between its ranks.

mod frames;
mod incoming;
mod mesh;
mod mpi;
mod mpich;
mod openmpi;
mod pause;
mod process;
mod pvm;
mod shm;
mod socket;
mod tcp;
mod unix;

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

pub use process::Entered;
pub use process::ProcessLayer;
pub use process::Start;

/// Every message layer of this build, in the order in which `btu list` shows them.
pub static MESSAGE_LAYERS: &[&dyn MessageLayer] = &[
    &tcp::Tcp,
    &frames::Frames,
    &unix::Unix,
    &shm::Shm,
    &openmpi::OpenMpi,
    &mpich::Mpich,
    &pvm::DIRECT,
    &pvm::DAEMON,
    &pvm::IN_PLACE,
];

/// A way to carry messages between the ranks of an application.
///
/// To add one: a file in this folder, a line in [`MESSAGE_LAYERS`], a section of its page, and one of the two traits that
/// [`RanksAre`] names.
pub trait MessageLayer: Debug + Sync {
    /// The name in plans and results.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// False where all ranks must be on one host.
    fn spans_hosts(&self) -> bool;

    /// How a rank can wait for a message.
    fn waits(&self) -> &'static [Wait];

    /// How its ranks come to be.
    fn ranks(&self) -> RanksAre<'_>;
}

/// How the ranks of a layer come to be.
#[derive(Clone, Copy, Debug)]
pub enum RanksAre<'l> {
    /// As processes, which a launcher of the layer's own starts.
    Processes(&'l dyn ProcessLayer),
    /// As threads of this process.
    Threads(&'l dyn ThreadLayer),
}

/// A layer that joins threads of this process.
///
/// Where there is a channel to each other rank, its file says how bytes get into it and out of it (`mesh::Wires`), and
/// frames, what is kept, and waiting are there already. The conformance suite then holds its ends to the contract of
/// [`Endpoint`].
pub trait ThreadLayer: Debug + Sync {
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

impl Seat {
    /// What `work` gives on a thread that is there: sockets that it makes are of that network.
    pub(crate) fn inside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let joined = self.place.spawn(JOIN, work)?.join();
        joined.unwrap_or_else(|said| Err(EngineError::panicked(JOIN, &*said)))
    }
}

impl Terms {
    /// What a rank keeps at most where nothing else is said: more than a kernel of class A ever has on its way.
    pub const KEPT: Bytes = Bytes::new(1 << 30);
}

/// The layer of this name.
pub fn by_name(name: &str) -> Option<&'static dyn MessageLayer> {
    MESSAGE_LAYERS.iter().copied().find(|layer| layer.name() == name)
}

/// For each rank its channels by the rank at their other end, none to itself. `make` gives both ends of a channel between
/// two ranks, that of the lower first.
fn between_all<C>(
    ranks: usize,
    mut make: impl FnMut(usize, usize) -> Result<(C, C), EngineError>,
) -> Result<Vec<Vec<Option<C>>>, EngineError> {
    let none = || (0..ranks).map(|_| None).collect();
    let mut of_all: Vec<Vec<Option<C>>> = (0..ranks).map(|_| none()).collect();
    let pairs = (0..ranks).flat_map(|higher| (0..higher).map(move |lower| (lower, higher)));
    for (lower, higher) in pairs {
        let (of_lower, of_higher) = make(lower, higher)?;
        of_all[lower][higher] = Some(of_lower);
        of_all[higher][lower] = Some(of_higher);
    }
    Ok(of_all)
}

const JOIN: &str = "join";
