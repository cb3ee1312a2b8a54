//! VSOCK over the machine's own address (CID 1).

use std::io;
use std::time::Duration;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::nature::Nature;
use btu_core::units::Bytes;
use btu_core::words::sentence;
use btu_sys::exchange;
use btu_sys::exchange::Family;
use btu_sys::socket::Settings;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::socket;
use super::socket::StreamListener;
use super::unix;
use crate::error::EngineError;
use crate::pingpong::channel::End;

/// The transport `vsock`.
#[derive(Debug)]
pub(super) struct Vsock {
    /// What carries it; another family of streams in tests, where the kernel has no loopback of it.
    family: Family,
}

/// Over the kernel's VSOCK.
pub(super) static VSOCK: Vsock = Vsock { family: Family::Vsock };

impl Transport for Vsock {
    fn name(&self) -> &'static str {
        "vsock"
    }

    fn about(&self) -> &'static str {
        "sockets between a virtual machine and its host, a stream"
    }

    fn properties(&self) -> Properties {
        Properties {
            reliable: true,
            bounded: false,
            reach: Reach::OneHost,

            waits: &[Wait::Block, Wait::Spin, Wait::Epoll],
        }
    }

    /// Within one machine it is as a Unix socket.
    fn nature(&self, _: &Configuration) -> Nature {
        unix::nature()
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        let nothing = Settings::default();
        let met = exchange::listen(self.family, self.family.any_local(), &nothing).and_then(
            |listening| {
                exchange::connect(self.family, listening.address()?, &nothing, PROBE).map(drop)
            },
        );
        met.map_err(|cause| match cause.kind() {
            io::ErrorKind::AddrNotAvailable | io::ErrorKind::TimedOut => {
                EngineError::Refused(format!("{WITHOUT_LOOPBACK} ({})", sentence(&cause)))
            }
            _ => cause.into(),
        })
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        StreamListener::on_this_machine(self.family, &hookup.settings())
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        socket::connect_stream(self.family, at, hookup, &hookup.settings())
    }
}

/// A machine without the loopback of VSOCK does not refuse the connection, it never answers.
const PROBE: Duration = Duration::from_millis(100);
const WITHOUT_LOOPBACK: &str = "this kernel has no loopback of VSOCK, so nobody is at this machine's own \
                                address (CID 1): load the module vsock_loopback, or build the kernel with \
                                CONFIG_VSOCKETS_LOOPBACK";

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use btu_core::pingpong::configuration::Mode;
    use btu_core::pingpong::configuration::Placement;
    use btu_core::pingpong::sample::Ended;
    use btu_core::pingpong::schedule::Visit;
    use btu_core::role::Role;
    use btu_core::units::Nanos;

    use super::*;
    use crate::Party;
    use crate::Place;
    use crate::pingpong::Opening;
    use crate::pingpong::Session;

    /// The transport over streams that every kernel has.
    static FAKE: Vsock = Vsock { family: Family::Tcp };

    fn opening(wanted: Configuration) -> Opening {
        let party = |role| Party {
            place: Place::here(role),
            address: IpAddr::from([127, 0, 0, 1]),
            sockets: Settings::default(),
        };
        let wanted = Configuration { placement: Placement::Free, ..wanted };
        let mut opening = Opening::new(&FAKE, wanted, party(Role::Test), party(Role::Active));
        opening.patience = Nanos::from_secs(60);
        opening
    }

    fn visit(size: u64) -> Visit {
        Visit { warm_up: 1, ..Visit::single(Bytes::new(size), 3, Nanos::from_secs(60)) }
    }

    /// Few kernels have VSOCK within one machine: everything of this file but the family itself.
    #[test]
    fn a_fake_of_it_carries_every_byte_and_every_way_to_wait_and_to_exchange() {
        FAKE.available().unwrap();
        let every_byte = Configuration { verify: true, ..Configuration::new("vsock") };
        let mut wanted = vec![every_byte];
        for wait in FAKE.properties().waits {
            for mode in [Mode::PingPong, Mode::Streaming, Mode::Bidirectional] {
                wanted.push(Configuration { wait: *wait, mode, ..Configuration::new("vsock") });
            }
        }
        for wanted in wanted {
            let wait = wanted.wait;
            let mut session = match Session::open(&opening(wanted)) {
                Ok(session) => session,
                Err(fault) if wait == Wait::Spin => {
                    crate::skip::record(&format!("too few CPUs: vsock: {}", fault.sentence()));
                    continue;
                }
                Err(fault) => panic!("{}", fault.sentence()),
            };
            for size in [1, 3, 4_096, 300_000] {
                let sample = session.visit(&visit(size));
                assert_eq!(sample.ended, Ended::Complete, "{wait} {size}");
            }
        }
    }

    #[test]
    fn a_kernel_without_its_loopback_is_told_with_the_call_that_fails() {
        if let Err(reason) = VSOCK.available() {
            let reason = reason.sentence();
            let is_known = reason.starts_with(WITHOUT_LOOPBACK) || reason.contains("socket");
            assert!(is_known, "{reason}");
        }
    }
}
