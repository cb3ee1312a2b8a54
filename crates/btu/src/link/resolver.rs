//! The name servers of the host, as far as they matter behind a link.

use std::fs;
use std::net::IpAddr;
use std::net::Ipv4Addr;

use super::options::Net;

/// What a command should read instead of the host's file; `None` where that will do.
///
/// A resolver on the loopback is another one behind a link. The outside has the servers that the
/// host's own resolver asks; without an outside only a server at the far end can answer.
pub(crate) fn behind_link(net: Net, far: Ipv4Addr) -> Option<String> {
    let text = fs::read_to_string(RESOLV_CONF).unwrap_or_default();
    if !is_on_loopback(&text) {
        return None;
    }
    let upstream = fs::read_to_string(UPSTREAM).unwrap_or_default();
    if net == Net::Nat && servers(&upstream).next().is_some() && !is_on_loopback(&upstream) {
        return Some(upstream);
    }
    Some(format!("nameserver {far}\n"))
}

/// The addresses on the `nameserver` lines of a `resolv.conf`.
pub(crate) fn servers(resolv_conf: &str) -> impl Iterator<Item = &str> {
    resolv_conf.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("nameserver")).then(|| words.next()).flatten()
    })
}

/// True where every server listens on the loopback, which is another one behind a link.
pub(crate) fn is_on_loopback(resolv_conf: &str) -> bool {
    let mut servers = servers(resolv_conf).peekable();
    let loopback = |server: &str| server.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    servers.peek().is_some() && servers.all(loopback)
}

/// Where programs look for their name servers.
pub(crate) const RESOLV_CONF: &str = "/etc/resolv.conf";
/// Where systemd-resolved writes the servers that it asks itself.
const UPSTREAM: &str = "/run/systemd/resolve/resolv.conf";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_resolver_is_on_the_loopback() {
        assert!(is_on_loopback("# made by systemd\nnameserver 127.0.0.53\noptions edns0\n"));
        assert!(!is_on_loopback("nameserver 127.0.0.1\nnameserver 192.0.2.1\n"));
        assert!(!is_on_loopback(""));
    }
}
