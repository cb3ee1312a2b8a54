//! What was copied stays whole, whoever writes beside it or is cut off.

use btu_control::Identity;

use super::*;
use crate::exit::Exit;

fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    let file = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
    btu_report::pack(&files.iter().map(file).collect()).unwrap()
}

fn silent(_: &str) {}

#[test]
fn runs_are_on_the_disk_when_they_were_told_and_nothing_is_there_before_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("result");
    let before = [("plan.toml", "seed = 7\n"), ("hosts.json", "{}")];
    let copied = Copied::into(&out).unwrap();
    copied.keep(&packed(&before), silent);
    assert_eq!(copied.released(), None);
    assert!(!out.exists());
    let copied = Copied::into(&out).unwrap();
    copied.keep(&packed(&before), silent);
    copied.keep(&packed(&[("samples.jsonl", "1\n"), ("events.jsonl", "a\n")]), silent);
    copied.keep(&packed(&[("samples.jsonl", "2\n"), ("hosts.json", "{\"a\":1}")]), silent);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(read("samples.jsonl"), "1\n2\n");
    assert_eq!(
        (read("plan.toml").as_str(), read("hosts.json").as_str()),
        ("seed = 7\n", "{\"a\":1}")
    );
    let whole = |samples: &str| {
        let files = [("samples.jsonl", samples), ("events.jsonl", "a\nb\n")];
        let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        ResultFiles::new(&out, files.into())
    };
    assert!(copied.begins(&whole("1\n2\n3\n")));
    assert!(!copied.begins(&whole("1\n3\n")), "a run was told otherwise before");
    assert!(!copied.begins(&whole("1\n")), "a run is missing");
    assert_eq!(copied.released(), Some(out));
    assert_eq!(copied.released(), None);
}

#[test]
fn nothing_but_parts_of_a_result_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("result");
    for bad in [packed(&[("result.json", "{}"), ("samples.jsonl", "1\n")]), b"none".to_vec()] {
        let copied = Copied::into(&out).unwrap();
        copied.keep(&bad, silent);
        copied.keep(&packed(&[("samples.jsonl", "1\n")]), silent);
        drop(copied);
        assert!(!out.exists(), "after a fault nothing more is believed");
    }
}

/// Two tests begin in the same second: both would have one default directory.
#[test]
fn a_test_writes_to_no_directory_that_another_one_took() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["result", "result-2"].map(|name| folder.path().join(name));
    let first = Copied::anew(Some(&one), || unreachable!("it is named")).unwrap();
    let found = std::cell::Cell::new(0);
    let default = || {
        // The first look was before the other one took it.
        if found.replace(found.get() + 1) == 0 { one.clone() } else { two.clone() }
    };
    let second = Copied::anew(None, default).unwrap();
    assert_eq!((first.out(), second.out()), (one.clone(), two.clone()));
    let taken = Copied::anew(Some(&one), || unreachable!("it is named")).unwrap_err();
    assert!(taken.exit == Exit::Usage && taken.hint.is_some(), "{:#}", taken.cause);
    for (copied, samples) in [(&first, "a1\n"), (&second, "b1\n"), (&first, "a2\n")] {
        copied.keep(&packed(&[("samples.jsonl", samples)]), silent);
    }
    let read = |out: &Path| std::fs::read_to_string(out.join("samples.jsonl")).unwrap();
    assert_eq!((read(&one), read(&two)), ("a1\na2\n".into(), "b1\n".into()));
}

/// What a host tells with one step: these lines, signed over all of them so far.
fn step(own: &Identity, all: &mut Files, lines: &[(&str, &str)]) -> Vec<u8> {
    let mut grown = Files::new();
    for (name, text) in lines {
        all.entry((*name).to_owned()).or_default().extend_from_slice(text.as_bytes());
        grown.insert((*name).to_owned(), text.as_bytes().to_vec());
    }
    Proof::of(all, own).join(&mut grown);
    btu_report::pack(&grown).unwrap()
}

#[test]
fn a_test_that_was_cut_off_is_gone_on_with_as_its_host_told_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("result");
    let (own, mut all) = (Identity::ephemeral().unwrap(), Files::new());
    let copied = Copied::into(&out).unwrap();
    let first = [("plan.toml", "seed = 7\n"), ("samples.jsonl", "1\n"), ("events.jsonl", "a\n")];
    copied.keep(&step(&own, &mut all, &first), silent);
    copied.keep(&step(&own, &mut all, &[("samples.jsonl", "2\n")]), silent);
    let taken = Copied::going_on(&out, own.id()).unwrap_err();
    assert!(taken.to_string().contains("another process writes"), "{taken}");
    assert!(copied.released().is_some());
    // Killed between a proof and the lines that it is of: the proof before it holds.
    let later = [("samples.jsonl".to_owned(), b"1\n2\n3\n".to_vec())].into();
    announce(&out, &Proof::of(&later, &own)).unwrap();
    std::fs::write(out.join("samples.jsonl"), "1\n2\n3").unwrap();
    let (copied, bundle) = Copied::going_on(&out, own.id()).unwrap();
    let mut given = btu_report::unpack(&bundle).unwrap();
    let proof = Proof::part(&mut given).unwrap();
    assert_eq!(proof.proved(&given, own.id()).unwrap(), all);
    copied.keep(&step(&own, &mut all, &[("samples.jsonl", "3\n")]), silent);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!((read("samples.jsonl"), read("events.jsonl")), ("1\n2\n3\n".into(), "a\n".into()));
    assert!(copied.released().is_some());
    // A run that was changed by hand, and another host.
    std::fs::write(out.join("samples.jsonl"), "1\n9\n3\n").unwrap();
    let why = Copied::going_on(&out, own.id()).unwrap_err().to_string();
    assert!(why.contains("samples.jsonl:2: changed"), "{why}");
    let other = Identity::ephemeral().unwrap().id();
    let why = Copied::going_on(&out, other).unwrap_err().to_string();
    assert!(why.contains("not signed by the host under test"), "{why}");
    assert_eq!(read("samples.jsonl"), "1\n9\n3\n", "nothing is taken away then");
}
