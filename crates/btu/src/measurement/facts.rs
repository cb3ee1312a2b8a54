//! What a run discloses: the host, the program, and what the user says of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::io::Read;

use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_engine::disclosure::host_facts;
use btu_engine::files::Files;

/// What the machine and the program say of themselves.
pub(crate) fn of_this_host() -> Disclosure {
    Disclosure {
        hosts: BTreeMap::from([("test".to_owned(), host_facts(&Files::host()))]),
        tool: tool(),
        ..Disclosure::default()
    }
}

/// How a measurement is placed. Where no testbed divides the CPUs of this host, the host under test has all
/// that this process may use.
pub(crate) fn placed(mut placement: BTreeMap<String, Fact>) -> BTreeMap<String, Fact> {
    placement.entry("cpus_test".to_owned()).or_insert_with(own_cpus);
    placement
}

fn own_cpus() -> Fact {
    let allowed = btu_sys::cpu::allowed().map(|cpus| cpus.iter().collect::<Vec<u32>>());
    allowed.map_or_else(|cause| Fact::unavailable(cause.to_string()), Fact::known)
}

/// Version, making and identity of this program.
fn tool() -> BTreeMap<String, Fact> {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    let features = [("quic", cfg!(feature = "quic")), ("tls", cfg!(feature = "tls"))];
    let features: Vec<&str> =
        features.into_iter().filter_map(|(name, has)| has.then_some(name)).collect();
    let facts = [
        ("architecture", Fact::known(std::env::consts::ARCH)),
        ("commit", made(env!("BTU_COMMIT"), "made outside of its repository")),
        ("compiler", made(env!("BTU_COMPILER"), "the compiler did not say")),
        ("features", Fact::known(features.join(", "))),
        ("hash", own_hash()),
        ("profile", Fact::known(profile)),
        ("target", made(env!("BTU_TARGET"), "cargo did not say")),
        ("version", Fact::known(env!("CARGO_PKG_VERSION"))),
    ];
    facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
}

/// What was known when the program was made.
fn made(known: &str, else_: &str) -> Fact {
    if known.is_empty() { Fact::unavailable(else_) } else { Fact::known(known) }
}

/// BLAKE3 of the running program.
fn own_hash() -> Fact {
    match File::open("/proc/self/exe").and_then(hash) {
        Ok(hash) => Fact::known(hash.to_hex().to_string()),
        Err(error) => Fact::unavailable(error.to_string()),
    }
}

/// Part by part: memory for a whole program costs more time than its hash.
fn hash(mut content: impl Read) -> io::Result<blake3::Hash> {
    let (mut hasher, mut part) = (blake3::Hasher::new(), vec![0; PART]);
    loop {
        match content.read(&mut part) {
            Ok(0) => return Ok(hasher.finalize()),
            Ok(length) => hasher.update(&part[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
    }
}

/// Stays in the cache.
const PART: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_hashed_part_by_part_as_it_is_as_a_whole() {
        let content: Vec<u8> = (0..2 * PART + 7).map(|i| u8::try_from(i % 251).unwrap()).collect();
        for length in [0, 1, PART, 2 * PART + 7] {
            let whole = &content[..length];
            assert_eq!(hash(whole).unwrap(), blake3::hash(whole), "{length}");
            assert_eq!(hash(Halting(whole, false)).unwrap(), blake3::hash(whole), "{length}");
        }
        let own = std::fs::read("/proc/self/exe").unwrap();
        assert_eq!(own_hash(), Fact::known(blake3::hash(&own).to_hex().to_string()));
    }

    /// Gives few bytes at a time, and is interrupted before each.
    struct Halting<'c>(&'c [u8], bool);

    impl Read for Halting<'_> {
        fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let few = space.len().min(1000);
            self.0.read(&mut space[..few])
        }
    }

    #[test]
    fn the_host_under_test_has_the_cpus_that_a_testbed_gives_it_or_all_of_this_process() {
        let here: Vec<u32> = btu_sys::cpu::allowed().unwrap().iter().collect();
        assert_eq!(placed(BTreeMap::new())["cpus_test"], Fact::known(here));
        let divided = BTreeMap::from([("cpus_test".to_owned(), Fact::known("of a testbed"))]);
        assert_eq!(placed(divided.clone()), divided);
    }
}
