//! A run over the link elements of a plan of one's own.

use std::path::Path;

use btu_core::link::Pattern;
use serde_json::Value;

use crate::commands::needs;
use crate::program::Cells;
use crate::program::btu;
use crate::program::of_kind;
use crate::program::plan_file;
use crate::program::read_json;
use crate::program::report;
use crate::program::run_of;
use crate::program::said;
use crate::quick;

/// The example of the documentation, as it stands there.
fn example() -> String {
    let page = include_str!("../../../../docs/link-elements.md");
    let (_, from) = page.split_once("```toml\n").unwrap();
    from.split_once("```").unwrap().0.to_owned()
}

fn plan(link: &str) -> String {
    let more = format!("{}{link}", Cells::WITHOUT_CAPTURES);
    let cases = &["SEND+DL", "2SEND+DR"];
    Cells { cases, window: "100ms", more: &more, ..Cells::SHORT }.to_string()
}

/// What the emulator did in one direction of the link to the active host, in the cells of a case.
fn directions(out: &Path, case: &str, direction: &str) -> Vec<Value> {
    let cells = of_kind(out, "cell").into_iter().filter(|cell| cell["case"] == case);
    let emulated = cells.flat_map(|cell| cell["emulation"].as_array().unwrap().clone());
    let is_it = |one: &Value| one["link"] == "test-active" && one["direction"] == direction;
    emulated.filter(is_it).collect()
}

fn count(sample: &Value, key: &str) -> u64 {
    sample[key].as_u64().unwrap_or_else(|| panic!("{key}: {sample}"))
}

/// Of the direction that had most.
fn packets(directions: &[Value]) -> u64 {
    directions.iter().map(|one| count(one, "packets")).max().unwrap_or(0)
}

#[test]
fn a_plan_has_any_elements_in_either_direction_and_the_run_does_what_they_say() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("result");
    let ended = run_of(&plan_file(folder.path(), plan(&example())), &out).output().unwrap();
    if quick::is_late(&ended) {
        skip!("machine too busy: {}", said(&ended));
    }
    assert!(matches!(ended.status.code(), Some(0 | 6)), "{}", said(&ended));

    let lost = directions(&out, "2SEND+DR", "up");
    assert!(!lost.is_empty() && lost.iter().all(|one| one["chain"][0] == "drop ge 1% 30% 100% 0%"));
    assert!(lost.iter().any(|one| count(one, "dropped") > 0), "{lost:#?}");
    let every_20th: Pattern = "1@20/20".parse().unwrap();
    let acknowledgements = directions(&out, "2SEND+DR", "down");
    for one in &acknowledgements {
        assert_eq!(count(one, "dropped"), every_20th.count(count(one, "packets")), "{one}");
    }
    if packets(&acknowledgements) < 20 {
        skip!("machine too busy: no direction had twenty acknowledgements");
    }

    let by_counter: Pattern = "3@100/100".parse().unwrap();
    let held = directions(&out, "SEND+DL", "up");
    for one in &held {
        assert_eq!(count(one, "held_back"), by_counter.count(count(one, "packets")), "{one}");
    }
    if packets(&held) < 100 {
        skip!("machine too busy: no direction had a hundred packets");
    }

    let result = read_json(&out.join("result.json"));
    assert_eq!((&result["preset"], &result["rankable"]), (&"custom".into(), &false.into()));
    let not_foretold = [
        "DL up: hold 3@100/100 10ms",
        "DL down: delay 2ms, jitter uniform(0ns,1ms)",
        "DR up: drop ge 1% 30% 100% 0%",
    ];
    let checks = of_kind(&out, "verification");
    let told = checks.iter().find(|check| check["link"] == "test-active").unwrap();
    assert_eq!(told["not_foretold"], Value::from(not_foretold.to_vec()));
    let page = String::from_utf8(report(&out, &["--format", "md"]).stdout).unwrap();
    let page = page.replace("&#64;", "@");
    for told in not_foretold {
        assert!(page.contains(told), "{told} is not in the report");
    }
}

#[test]
fn a_dry_run_tells_the_elements_in_canonical_text_and_what_is_wrong_with_one() {
    let folder = tempfile::tempdir().unwrap();
    let dry_run = |link: &str| {
        let file = plan_file(folder.path(), plan(link));
        btu().args(["run", "--dry-run", "--plan"]).arg(file).output().unwrap()
    };
    let told = String::from_utf8(dry_run(&example()).stdout).unwrap();
    let canonical = "drop = { up = [\"drop ge 1% 30% 100% 0%\"], down = [\"drop 1@20/20\"] }";
    assert!(told.contains(canonical) && told.contains("preset = \"custom\""), "{told}");
    let wrong = dry_run("[link.drop]\nup = [\"drop ge 1%\"]\n");
    let message = said(&wrong);
    assert_eq!(wrong.status.code(), Some(2), "{message}");
    assert!(message.contains("plan-of-mine.toml:15:7: link.drop.up = \"drop ge 1%\""), "{message}");
    assert!(message.contains("write drop k@n"), "{message}");
}
