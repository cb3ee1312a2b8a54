//! What was measured on: every fact of every host, or why it is not known.

use std::collections::BTreeMap;

use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_core::disclosure::HostFacts;
use btu_core::run::analysis::handshakes;
use btu_core::run::plan::LinkPlan;
use serde_json::Value;

use super::Run;
use super::Section;
use crate::document::Block;
use crate::document::Level;
use crate::document::Pair;

/// All facts, by host and group.
#[derive(Debug)]
pub(super) struct Disclosed;

impl Section for Disclosed {
    fn name(&self) -> &'static str {
        "disclosure"
    }

    fn title(&self) -> &'static str {
        "Disclosure"
    }

    fn level(&self) -> Level {
        Level::Appendix
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        let mut blocks = vec![Block::Facts { rows: comparability(run) }];
        blocks.extend(connections(&handshakes(run.journal)));
        blocks.extend(disclosed_hosts(&run.journal.hosts));
        blocks
    }
}

/// Placement, program, and every fact of every host.
pub(crate) fn disclosed_hosts(hosts: &Disclosure) -> Vec<Block> {
    let mut blocks: Vec<Block> =
        group("Placement of the roles", &hosts.placement).into_iter().collect();
    blocks.extend(group("Program", &hosts.tool));
    for (role, facts) in &hosts.hosts {
        blocks.extend(host(role, facts));
    }
    blocks
}

/// What the connections agreed on, which may be less than both hosts offer: a middlebox takes options from a SYN.
fn connections(negotiated: &[(&'static str, String)]) -> Option<Block> {
    let rows: Vec<Pair> =
        negotiated.iter().map(|(name, value)| Pair::new(*name, value.as_str())).collect();
    (!rows.is_empty())
        .then(|| Block::details("Connections of COMM, as negotiated", vec![Block::Facts { rows }]))
}

/// What must be equal before two results may be compared.
fn comparability(run: &Run<'_>) -> Vec<Pair> {
    let plan = &run.journal.plan;
    // Half of the hash names the edition for people, and fits a line; the plan holds all of it.
    let hash: String = plan.edition_hash.chars().take(32).collect();
    vec![
        Pair::new("Edition", format!("{}, {hash}", plan.edition)),
        Pair::new("Preset", &plan.preset),
        Pair::new("Testbed class", plan.testbed_class.name()),
        Pair::new(
            "Matrix",
            match plan.partial {
                Some(true) => "smaller than the edition's",
                Some(false) => "the edition's",
                None => "not known whether it is the edition's, which this program does not have",
            },
        ),
        Pair::new("Link", link(&plan.link)),
        Pair::new(
            "Congestion control",
            plan.sockets.congestion.as_deref().unwrap_or("the system's own"),
        ),
        Pair::new("Seed", plan.seed.to_string()),
    ]
}

/// `delay 10ms, drop 1@200,3@400/400, rate 10Mbit/s queue 100ms`
fn link(link: &LinkPlan) -> String {
    let rate = link.rate_told().map_or_else(String::new, |rate| match link.usual_rate() {
        Some(usual) => format!(", {usual}"),
        None => format!(", rate ({rate})"),
    });
    let told = |name: &str, usual: Option<&str>, all: String| match usual {
        Some(usual) => format!("{name} {usual}"),
        None => format!("{name} ({all})"),
    };
    let delay = told("delay", link.usual_delay(), link.delay_told());
    format!("{delay}, {}{rate}", told("drop", link.usual_drop(), link.drop_told()))
}

fn host(role: &str, facts: &HostFacts) -> Vec<Block> {
    let groups = facts.iter();
    groups
        .filter_map(|(name, facts)| group(&format!("Host {role}: {}", words(name)), facts))
        .collect()
}

fn group(title: &str, facts: &BTreeMap<String, Fact>) -> Option<Block> {
    let rows = facts.iter().map(|(name, fact)| Pair::new(words(name), of_name(name, fact)));
    let block = Block::Facts { rows: rows.collect() };
    (!facts.is_empty()).then(|| Block::details(title, vec![block]))
}

/// A key as words. A name of the kernel's own, with its points, stays what one can look for.
fn words(name: &str) -> String {
    let known = LABELS.iter().find(|(key, _)| *key == name);
    match known {
        Some((_, label)) => (*label).to_owned(),
        None if name.contains('.') => name.to_owned(),
        None => name.replace('_', " "),
    }
}

/// Keys whose words would say something else.
const LABELS: &[(&str, &str)] = &[
    ("caches", "L3 cache"),
    ("l2_cache", "L2 cache"),
    ("numa_nodes", "NUMA nodes online"),
    ("online", "CPUs online"),
    ("packages", "package ids"),
];

/// The fact of this name, as the kernel means it.
fn of_name(name: &str, fact: &Fact) -> String {
    let told = text(fact);
    match name {
        // The second number is what all CPUs were idle.
        "uptime_s" => told.split(' ').next().unwrap_or_default().to_owned(),
        // The largest multiple of a page: no limit (cgroup-v1/memory).
        "cgroup_memory_max"
            if told.parse().is_ok_and(|bytes: u64| bytes > i64::MAX as u64 >> 1) =>
        {
            "unlimited".to_owned()
        }
        _ => told,
    }
}

fn text(fact: &Fact) -> String {
    match (&fact.value, &fact.reason) {
        // An empty list is an answer, and looks like none.
        (Some(value), _) => Some(plain(value)).filter(|text| !text.is_empty()).unwrap_or_else(none),
        (None, Some(reason)) => format!("not available ({reason})"),
        (None, None) => "not available".to_owned(),
    }
}

fn none() -> String {
    "none".to_owned()
}

/// A JSON value as one would write it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let pairs = fields.iter().map(|(name, value)| format!("{name} = {}", plain(value)));
            pairs.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use btu_core::run::plan::Elements;

    use super::*;

    #[test]
    fn a_fact_that_is_empty_or_unknown_is_told_in_words() {
        let told = |value: Value| text(&Fact::known(value));
        for (value, wanted) in [
            (Value::from(""), "none"),
            (Value::Array(Vec::new()), "none"),
            (Value::from(vec!["root noqueue", ":1 fq"]), "root noqueue, :1 fq"),
            (Value::from(0), "0"),
        ] {
            assert_eq!(told(value), wanted);
        }
        assert_eq!(text(&Fact::unavailable("ENOENT")), "not available (ENOENT)");
    }

    #[test]
    fn the_rate_of_a_link_stands_beside_its_delay() {
        let plain = LinkPlan {
            delay: Elements::both("delay 10ms"),
            drop: Elements::up("drop 1@200,3@400/400"),
            rate: Elements::default(),
        };
        assert_eq!(link(&plain), "delay 10ms, drop 1@200,3@400/400");
        let slow = LinkPlan { rate: Elements::both("rate 10Mbit/s queue 100ms"), ..plain.clone() };
        assert_eq!(link(&slow), "delay 10ms, drop 1@200,3@400/400, rate 10Mbit/s queue 100ms");
        let bursts = LinkPlan { drop: Elements::up("drop ge 1% 30%"), ..plain };
        assert_eq!(link(&bursts), "delay 10ms, drop (up drop ge 1% 30%; down nothing)");
    }
}
