//! The name servers of the host, as far as they matter behind a link.

use std::net::IpAddr;

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
