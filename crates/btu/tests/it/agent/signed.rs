//! Who signed a result of three hosts, and what happens to values that were changed.

use std::path::Path;

use serde_json::Value;

use super::hosts::Black;
use crate::program::lines;
use crate::trust::copied;
use crate::trust::verified;

/// The hosts that signed what they measured: role, identity, and whether it holds.
pub(super) fn signers(result: &Path) -> Vec<(String, Value, bool)> {
    let all = verified(result, &[]).1["signers"].clone();
    let own = all.as_array().unwrap().iter().filter(|one| one["covers"] == "measurements");
    let role = |one: &Value| one["role"].as_str().unwrap().to_owned();
    own.map(|one| (role(one), one["id"].clone(), one["holds"] == true)).collect()
}

/// Each of the three stands for what it measured.
pub(super) fn by_all_three(result: &Path, [active, passive]: [&Black<'_>; 2]) {
    let (_, found) = verified(result, &[]);
    assert_eq!(found["tier"], "all_roles_signed", "{found:#}");
    let [test, rest @ ..] = &signers(result)[..] else { panic!("{found:#}") };
    assert_eq!((test.0.as_str(), test.2), ("test", true));
    let agents = [("active", active), ("passive", passive)];
    assert_eq!(rest, agents.map(|(role, agent)| (role.to_owned(), agent.id(), true)));
}

/// A value of one host, changed by hand: its own signature does not hold any more, those of the others
/// do.
pub(super) fn catches_a_change(result: &Path, copy: &Path, role: &str) {
    let copy = copied(result, copy);
    let file = copy.join("samples.jsonl");
    let mut journal = lines(&file);
    let end = journal.iter_mut().find_map(|line| end_of(line, role)).unwrap();
    end["calls"] = (end["calls"].as_u64().unwrap() + 1).into();
    let text: Vec<String> = journal.iter().map(Value::to_string).collect();
    std::fs::write(file, text.join("\n") + "\n").unwrap();
    let (code, found) = verified(&copy, &[]);
    assert_eq!(code, Some(1), "{found:#}");
    for (signer, _, holds) in signers(&copy) {
        assert_eq!(holds, signer != role, "{signer}: {found:#}");
    }
    let place = format!("signatures.json: measurements of {role}");
    let places = found["violations"].as_array().unwrap();
    assert!(places.iter().any(|one| one["place"] == place.as_str()), "{found:#}");
}

/// The end of a role in a run, where that has one.
fn end_of<'v>(line: &'v mut Value, role: &str) -> Option<&'v mut Value> {
    if line["kind"] != "cell" {
        return None;
    }
    let connections = line["comm"]["connections"].as_array_mut()?;
    let ends = connections.iter_mut().filter_map(Value::as_object_mut);
    let mut ends = ends.flat_map(|one| one.iter_mut().map(|(_, value)| value));
    ends.find(|value| value["role"] == role)
}
