//! `btu redact`: a result without names that can still be verified.

use std::io::Write;

use btu_report::TRAFFIC_SCHEMA_VERSION;
use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::lines;
use crate::program::read_json;
use crate::program::run_of;
use crate::program::said;
use crate::program::tiny_plan;
use crate::program::tiny_run;
use crate::trust::verified;

#[test]
fn names_are_gone_figures_stay_and_the_rest_verifies() {
    needs!();
    let folder = TempDir::new().unwrap();
    let plan = tiny_plan(folder.path());
    let (own, out) = (folder.path().join("own"), folder.path().join("public"));
    let disclosed = ["--note", "the one in room 7", "--price", "2900USD"];
    run(run_of(&plan, &own).args(disclosed)).unwrap();
    let host = read_json(&own.join("hosts.json"))["hosts"]["test"]["system"]["host_name"].clone();
    let told = run(btu().arg("redact").arg(&own).arg("-o").arg(&out)).unwrap();
    assert!(told.contains("1 host name") && told.contains("the note left out"), "{told}");
    let hosts = read_json(&out.join("hosts.json"));
    let alias = hosts["hosts"]["test"]["system"]["host_name"]["value"].as_str().unwrap();
    assert!(alias.starts_with("host-") && host["value"] != alias, "{host} {alias}");
    assert_eq!((&hosts["note"], &hosts["price"]), (&Value::Null, &Value::from("2900USD")));
    assert!(!out.join("plan.given.toml").exists());
    let figures =
        |folder: &std::path::Path| read_json(&folder.join("result.json"))["cells"].clone();
    assert_eq!(figures(&own), figures(&out));
    let (code, found) = verified(&out, &[]);
    assert_eq!(code, Some(0), "{found:#}");
    let roles: Vec<&Value> =
        found["signers"].as_array().unwrap().iter().map(|s| &s["role"]).collect();
    assert_eq!(roles, ["redactor", "test", "active", "passive"]);
    let mut notes = found["notes"].as_array().unwrap().iter().filter_map(Value::as_str);
    assert!(notes.any(|note| note.starts_with("redacted from manifest ")), "{found:#}");
}

#[test]
fn a_second_redaction_changes_nothing_and_an_altered_result_is_refused() {
    needs!();
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let plan = tiny_plan(folder.path());
    run(&mut run_of(&plan, path("own"))).unwrap();
    run(btu().arg("redact").arg(path("own")).arg("-o").arg(path("once.btu"))).unwrap();
    let told =
        run(btu().arg("redact").arg(path("once.btu")).arg("-o").arg(path("twice.btu"))).unwrap();
    assert!(told.contains("nothing to redact"), "{told}");
    let bytes = |name: &str| std::fs::read(path(name)).unwrap();
    assert_eq!(bytes("once.btu"), bytes("twice.btu"));
    let hosts = path("own").join("hosts.json");
    let changed = std::fs::read_to_string(&hosts).unwrap().replacen(
        "\"price\": null",
        "\"price\": \"1USD\"",
        1,
    );
    std::fs::write(&hosts, changed).unwrap();
    let refused =
        btu().arg("redact").arg(path("own")).arg("-o").arg(path("laundered")).output().unwrap();
    let said = said(&refused);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("hosts.json") && !path("laundered").exists(), "{said}");
}

/// Whoever takes the signature of the whole away and redacts what is left stands for it himself.
#[test]
fn what_nobody_signed_is_told_by_whoever_redacts_it_and_its_word_is_named_as_that() {
    needs!();
    let folder = TempDir::new().unwrap();
    let own = tiny_run(folder.path());
    let path = |name: &str| folder.path().join(name);
    let signatures = |of: &std::path::Path, role: &str| {
        let file = of.join("signatures.json");
        let mut all: Vec<Value> = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        all.retain(|one| one["role"] != role || one["covers"] == "measurements");
        std::fs::write(file, serde_json::to_string(&all).unwrap()).unwrap();
    };
    std::fs::remove_file(own.join("manifest.json")).unwrap();
    signatures(&own, "test");
    let stranger = || {
        let mut command = btu();
        command.env("BTU_STATE_DIR", path("state")).arg("redact");
        command
    };
    let told = run(stranger().arg(&own).arg("-o").arg(path("once"))).unwrap();
    assert!(told.contains("nobody had signed the whole of it"), "{told}");
    signatures(&path("once"), "redactor");
    std::fs::remove_file(path("once").join("manifest.json")).unwrap();
    // Something to be left out makes a second redaction of it.
    let mut samples =
        std::fs::File::options().append(true).open(path("once").join("samples.jsonl")).unwrap();
    samples.write_all(b"{\"kind\":\"cell\"").unwrap();
    run(stranger().arg(path("once")).arg("-o").arg(path("twice"))).unwrap();
    let (_, found) = verified(&path("twice"), &[]);
    let notes = found["notes"].to_string();
    assert!(notes.contains("signed everything as redactor, "), "{notes}");
    assert_ne!(found["tier"], "all_roles_signed");
}

/// A crash left a part of a line, in which nobody finds the names: it stays behind, and the rest is as it was.
#[test]
fn a_torn_line_is_left_out() {
    needs!();
    let folder = TempDir::new().unwrap();
    let (own, out) = (tiny_run(folder.path()), folder.path().join("public"));
    for name in ["manifest.json", "signatures.json"] {
        std::fs::remove_file(own.join(name)).unwrap();
    }
    let samples = own.join("samples.jsonl");
    let whole = lines(&samples);
    let mut file = std::fs::File::options().append(true).open(&samples).unwrap();
    file.write_all(b"{\"kind\":\"cell\",\"of\":\"nobody-knows").unwrap();
    let told = run(btu().arg("redact").arg(&own).arg("-o").arg(&out)).unwrap();
    assert!(told.contains("torn line of samples.jsonl left out"), "{told}");
    assert_eq!(lines(&out.join("samples.jsonl")), whole);
    let (code, found) = verified(&out, &[]);
    assert_eq!(code, Some(0), "{found:#}");
}

/// As an earlier program wrote it: keys that meant something else, and nobody is accused of that.
#[test]
fn traffic_of_an_earlier_major_version_is_judged_by_its_journal_and_written_anew() {
    needs!();
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let sweep = ["traffic", "sweep", "period", "--values", "20ms,40ms", "--time", "100ms"];
    let effort = ["--passes", "1", "--rate", "10Mbit/s", "--quiet", "--out"];
    run(btu().args(sweep).args(effort).arg(path("own"))).unwrap();
    let mut old = read_json(&path("own/result.json"));
    assert_eq!(old["schema_version"], TRAFFIC_SCHEMA_VERSION);
    for cell in old["cells"].as_array_mut().unwrap() {
        cell["fairness"] = 0.5.into();
    }
    let write = |document: &Value| {
        std::fs::write(path("own/result.json"), document.to_string()).unwrap();
    };
    for name in ["manifest.json", "signatures.json"] {
        std::fs::remove_file(path("own").join(name)).unwrap();
    }
    write(&old);
    let (code, found) = verified(&path("own"), &["--allow-unsigned"]);
    assert_eq!((code, found["violations"][0]["rule"].as_str()), (Some(1), Some("figures")));
    old["schema_version"] = "1.6.0".into();
    write(&old);
    let (code, found) = verified(&path("own"), &["--allow-unsigned"]);
    assert_eq!((code, found["figures"].as_u64()), (Some(0), Some(0)), "{found:#}");
    let notes = found["notes"].to_string();
    assert!(notes.contains("none of its figures was compared"), "{notes}");
    run(btu().arg("redact").arg(path("own")).arg("-o").arg(path("public"))).unwrap();
    assert_eq!(read_json(&path("public/result.json"))["schema_version"], TRAFFIC_SCHEMA_VERSION);
    let (code, found) = verified(&path("public"), &[]);
    assert!(code == Some(0) && found["figures"].as_u64() > Some(0), "{found:#}");
}
