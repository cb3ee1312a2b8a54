//! Which host has the clients of a direction, and which the server.

use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;

use btu_core::file::sample::Direction;
use btu_core::file::sample::Operation;
use btu_core::file::sample::Trial;

use crate::place::Party;

/// One way of the bytes of files.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) direction: Direction,
    pub(super) client: Party,
    pub(super) server: Party,
    /// The server's: `a` or `b`.
    pub(super) host: &'static str,
}

impl Way {
    /// Those of a trial, of which each has a server.
    pub(super) fn all_of(trial: &Trial, a: &Party, b: &Party) -> Vec<Self> {
        let (here, there) = ((a, "a"), (b, "b"));
        let way = |direction, from, to| Self::of(trial.operation, direction, from, to);
        match trial.direction {
            Direction::AToB => vec![way(Direction::AToB, here, there)],
            Direction::BToA => vec![way(Direction::BToA, there, here)],
            Direction::Both => {
                vec![way(Direction::AToB, here, there), way(Direction::BToA, there, here)]
            }
            Direction::WithinA => vec![Self::within(Direction::WithinA, a, "a")],
            Direction::WithinB => vec![Self::within(Direction::WithinB, b, "b")],
        }
    }

    /// A file that is retrieved comes from the server, everything else goes there.
    fn of(
        operation: Operation,
        direction: Direction,
        from: (&Party, &'static str),
        to: (&Party, &'static str),
    ) -> Self {
        let (client, (server, host)) =
            if operation == Operation::Get { (to.0, from) } else { (from.0, to) };
        Self { direction, client: client.clone(), server: server.clone(), host }
    }

    fn within(direction: Direction, party: &Party, host: &'static str) -> Self {
        let loopback = match party.address.to_canonical() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        let party = Party { address: loopback, ..party.clone() };
        Self { direction, client: party.clone(), server: party, host }
    }
}
