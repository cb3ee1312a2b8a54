//! What results of one history have in common: a night under other rules, or of another host, is no part of it.

use btu_core::comparison::ruled;
use btu_core::comparison::series::ByRound;
use btu_core::ranking::Setting;
use btu_core::ranking::measured_cells;
use btu_report::Content;

use crate::stored::NamedResult;

/// Names and values, the first of which people are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HistorySetting {
    fields: Vec<(&'static str, String)>,
}

impl HistorySetting {
    pub(super) fn of(result: &NamedResult, by_round: &ByRound) -> Self {
        let stored = &result.stored;
        let verb = format!("btu {}", result.files.kind().verb);
        let mut fields = vec![("verb", verb), ("host", host(result))];
        match stored.content() {
            Content::Run { journal, .. } => {
                let rules = Setting::of(journal);
                fields.extend(rules.fields().map(|(name, value)| (name, value.to_owned())));
                fields.push(("cells measured", measured_cells(journal)));
            }
            _ => fields.push(("plan", ruled(result.plan(), by_round.rules))),
        }
        Self { fields }
    }

    /// Where it is another one than this: the first field, with both values.
    pub(super) fn unlike(&self, other: &Self) -> Option<String> {
        let mut pairs = self.fields.iter().zip(&other.fields);
        let ((name, own), (_, others)) = pairs.find(|(own, other)| own != other)?;
        Some(format!("another history: {name}: {own}, not {others}"))
    }

    /// `btu run, host a, edition 1, preset quick, testbed class local`
    pub(super) fn told(&self) -> String {
        let is_told = |(name, value): &&(&str, String)| TOLD.contains(name) && !value.is_empty();
        let word = |(name, value): &(&str, String)| match *name {
            "plan" | "verb" => value.clone(),
            name => format!("{name} {value}"),
        };
        self.fields.iter().filter(is_told).map(word).collect::<Vec<_>>().join(", ")
    }
}

/// The name of the host and what does not change as long as it is the same one.
fn host(result: &NamedResult) -> String {
    let facts = result.stored.hosts().hosts.get("test");
    let fact = |(group, name): (&str, &str)| facts?.get(group)?.get(name)?.value.as_ref();
    let known = [("system", "host_name"), ("cpu", "model"), ("cpu", "online")];
    let values: Vec<String> = known
        .into_iter()
        .filter_map(fact)
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        .collect();
    if values.is_empty() { "not disclosed".to_owned() } else { values.join(", ") }
}

const TOLD: [&str; 6] = ["verb", "host", "edition", "preset", "testbed class", "plan"];
