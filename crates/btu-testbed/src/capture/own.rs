//! Whose packets may be recorded and handed over: those of the connections of a test, and no other.

use std::net::IpAddr;
use std::net::SocketAddr;

use super::Capture;

/// A connection of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The end of the black box.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
}

/// What may be recorded before its connections are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// Where the black box listens for them.
    pub local: Vec<SocketAddr>,
    /// The only host that they come from.
    pub remote: IpAddr,
}

impl Own {
    /// Whether a segment between these ends (from, to) is one. What a host sends to itself passes
    /// twice: as it goes, its end is that of the sender, as it comes, that of the receiver.
    pub(super) fn admits(&self, ends: Option<[SocketAddr; 2]>, is_outgoing: bool) -> bool {
        let Some([from, to]) = ends else { return false };
        let (own, other) = if is_outgoing { (from, to) } else { (to, from) };
        let is_here = self.local.iter().any(|local| is_same(*local, own));
        is_here && self.remote.to_canonical() == other.ip().to_canonical()
    }
}

impl Connection {
    fn has(&self, [from, to]: [SocketAddr; 2]) -> bool {
        let is = |local, remote| is_same(self.local, local) && is_same(self.remote, remote);
        is(from, to) || is(to, from)
    }
}

impl Capture {
    /// The packets of these connections; all others are forgotten.
    #[must_use]
    pub fn of_connections(mut self, connections: &[Connection]) -> Self {
        let of = |ends| connections.iter().any(|one| one.has(ends));
        let heads = self.frames.iter().map(|head| {
            let bytes = &self.heads[head.start..head.start + head.length];
            head.shape.ends(bytes).is_some_and(of)
        });
        let is_own: Vec<bool> = heads.collect();
        self.records.retain(|record| {
            let frame = usize::try_from(record.frame).unwrap_or(usize::MAX);
            is_own.get(frame) == Some(&true)
        });
        self
    }
}

/// One end, whether it is written as an IPv4 address or as that address within IPv6 (RFC 4291, 2.5.5.2).
pub fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && one.ip().to_canonical() == other.ip().to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn nothing_but_the_test_s_own_is_recorded() {
        let own = Own {
            local: vec![at("[::ffff:10.0.4.7]:7420"), at("10.0.4.7:7421")],
            remote: "10.0.4.1".parse().unwrap(),
        };
        let admits = |from, to, out| own.admits(Some([at(from), at(to)]), out);
        assert!(admits("10.0.4.1:999", "10.0.4.7:7420", false));
        assert!(admits("10.0.4.7:7421", "10.0.4.1:999", true));
        for (from, to, out) in [
            ("10.0.4.2:999", "10.0.4.7:7420", false),
            ("10.0.4.7:7420", "10.0.4.2:999", true),
            ("10.0.4.1:999", "10.0.4.7:22", false),
            ("10.0.4.1:7420", "10.0.4.7:999", false),
            // The same segment a second time, as another device sees it.
            ("10.0.4.1:999", "10.0.4.7:7420", true),
        ] {
            assert!(!admits(from, to, out), "{from} {to} {out}");
        }
        assert!(!own.admits(None, false), "no TCP");
    }
}
