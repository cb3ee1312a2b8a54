//! What a user should know before a long run, not after it.

/// Why a result of this preset will hardly be rankable on a machine of so many CPUs.
pub(super) fn caution(preset: &str, cpus: usize) -> Option<String> {
    (preset == "official" && cpus < OWN_CPU_FROM).then(|| {
        format!(
            "note: on {cpus} CPUs the emulator shares one with the black boxes: long runs with \
             small messages over a delay will be late and invalid, and the result not rankable. \
             From {OWN_CPU_FROM} CPUs on the emulator has one for itself."
        )
    })
}

/// The CPUs from which the local testbed gives the emulator one of its own.
const OWN_CPU_FROM: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_official_run_on_few_cpus_is_cautioned() {
        assert!(caution("official", 2).unwrap().contains("on 2 CPUs"));
        assert_eq!(caution("official", 4), None);
        assert_eq!(caution("quick", 1), None);
    }
}
