//! Where a thread runs: on behalf of which host, in which network, on which CPUs.

use std::net::IpAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use btu_core::role::Role;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_sys::namespace::NetNs;
use btu_sys::socket::Settings;

use crate::error::EngineError;
use crate::threads;

/// The host, network and CPUs of a thread. On a real host there is one role and no namespace.
#[derive(Clone, Debug)]
pub struct Place {
    /// The host for which the thread works.
    pub role: Role,
    /// The network namespace of that host; `None` for the network of this process.
    pub net: Option<Arc<NetNs>>,
    /// The CPUs of that host; empty for all that this process may use.
    pub cpus: CpuSet,
}

/// A host of a run: where it works, where it is reached, how its sockets are set.
#[derive(Clone, Debug)]
pub struct Party {
    /// Where its threads run.
    pub place: Place,
    /// The address on which it listens; not used for the test host.
    pub address: IpAddr,
    /// Socket options of its data connections.
    pub sockets: Settings,
}

impl Place {
    /// This process as it is, as the host `role`.
    pub fn here(role: Role) -> Self {
        Self { role, net: None, cpus: CpuSet::default() }
    }

    /// The CPUs of the place, those of the calling thread where the place names none.
    pub fn cpus(&self) -> Result<CpuSet, EngineError> {
        if self.cpus.is_empty() { Ok(cpu::allowed()?) } else { Ok(self.cpus.clone()) }
    }

    /// Moves the calling thread there; threads that it starts later are there too.
    pub fn enter(&self) -> Result<(), EngineError> {
        if let Some(net) = &self.net {
            net.enter()?;
        }
        if !self.cpus.is_empty() {
            cpu::pin(&self.cpus)?;
        }
        Ok(())
    }

    /// Starts a thread that first goes there. `name` shows in `ps -T`, cut to 15 bytes.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
    ) -> Result<JoinHandle<Result<T, EngineError>>, EngineError> {
        let place = self.clone();
        threads::start(name, move || place.enter().and_then(|()| work()))
    }
}
