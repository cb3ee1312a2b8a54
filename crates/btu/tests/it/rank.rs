//! `btu rank`: several results in one table, and those that do not belong there.

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::said;
use crate::program::tiny_run;
use crate::quick::quick_run;
use crate::trust::copied;

#[test]
fn what_may_not_be_ranked_is_listed_apart_or_marked() {
    needs!();
    let quick = quick_run!();
    let apart = btu().arg("rank").arg(&quick.folder).output().unwrap();
    let said = String::from_utf8_lossy(&apart.stdout).into_owned();
    assert_eq!(apart.status.code(), Some(5), "{said}");
    assert!(said.contains("Not ranked:") && said.contains("preset quick"), "{said}");
    let mut command = btu();
    command.args(["rank", "--unranked"]).arg(format!("mine={}", quick.folder.display()));
    let text = run(&mut command).unwrap();
    assert!(text.starts_with("NOT A RANKING"), "{text}");
    assert!(text.lines().any(|line| line.contains(" mine !")), "{text}");
}

#[test]
fn copies_of_one_measurement_count_once() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let copy = copied(&quick.folder, &folder.path().join("copy"));
    let bundle = folder.path().join("packed.btu");
    run(btu().arg("bundle").arg(&quick.folder).arg("--output").arg(&bundle)).unwrap();
    let mut command = btu();
    command.args(["rank", "--unranked", "--json"]).arg(format!("mine={}", quick.folder.display()));
    let ended = command.args([&copy, &bundle]).output().unwrap();
    let told = said(&ended);
    for name in ["copy", "packed"] {
        let counted = format!("{name} is the same measurement as mine: it counts once");
        assert!(told.contains(&counted), "{told}");
    }
    let found: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(found["hosts"].as_array().unwrap().len(), 1, "{found:#}");
}

/// Whoever finds copies of a result, one of them altered and one unsigned, need not know in which order.
#[test]
fn of_copies_the_valid_and_best_signed_one_counts() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let copy = |name: &str| copied(&quick.folder, &folder.path().join(name));
    let (altered, unsigned) = (copy("altered"), copy("unsigned"));
    let hosts = altered.join("hosts.json");
    let text = std::fs::read_to_string(&hosts).unwrap();
    std::fs::write(&hosts, text.replacen("\"price\": null", "\"price\": \"1USD\"", 1)).unwrap();
    for name in ["manifest.json", "signatures.json"] {
        std::fs::remove_file(unsigned.join(name)).unwrap();
    }
    let mine = format!("mine={}", quick.folder.display());
    let mut command = btu();
    command.args(["rank", "--unranked", "--json"]).args([&altered, &unsigned]).arg(mine);
    let ended = command.output().unwrap();
    let told = said(&ended);
    for line in
        ["altered is the same measurement as unsigned", "unsigned is the same measurement as mine"]
    {
        assert!(told.contains(line), "{told}");
    }
    let found: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(found["hosts"].as_array().unwrap().len(), 1, "{found:#}");
    let host = &found["hosts"][0];
    assert_eq!(
        (&host["name"], &host["trust"]),
        (&"mine".into(), &"self-signed".into()),
        "{found:#}"
    );
}

#[test]
fn every_format_of_a_ranking_names_every_host() {
    needs!();
    let folder = TempDir::new().unwrap();
    let mut command = btu();
    command.args(["rank", "--unranked"]).current_dir(folder.path());
    for name in ["anna", "berta"] {
        let machine = folder.path().join(name);
        std::fs::create_dir(&machine).unwrap();
        command.arg(format!("{name}={}", tiny_run(&machine).display()));
    }
    for ending in ["txt", "md", "html", "csv", "json"] {
        command.args(["--export", &format!("ranking.{ending}")]);
    }
    assert_eq!(run(&mut command).unwrap(), "");
    for ending in ["txt", "md", "html", "csv", "json"] {
        let file = folder.path().join(format!("ranking.{ending}"));
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("anna") && text.contains("berta"), "{ending}");
    }
}

#[test]
fn an_altered_result_loses_its_rank_and_says_why() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let copy = copied(&quick.folder, &folder.path().join("copy"));
    let hosts = copy.join("hosts.json");
    let text = std::fs::read_to_string(&hosts).unwrap();
    std::fs::write(&hosts, text.replacen("\"price\": null", "\"price\": \"1USD\"", 1)).unwrap();
    let ended = btu().args(["rank", "--json"]).arg(&copy).output().unwrap();
    let found: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let reasons = found["not_ranked"][0]["not_rankable_reasons"].as_array().unwrap();
    let altered = "altered: hosts.json: changed after it was signed";
    assert!(reasons.iter().any(|reason| reason == altered), "{found:#}");
}

#[test]
fn results_of_different_plans_are_refused_with_what_differs() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let out = tiny_run(folder.path());
    let ended = btu().args(["rank", "--json"]).arg(&quick.folder).arg(&out).output().unwrap();
    let said = said(&ended);
    assert_eq!(ended.status.code(), Some(5), "{said}");
    assert!(said.contains("preset: quick (") && said.contains("custom (tiny)"), "{said}");
    let found: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(found["comparable"], false);
    assert!(found["differences"].as_array().unwrap().iter().any(|one| one["field"] == "preset"));
    let missing = btu().arg("rank").arg(folder.path().join("nothing")).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
}
