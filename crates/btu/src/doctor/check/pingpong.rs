//! What carries the blocks of a ping-pong here.

use crate::doctor::finding::Check;
use crate::doctor::finding::Finding;
use crate::doctor::finding::Serves;

pub(super) static TRANSPORTS: Check = Check {
    name: "ping-pong",
    title: "transports of the ping-pong",
    serves: Serves::Verbs(&["pingpong"]),
    needed: false,
    ask: |machine| {
        let all = machine.transports();
        let there: Vec<&str> =
            all.iter().filter(|(_, tried)| tried.is_ok()).map(|(name, _)| *name).collect();
        let missing: Vec<String> = all
            .iter()
            .filter_map(|(name, tried)| Some(format!("{name}: {}", tried.as_ref().err()?)))
            .collect();
        if missing.is_empty() {
            return Finding::ok(there.join(", "));
        }
        Finding::limited(
            there.join(", "),
            missing.join("; "),
            "`btu pingpong all` measures the others; root, or a kernel with the module, has more",
        )
    },
};
