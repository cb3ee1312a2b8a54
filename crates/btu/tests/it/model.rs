//! `btu model`: every model can be listed, shown and sampled; wrong names say the legal ones.

use serde_json::Value;

use crate::commands::run;
use crate::program::btu;
use crate::program::said;

fn document(args: &[&str]) -> Value {
    let out = run(btu().arg("model").args(args).arg("--json")).unwrap();
    serde_json::from_str(&out).unwrap()
}

#[test]
fn a_verified_model_says_by_what_and_another_one_what_is_missing() {
    let models = document(&["list"])["models"].as_array().unwrap().clone();
    assert_eq!(models.len(), 26);
    for model in models {
        assert_eq!(model["verified"] == true, model["note"].is_null(), "{model}");
        assert_eq!(model["verified"] == true, model["verified_with"].is_string(), "{model}");
    }
    let shown = run(btu().args(["model", "show", "www-3gpp"])).unwrap();
    assert!(
        shown.contains("verified    laws of sizes and times and both MTUs with ns-3"),
        "{shown}"
    );
}

#[test]
fn what_is_said_of_a_model_is_wrapped_at_80_columns() {
    for model in ["ftp", "cloud-gaming(screen=uhd)"] {
        let shown = run(btu().args(["model", "show", model])).unwrap();
        let (said, _) = shown.split_once("\nforward\n").unwrap();
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        assert!(said.contains("\n            "), "the rest of a text stands below it: {said}");
    }
}

#[test]
fn a_model_is_shown_with_rates_quantiles_and_a_second_of_it() {
    let shown = document(&["show", "cloud-gaming(screen=uhd)"]);
    assert_eq!(shown["mean_forward_bit_s"], 44_000_000);
    assert!(shown["forward"]["size_bytes"]["p50"].as_f64().unwrap() > 0.0);
    assert_eq!(shown["forward"]["picture_bytes"].as_array().unwrap().len(), 80);
}

#[test]
fn a_sample_is_the_same_for_the_same_seed() {
    let sample = |seed: &str| document(&["sample", "mobile-game", "--seed", seed]);
    assert_eq!(sample("7"), sample("7"));
    assert_ne!(sample("7")["messages"], sample("8")["messages"]);
}

#[test]
fn whatever_is_said_of_an_unverified_model_says_so() {
    let note = "parameters not verified: keys of a session";
    for verb in ["show", "sample", "check"] {
        let mut args = vec![verb, "telnet"];
        args.extend(if verb == "check" { &["--samples", "1000"][..] } else { &[] });
        let ended = btu().arg("model").args(&args).output().unwrap();
        let said = [ended.stdout, ended.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains(note), "{verb}: {said}");
        let document = document(&args).to_string();
        assert!(document.contains(note), "{verb}: {document}");
    }
    let listed = run(btu().args(["model", "list"])).unwrap();
    let line = |name| listed.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(line("telnet ").contains("not verified"), "{listed}");
    assert!(!line("voice-cbr ").contains("not verified"), "{listed}");
    // Of two readings of its source nobody knows which one is right.
    assert!(line("vdi ").contains("not verified"), "{listed}");
}

#[test]
fn a_name_alone_is_checked_in_every_variant_and_a_call_as_it_stands() {
    let variants = |model: &str| -> Vec<(String, Value)> {
        let document = document(&["check", model, "--samples", "1000"]);
        let all = document["models"].as_array().unwrap().clone();
        all.iter().map(|one| (one["call"].to_string(), one["variant"].clone())).collect()
    };
    let named = variants("teleconf");
    assert_eq!(named[0], ("\"teleconf()\"".to_owned(), "dar".into()));
    assert_eq!(named[1], ("\"teleconf(memory=gbar)\"".to_owned(), "gbar".into()));
    assert_eq!(variants("teleconf(memory=gbar)"), named[1..]);
    assert_eq!(variants("teleconf()"), named[..1]);
    assert_eq!(variants("incast(senders=4)")[0].1, Value::Null);
    let said = run(btu().args(["model", "check", "voice-cbr", "--samples", "1000"])).unwrap();
    for row in ["voice-cbr(codec=g729): pass", "pass    g711 ", "pass    g729 "] {
        assert!(said.contains(row), "{said}");
    }
    assert_eq!(document(&["show", "mpeg"])["variants"][1]["arguments"], "film=starwars");
}

#[test]
fn a_wrong_model_or_argument_exits_2_and_names_the_legal_ones() {
    for (text, part) in [
        ("voice", "unknown model \"voice\"; write one of telnet, ftp"),
        (
            "rpc(workload=x)",
            "rpc(workload=x):1:14: workload = \"x\"; write one of websearch, hadoop",
        ),
        ("vdi(speed=1)", "vdi has no parameter \"speed\"; write duration"),
    ] {
        let ended = btu().args(["model", "show", text]).output().unwrap();
        let said = said(&ended);
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
}
