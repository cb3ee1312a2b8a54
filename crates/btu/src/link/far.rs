//! Waiting until the far end's server listens.

use std::collections::BTreeSet;
use std::fs;

use btu_sys::namespace::NetNs;

/// The sockets of a namespace that wait for somebody: listening TCP, bound UDP, raw and packet
/// sockets (a `tcpdump`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listeners(BTreeSet<String>);

impl Listeners {
    /// Those of `namespace` now.
    pub(crate) fn of(namespace: &NetNs) -> Self {
        let read = || {
            let tables = TABLES.iter().filter_map(|(table, state)| {
                let text = fs::read_to_string(format!("/proc/thread-self/net/{table}")).ok()?;
                Some(waiting(table, &text, *state))
            });
            tables.flatten().collect()
        };
        Self(namespace.inside(read).unwrap_or_default())
    }

    /// True where a socket waits that did not before.
    pub(crate) fn has_more_than(&self, before: &Self) -> bool {
        self.0.difference(&before.0).next().is_some()
    }
}

/// The sockets in a table of `/proc/net`: all, or those whose state is in the fourth column.
fn waiting(table: &str, text: &str, state: Option<&str>) -> Vec<String> {
    let sockets = text.lines().skip(1).filter(|line| {
        let found = line.split_whitespace().nth(3);
        state.is_none() || found == state
    });
    // Without its counters a line stays the same as long as the socket does.
    sockets.map(|line| format!("{table} {}", first_words(line))).collect()
}

fn first_words(line: &str) -> String {
    line.split_whitespace().skip(1).take(3).collect::<Vec<_>>().join(" ")
}

/// Tables and the state that counts: `TCP_LISTEN`, and `TCP_CLOSE`, which is a bound UDP socket.
const TABLES: [(&str, Option<&str>); 7] = [
    ("tcp", Some("0A")),
    ("tcp6", Some("0A")),
    ("udp", Some("07")),
    ("udp6", Some("07")),
    ("raw", Some("07")),
    ("icmp", Some("07")),
    ("packet", None),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listening_sockets_count() {
        let table = "  sl  local_address rem_address   st\n\
                     0: 00000000:1451 00000000:0000 0A 00000000:00000000\n\
                     1: 0100007F:1452 0100007F:1453 01 00000000:00000000\n";
        assert_eq!(waiting("tcp", table, Some("0A")), ["tcp 00000000:1451 00000000:0000 0A"]);
        let (one, none) = (Listeners(BTreeSet::from(["a".to_owned()])), Listeners::default());
        assert!(one.has_more_than(&none) && !none.has_more_than(&one));
    }
}
