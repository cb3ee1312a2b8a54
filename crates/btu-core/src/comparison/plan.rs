//! What two results of one verb were asked for otherwise.

use std::collections::BTreeMap;

use serde_json::Map;
use serde_json::Value;

use super::FactChange;

/// Every key that is not the same in two plans; the seed never is, and makes no figure another one.
pub fn changed_plan(before: &str, after: &str) -> Vec<FactChange> {
    let (first, second) = (flat(before), flat(after));
    let mut names: Vec<&String> = first.keys().chain(second.keys()).collect();
    names.sort();
    names.dedup();
    let text = |plan: &BTreeMap<String, String>, name: &String| {
        plan.get(name).cloned().unwrap_or_else(|| "not there".to_owned())
    };
    let change = |name: &String| FactChange {
        name: name.clone(),
        before: text(&first, name),
        after: text(&second, name),
    };
    names.into_iter().map(change).filter(|one| one.before != one.after).collect()
}

/// The values of a plan that these rules name, as one text.
pub fn ruled(plan: &str, rules: &[&str]) -> String {
    let all = flat(plan);
    let own = all.iter().filter(|(name, _)| is_ruled(name, rules));
    own.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

/// True for a key that one of these rules names, or a table that it is in.
pub fn is_ruled(key: &str, rules: &[&str]) -> bool {
    let within = |rule: &&str| key.strip_prefix(*rule).is_some_and(|rest| rest.starts_with('.'));
    rules.iter().any(|rule| key == *rule || within(rule))
}

/// Every value by its full name; none of a text that is no plan.
fn flat(plan: &str) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    // A table of TOML has no number beyond 63 bits, and a seed may be one.
    let table: Map<String, Value> = toml::from_str(plan).unwrap_or_default();
    for (name, value) in table.iter().filter(|(name, _)| !UNTOLD.contains(&name.as_str())) {
        add(name.clone(), value, &mut flat);
    }
    flat
}

fn add(name: String, value: &Value, flat: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                add(format!("{name}.{key}"), value, flat);
            }
        }
        Value::Array(values) if values.iter().any(Value::is_object) => {
            for (at, value) in (1..).zip(values) {
                add(format!("{name}.{at}"), value, flat);
            }
        }
        Value::String(text) => drop(flat.insert(name, text.clone())),
        other => drop(flat.insert(name, other.to_string())),
    }
}

/// Keys that are no difference.
const UNTOLD: &[&str] = &["seed", "verb"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_not_the_same_are_told_by_their_full_names() {
        let before = "verb = \"app\"\nseed = 1\nlaunches = 3\n[[programs]]\nranks = 2\n";
        let after = "verb = \"app\"\nseed = 2\nlaunches = 5\n[[programs]]\nranks = 2\n[[programs]]\nranks = 4\n";
        let told = changed_plan(before, after);
        let told: Vec<_> = told.iter().map(|one| (&*one.name, &*one.before, &*one.after)).collect();
        assert_eq!(told, [("launches", "3", "5"), ("programs.2.ranks", "not there", "4")]);
        assert!(changed_plan(before, before).is_empty());
        let large = before.replace("seed = 1", "seed = 18446744073709551615");
        assert_eq!(changed_plan(&large, after).len(), 2);
    }

    #[test]
    fn a_rule_names_a_key_or_a_table() {
        let plan = "study = \"sweep\"\n[link]\nup = [\"delay 5ms\"]\n";
        assert_eq!(ruled(plan, &["link", "study"]), "link.up [\"delay 5ms\"], study sweep");
        assert!(is_ruled("link.up", &["link"]) && !is_ruled("links", &["link"]));
    }
}
