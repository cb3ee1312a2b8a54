//! Rules of nftables: batches of netlink messages, built by hand.

mod message;

use std::io;
use std::net::Ipv4Addr;

use netlink_sys::Socket;
use netlink_sys::SocketAddr;
use netlink_sys::protocols::NETLINK_NETFILTER;

use crate::Error;
use crate::Result;
use crate::namespace::NetNs;

use message::BaseChain;
use message::Expression;
use message::Rules;

/// Connections that leave a network namespace with another source address. The rule goes with this
/// value, and with the process: its table belongs to the socket (since Linux 5.12).
#[derive(Debug)]
pub struct Masquerade {
    _owner: Socket,
}

impl Masquerade {
    /// Gives connections in `namespace` the address of the device by which they leave; only those
    /// from `source`, if one is given.
    pub fn install(namespace: &NetNs, source: Option<Ipv4Addr>) -> Result<Self> {
        let what = || match source {
            Some(source) => format!("masquerade connections from {source}"),
            None => "masquerade connections".to_owned(),
        };
        let rules = Rules {
            table: format!("btu-{}", std::process::id()),
            chain: "out",
            base: BaseChain::POST_ROUTING_NAT,
            expressions: match source {
                Some(source) => vec![
                    Expression::LoadSource,
                    Expression::Equals(source.octets()),
                    Expression::Masquerade,
                ],
                None => vec![Expression::Masquerade],
            },
        };
        let installed = namespace.inside(|| install(&rules));
        let installed = installed.map_err(|cause| Error::new(what(), io::Error::other(cause)))?;
        let owner = installed.map_err(|cause| Error::new(what(), cause))?;
        Ok(Self { _owner: owner })
    }
}

/// Sends one transaction; the socket owns its table.
fn install(rules: &Rules) -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(&rules.batch(), 0)?;
    let mut acknowledged = 0;
    while acknowledged < message::ACKNOWLEDGED {
        let (answer, _) = socket.recv_from_full()?;
        acknowledged += message::verdicts(&answer)?;
    }
    Ok(socket)
}
