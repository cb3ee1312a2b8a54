//! Waiting until the far end's server listens.

use std::collections::BTreeSet;
use std::fs;

use btu_sys::namespace::NetNs;

/// The sockets of a namespace that wait for somebody: listening TCP, bound UDP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listeners(BTreeSet<String>);

impl Listeners {
    /// Those of `namespace` now.
    pub(crate) fn of(namespace: &NetNs) -> Self {
        let read = || {
            let tables = TABLES.iter().filter_map(|(table, state)| {
                let text = fs::read_to_string(format!("/proc/thread-self/net/{table}")).ok()?;
                Some(waiting(table, &text, state))
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

/// The local addresses in a table of `/proc/net` whose socket is in `state`.
fn waiting(table: &str, text: &str, state: &str) -> Vec<String> {
    let sockets = text.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (local, _remote, found) = (fields.next()?, fields.next()?, fields.next()?);
        (found == state).then(|| format!("{table} {local}"))
    });
    sockets.collect()
}

/// Tables and the state that counts: `TCP_LISTEN`, and `TCP_CLOSE`, which is a bound UDP socket.
const TABLES: [(&str, &str); 4] = [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listening_sockets_count() {
        let table = "  sl  local_address rem_address   st\n\
                     0: 00000000:1451 00000000:0000 0A 00000000:00000000\n\
                     1: 0100007F:1452 0100007F:1453 01 00000000:00000000\n";
        assert_eq!(waiting("tcp", table, "0A"), ["tcp 00000000:1451"]);
        let (one, none) = (Listeners(BTreeSet::from(["a".to_owned()])), Listeners::default());
        assert!(one.has_more_than(&none) && !none.has_more_than(&one));
    }
}
