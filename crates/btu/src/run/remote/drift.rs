//! What an agent says of settings of its host that changed while it took part in a run.

use btu_core::role::Role;
use btu_core::sample::HostSample;

/// What changed, by role. It is another's word: a few short sentences are enough.
pub(super) fn told(role: Role, host: &HostSample) -> Vec<String> {
    let short = |text: &String| text.chars().take(LONGEST_CHANGE).collect::<String>();
    host.drift.iter().take(MOST_CHANGES).map(|text| format!("{role}: {}", short(text))).collect()
}

/// What is told of changed settings.
const MOST_CHANGES: usize = 8;
const LONGEST_CHANGE: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_settings_of_a_black_box_are_told_by_role_and_not_at_any_length() {
        let drift: Vec<String> = std::iter::once("eth0 MTU changed".to_owned())
            .chain((0..20).map(|_| "x".repeat(9999)))
            .collect();
        let told = told(Role::Passive, &HostSample { drift, ..HostSample::default() });
        assert_eq!((told[0].as_str(), told.len()), ("passive: eth0 MTU changed", MOST_CHANGES));
        assert!(told.iter().all(|text| text.len() <= LONGEST_CHANGE + 9));
    }
}
