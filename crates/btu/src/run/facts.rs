//! What a run discloses: the host, the program, and what the user says of them.

use std::collections::BTreeMap;

use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_engine::disclosure::host_facts;
use btu_engine::files::Files;

use super::options::RunArgs;

/// Everything but the placement, read before the process enters a namespace of its own.
pub(super) fn disclosure(args: &RunArgs) -> Disclosure {
    Disclosure {
        price: args.price.clone(),
        marks: args.marks.clone(),
        note: args.note.clone(),
        ..of_this_host()
    }
}

/// What the machine and the program say of themselves.
pub(crate) fn of_this_host() -> Disclosure {
    Disclosure {
        hosts: BTreeMap::from([("test".to_owned(), host_facts(&Files::host()))]),
        tool: tool(),
        ..Disclosure::default()
    }
}

/// Version, profile and identity of this program.
fn tool() -> BTreeMap<String, Fact> {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    let facts = [
        ("architecture", Fact::known(std::env::consts::ARCH)),
        ("hash", own_hash()),
        ("profile", Fact::known(profile)),
        ("version", Fact::known(env!("CARGO_PKG_VERSION"))),
    ];
    facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
}

/// BLAKE3 of the running program.
fn own_hash() -> Fact {
    match std::fs::read("/proc/self/exe") {
        Ok(bytes) => Fact::known(blake3::hash(&bytes).to_hex().to_string()),
        Err(error) => Fact::unavailable(error.to_string()),
    }
}
