//! `btu verify`, `btu bundle`: who stands for a result, and what happens to one that was changed.

use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::run_of;
use crate::program::said;
use crate::quick::quick_run;

/// A copy of a stored result without its captured packets, to be changed.
pub(crate) fn copied(from: &Path, to: &Path) -> PathBuf {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    to.to_owned()
}

/// What `btu verify --json` says, with the exit code.
pub(crate) fn verified(path: &Path, options: &[&str]) -> (Option<i32>, Value) {
    let ended = btu().args(["verify", "--json"]).args(options).arg(path).output().unwrap();
    let said = said(&ended);
    let document = serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{said}"));
    (ended.status.code(), document)
}

/// Replaces the first `from` of a file.
fn edit(file: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{}: {from}", file.display());
    std::fs::write(file, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_run_is_signed_by_its_host_and_verifies() {
    needs!();
    let quick = quick_run!();
    let (code, found) = verified(&quick.folder, &[]);
    assert_eq!((code, &found["valid"]), (Some(0), &Value::Bool(true)), "{found:#}");
    assert_eq!(found["tier"], "self_signed");
    let signers = found["signers"].as_array().unwrap();
    assert_eq!(signers.len(), 4, "{found:#}");
    let id = signers[0]["id"].as_str().unwrap();
    assert!(signers.iter().all(|signer| signer["id"] == id && signer["holds"] == true));
    assert_eq!(verified(&quick.folder, &["--signed-by", id]).0, Some(0));
    let other = format!("{}{}", if id.starts_with('A') { "B" } else { "A" }, &id[1..]);
    assert_eq!(verified(&quick.folder, &["--signed-by", &other]).0, Some(1));
    let wrong = btu().args(["verify", "--signed-by", "me", "x"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_result_changed_by_hand_is_caught_and_the_place_is_named() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let edits = [
        ("result.json", "\"btu_mbps\": ", "\"btu_mbps\": 1", "result.json: btu_mbps"),
        ("result.json", "\"goodput_mbps\": ", "\"goodput_mbps\": 1", "result.json: cell"),
        ("samples.jsonl", "\"calls\":", "\"calls\":1", "samples.jsonl:"),
        ("events.jsonl", "finished", "aborted", "events.jsonl:"),
        ("plan.toml", "seed = ", "seed = 1", "plan.toml"),
        ("hosts.json", "\"value\": ", "\"value\":  ", "hosts.json"),
        ("report.html", "Mb/s", "Gb/s", "report.html"),
        ("manifest.json", "\"bytes\": ", "\"bytes\": 1", "signatures.json: manifest of test"),
        ("signatures.json", "\"passive\"", "\"test\"", "signatures.json: measurements of test"),
    ];
    for (number, (file, from, to, place)) in edits.into_iter().enumerate() {
        let copy = copied(&quick.folder, &folder.path().join(number.to_string()));
        edit(&copy.join(file), from, to);
        let (code, found) = verified(&copy, &[]);
        let places = found["violations"].as_array().unwrap();
        let named = places.iter().any(|one| one["place"].as_str().unwrap().starts_with(place));
        assert!(code == Some(1) && named, "{file}: {found:#}");
    }
}

#[test]
fn without_its_signatures_a_result_is_valid_only_where_that_is_accepted() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let copy = copied(&quick.folder, &folder.path().join("copy"));
    for file in ["manifest.json", "signatures.json"] {
        std::fs::remove_file(copy.join(file)).unwrap();
    }
    let (code, found) = verified(&copy, &[]);
    assert_eq!((code, &found["tier"]), (Some(1), &Value::from("unsigned")));
    assert_eq!(verified(&copy, &["--allow-unsigned"]).0, Some(0));
}

#[test]
fn a_bundle_is_one_file_that_every_reader_takes() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let bundle = folder.path().join("host.btu");
    run(btu().arg("bundle").arg(&quick.folder).arg("-o").arg(&bundle)).unwrap();
    assert_eq!(verified(&bundle, &[]).0, Some(0));
    let of =
        |path: &Path, form: &str| run(btu().args(["report", "--format", form]).arg(path)).unwrap();
    // Captured packets stay outside, and what is for people tells what they show.
    for format in ["csv", "json"] {
        assert_eq!(of(&bundle, format), of(&quick.folder, format), "{format}");
    }
    assert!(of(&bundle, "text").contains("BTU") && of(&bundle, "html").contains("</html>"));
    let again = btu().arg("bundle").arg(&quick.folder).arg("-o").arg(&bundle).output().unwrap();
    assert_eq!(again.status.code(), Some(2), "an older bundle is never written over");
}

#[test]
fn a_hostile_bundle_is_one_message_and_exit_2() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("evil.btu");
    let contents: [&[u8]; 4] = [
        b"",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
        b"PK\x03\x04",
        &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
    ];
    for content in contents {
        std::fs::write(&file, content).unwrap();
        for verb in ["verify", "report"] {
            let ended = btu().arg(verb).arg(&file).output().unwrap();
            let said = said(&ended);
            assert_eq!(ended.status.code(), Some(2), "{verb}: {said}");
            assert!(said.starts_with("btu: ") && said.contains("evil.btu"), "{verb}: {said}");
        }
    }
}

#[test]
fn a_host_without_a_key_measures_and_says_that_nobody_signed() {
    needs!();
    let folder = TempDir::new().unwrap();
    let plan = crate::program::tiny_plan(folder.path());
    let out = folder.path().join("result");
    let ended =
        run_of(&plan, &out).env("BTU_STATE_DIR", "/proc/no-place-for-keys").output().unwrap();
    let said = said(&ended);
    assert!(ended.status.success() && said.contains("the result is not signed"), "{said}");
    assert_eq!(verified(&out, &[]).1["tier"], "unsigned");
    assert_eq!(verified(&out, &["--allow-unsigned"]).0, Some(0));
    // What nobody signed is none of anybody's: once there is a key it is signed.
    assert!(btu().args(["run", "--resume"]).arg(&out).output().unwrap().status.success());
    assert_eq!(verified(&out, &[]).0, Some(0));
}
