//! What changed in the disclosure between two results.

use std::collections::BTreeMap;

use crate::disclosure::Disclosure;
use crate::disclosure::Fact;

/// A fact that is not the same in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactChange {
    /// `test.network_stack.net.core.rmem_max`, `tool.hash`, `placement.cpus_test`.
    pub name: String,
    /// Its value before, or why there was none.
    pub before: String,
    /// The same after.
    pub after: String,
}

/// Every setting that is not the same in both; readings that always move are left out.
pub fn changed_facts(before: &Disclosure, after: &Disclosure) -> Vec<FactChange> {
    let (first, second) = (flat(before), flat(after));
    let mut names: Vec<&String> = first.keys().chain(second.keys()).collect();
    names.sort();
    names.dedup();
    let text = |facts: &BTreeMap<String, String>, name: &String| {
        facts.get(name).cloned().unwrap_or_else(|| "not disclosed".to_owned())
    };
    let change = |name: &String| FactChange {
        name: name.clone(),
        before: text(&first, name),
        after: text(&second, name),
    };
    names.into_iter().map(change).filter(|one| one.before != one.after).collect()
}

/// All facts by their full name.
fn flat(disclosure: &Disclosure) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    for (role, groups) in &disclosure.hosts {
        for (group, facts) in groups.iter().filter(|(group, _)| *group != "pressure") {
            for (name, fact) in facts.iter().filter(|(name, _)| !is_reading(name)) {
                flat.insert(format!("{role}.{group}.{name}"), text(fact));
            }
        }
    }
    let own = |group: &str, facts: &BTreeMap<String, Fact>| -> Vec<(String, String)> {
        let settings = facts.iter().filter(|(name, _)| !is_reading(name));
        settings.map(|(name, fact)| (format!("{group}.{name}"), text(fact))).collect()
    };
    flat.extend(own("tool", &disclosure.tool));
    flat.extend(own("placement", &disclosure.placement));
    flat
}

/// Values that differ from one minute to the next.
fn is_reading(name: &str) -> bool {
    ["available", "clock_read_ns", "clock_step_ns", "frequency_mhz_now", "io_free_bytes"]
        .contains(&name)
}

fn text(fact: &Fact) -> String {
    match (&fact.value, &fact.reason) {
        (Some(serde_json::Value::String(text)), _) => text.clone(),
        (Some(value), _) => value.to_string(),
        (None, Some(reason)) => format!("not available ({reason})"),
        (None, None) => "not available".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disclosure(facts: &[(&str, &str, &str)]) -> Disclosure {
        let mut disclosure = Disclosure::default();
        let host = disclosure.hosts.entry("test".to_owned()).or_default();
        for (group, name, value) in facts {
            let facts = host.entry((*group).to_owned()).or_default();
            facts.insert((*name).to_owned(), Fact::known(*value));
        }
        disclosure
    }

    #[test]
    fn settings_that_changed_are_named_and_readings_are_not() {
        let before = disclosure(&[
            ("cpu", "governor", "powersave"),
            ("pressure", "load_average", "1"),
            ("memory", "available", "7 kB"),
            ("memory", "total", "9 kB"),
        ]);
        let after = disclosure(&[
            ("cpu", "governor", "performance"),
            ("pressure", "load_average", "2"),
            ("memory", "available", "8 kB"),
        ]);
        let found = changed_facts(&before, &after);
        let told: Vec<String> = found
            .iter()
            .map(|one| format!("{}: {} -> {}", one.name, one.before, one.after))
            .collect();
        assert_eq!(
            told,
            [
                "test.cpu.governor: powersave -> performance",
                "test.memory.total: 9 kB -> not disclosed"
            ]
        );
        assert!(changed_facts(&before, &before).is_empty());
    }
}
