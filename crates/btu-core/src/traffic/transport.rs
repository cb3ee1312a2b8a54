//! What carries a test: the transports of traffic, each with its name in scenarios and results.

use std::fmt;

/// A transport of traffic. Whoever makes something of one has an answer for each: there is no other way on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// A stream of a QUIC connection.
    Quic,
    /// A TCP connection; what carries a test that names no transport.
    #[default]
    Tcp,
    /// Datagrams.
    Udp,
}

impl Transport {
    /// Every one, in the order in which texts name them.
    pub const ALL: [Self; 3] = [Self::Tcp, Self::Udp, Self::Quic];

    /// Its name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quic => "quic",
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }

    /// The one of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// The names of all, for errors.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name_and_others_by_none() {
        for transport in Transport::ALL {
            assert_eq!(Transport::by_name(transport.name()), Some(transport));
        }
        for other in ["", "TCP", "sctp"] {
            assert_eq!(Transport::by_name(other), None);
        }
        assert_eq!(Transport::names(), "tcp, udp, quic");
    }
}
