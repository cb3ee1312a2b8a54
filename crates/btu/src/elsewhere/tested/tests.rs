//! How a test of another host ends, and what no agent takes.

use super::*;

fn order() -> TestOrder {
    let order = serde_json::json!({
        "seq": 1, "lease_ns": 1, "plan": "seed = 7\n", "boxes": [], "reconnect_s": 5, "marks": [],
    });
    serde_json::from_value(order).unwrap()
}

#[test]
fn an_order_that_no_agent_takes_is_refused_before_it_is_told() {
    let text = |length: usize| "x".repeat(length);
    let fitting = TestOrder {
        note: Some(text(4096)),
        marks: vec![text(100); 64],
        given: Some(text(50_000)),
        ..order()
    };
    assert!(fits(fitting, "").is_ok());
    for (order, why, hint) in [
        (TestOrder { note: Some(text(4097)), ..order() }, "note is 4097", Some(BOUNDS)),
        (TestOrder { price: Some(text(4097)), ..order() }, "price is 4097", Some(BOUNDS)),
        (TestOrder { marks: vec![text(4097)], ..order() }, "of a mark is 4097", Some(BOUNDS)),
        (TestOrder { marks: vec![text(1); 65], ..order() }, "marks is 65", Some(BOUNDS)),
        (TestOrder { lease_ns: Nanos::new(u64::MAX), ..order() }, "lease_ns is 18", None),
        (TestOrder { given: Some(text(64 << 10)), ..order() }, "65553 of them", Some("short")),
        (TestOrder { plan: text(64 << 10), ..order() }, "65545 of them", Some("short")),
        (TestOrder { marks: vec![text(4096); 20], ..order() }, "19 of them", Some(FEWER_WORDS)),
    ] {
        let refused = fits(order, "short").unwrap_err();
        assert!(refused.cause.to_string().contains(why), "{:#}", refused.cause);
        assert_eq!((refused.exit, refused.hint.as_deref()), (Exit::Usage, hint));
    }
}

#[test]
fn a_test_that_was_handed_over_before_its_end_says_why_and_what_goes_on_with_it() {
    let told = |names: &[&str]| {
        let event = |name: &&str| EventRecord {
            at: String::new(),
            event: (*name).to_owned(),
            detail: format!("by {name}"),
        };
        let events: Vec<_> = names.iter().map(event).collect();
        ended(&events, "btu again").map_err(|failure| {
            let words = format!("{:#}; {}", failure.cause, failure.hint.unwrap_or_default());
            (failure.exit, words)
        })
    };
    assert_eq!(told(&["started", "finished"]), Ok(()));
    assert_eq!(told(&["started", "agent_lost", "resumed", "finished"]), Ok(()));
    for (names, exit, words) in [
        (&["agent_lost", "interrupted"][..], Exit::Agent, "lost an agent: by agent_lost; go on"),
        (&["interrupted"], Exit::Agent, "before its end; go on with: btu again"),
        (&["finished", "resumed"], Exit::Agent, "before its end; go on with: btu again"),
        (&["agent_lost", "emulation_mismatch"], Exit::Environment, "by emulation_mismatch"),
    ] {
        let (code, said) = told(names).unwrap_err();
        assert!(code == exit && said.contains(words), "{names:?}: {code:?} {said}");
    }
}

#[test]
fn a_result_that_is_not_written_whole_is_not_finished() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    std::fs::write(folder.path().join("events.jsonl"), "begun\n").unwrap();
    std::fs::write(folder.path().join("told.json"), "{}").unwrap();
    // Who is killed has written some of the files.
    let in_the_way = folder.path().join("signatures.json.new");
    std::fs::create_dir(&in_the_way).unwrap();
    let names = ["events.jsonl", "samples.jsonl", "signatures.json"];
    let files = names.map(|name| (name.to_owned(), b"finished\n".to_vec())).into();
    assert!(write(folder.path(), &files).is_err());
    assert_eq!([read("samples.jsonl"), read("events.jsonl")], ["finished\n", "begun\n"]);
    assert_eq!(read("told.json"), "{}", "the proof of what was told");
    std::fs::remove_dir(&in_the_way).unwrap();
    write(folder.path(), &files).unwrap();
    assert_eq!(read("events.jsonl"), "finished\n");
    assert!(!folder.path().join("told.json").exists());
}
