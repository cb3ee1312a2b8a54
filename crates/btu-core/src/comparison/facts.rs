//! What changed in the disclosure between two results.

use std::collections::BTreeMap;

use crate::disclosure::Disclosure;
use crate::disclosure::Fact;
use crate::journal::Journal;
use crate::run::analysis::handshakes;

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

/// What the connections of one result agreed on and those of the other did not: a middlebox that takes SACK or window
/// scaling from a SYN is seen here alone. Nothing is said where one of them did not keep it.
pub fn changed_handshakes(before: &Journal, after: &Journal) -> Vec<FactChange> {
    let second: BTreeMap<&str, String> = handshakes(after).into_iter().collect();
    let change = |(name, before): (&'static str, String)| {
        let after = second.get(name)?.clone();
        Some(FactChange { name: format!("connections.{name}"), before, after })
    };
    let both = handshakes(before).into_iter().filter_map(change);
    both.filter(|one| one.before != one.after).collect()
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
    use crate::journal::Record;
    use crate::run::analysis::synthetic;
    use crate::sample::Negotiated;

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

    #[test]
    fn what_a_middlebox_takes_from_a_syn_is_named() {
        let measured = |negotiated: Option<Negotiated>| {
            let plan = synthetic::plan(1);
            let mut journal = synthetic::journal(plan.clone());
            let mut run = synthetic::run(&plan, &plan.cells()[0].id(), 1, 1000, 50.0);
            for connection in run.comm.iter_mut().flat_map(|comm| &mut comm.connections) {
                connection.sender.options.negotiated = negotiated;
                connection.receiver.options.negotiated = negotiated;
            }
            journal.records.push(Record::from(run));
            journal
        };
        let whole = Negotiated { sack: true, timestamps: true, ..Negotiated::default() };
        let stripped = Negotiated { sack: false, ..whole };
        let (before, after) = (measured(Some(whole)), measured(Some(stripped)));
        let [sack] = &changed_handshakes(&before, &after)[..] else { panic!() };
        assert_eq!((&*sack.name, &*sack.before, &*sack.after), ("connections.SACK", "yes", "no"));
        assert!(changed_handshakes(&before, &before).is_empty());
        assert!(changed_handshakes(&measured(None), &after).is_empty(), "it did not keep it");
    }
}
