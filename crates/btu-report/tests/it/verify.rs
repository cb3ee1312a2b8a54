//! Results that were changed after they were measured: every change is found, and named.

use std::collections::BTreeMap;
use std::path::Path;

use btu_core::disclosure::Fact;
use btu_core::journal::EventRecord;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::journal::codec;
use btu_core::manifest::Covers;
use btu_core::manifest::Manifest;
use btu_core::manifest::Signature;
use btu_core::manifest::Statement;
use btu_core::manifest::hash;
use btu_core::manifest::hex;
use btu_core::manifest::signatures_json;
use btu_core::role::Role;
use btu_core::run::analysis::analyse;
use btu_core::run::schedule::Step;
use btu_core::sample::CellSample;
use btu_core::sample::Outcome;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::Claim;
use btu_report::MANIFEST;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::SIGNATURES;
use btu_report::Stored;
use btu_report::StoredRun;
use btu_report::Tier;
use btu_report::Verification;
use btu_report::result;
use btu_report::verify;

use crate::fixture;

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A journal as a conductor writes it: in the order of the seed, with sums that add up.
pub(crate) fn journal() -> Journal {
    let mut journal = fixture::tiny_journal();
    let plan = journal.plan.clone();
    for record in &mut journal.records {
        match record {
            Record::Alone(alone) => {
                let step = Step::Alone(alone.activity.clone());
                let order = plan.pass_order(alone.pass);
                alone.position = order.iter().find(|slot| slot.step == step).unwrap().position;
            }
            Record::Cell(sample) => {
                let step = Step::Cell(sample.cell.clone());
                let order = plan.pass_order(sample.pass);
                sample.position = order.iter().find(|slot| slot.step == step).unwrap().position;
                let comm = sample.comm.as_mut().unwrap();
                let sum = comm.connections.iter().map(|one| one.bytes.count()).sum();
                comm.bytes = Bytes::new(sum);
            }
            Record::Capture(_) | Record::Verification(_) => {}
        }
    }
    let checks = journal.records.len() - 1;
    journal.records[1..checks].sort_by_key(|record| match record {
        Record::Alone(alone) => (alone.pass, alone.position),
        Record::Cell(sample) => (sample.pass, sample.position),
        Record::Capture(_) | Record::Verification(_) => (0, 0),
    });
    journal
}

/// The same runs, as if all of them were to and from the active black box.
fn of_one_black_box() -> Journal {
    let mut journal = journal();
    for record in &mut journal.records {
        let Record::Cell(sample) = record else { continue };
        let connections = sample.comm.iter_mut().flat_map(|comm| &mut comm.connections);
        let ends = connections.flat_map(|one| [&mut one.sender, &mut one.receiver]);
        ends.filter(|end| end.role == Role::Passive).for_each(|end| end.role = Role::Active);
    }
    journal
}

/// The files of a result, signed by `ids` for each role.
pub(crate) fn signed(journal: &Journal, ids: [&str; 3]) -> Files {
    let text = |text: String| text.into_bytes();
    let samples = journal.records.iter().map(|record| codec::line(record).unwrap()).collect();
    let events = journal.events.iter().map(|event| codec::line(event).unwrap()).collect();
    let hosts = serde_json::to_string_pretty(&journal.hosts).unwrap();
    let mut files: Files = [
        ("plan.toml", text(journal.plan.to_toml())),
        ("hosts.json", text(hosts)),
        ("samples.jsonl", text(samples)),
        ("events.jsonl", text(events)),
        ("result.json", text(result(journal, &analyse(journal)).to_json())),
    ]
    .into_iter()
    .map(|(name, content)| (name.to_owned(), content))
    .collect();
    sign(&mut files, journal, ids);
    files
}

fn sign(files: &mut Files, journal: &Journal, ids: [&str; 3]) {
    let names = files.iter().map(|(name, content)| (name.as_str(), content.as_slice()));
    let manifest = Manifest::of("btu 0", names).to_json();
    let mut signatures = vec![signature("test", Covers::Manifest, ids[0], manifest.as_bytes())];
    for (role, id) in Role::ALL.into_iter().zip(ids) {
        let statement = Statement::of(role, journal.plan.seed, &journal.records).text();
        let covers = Covers::Measurements;
        signatures.push(signature(role.name(), covers, id, statement.as_bytes()));
    }
    files.insert(MANIFEST.to_owned(), manifest.into_bytes());
    files.insert(SIGNATURES.to_owned(), signatures_json(&signatures).into_bytes());
}

/// A stand-in for real signatures: a hash over key and message.
fn signature(role: &str, covers: Covers, id: &str, message: &[u8]) -> Signature {
    Signature {
        role: role.to_owned(),
        covers,
        id: id.to_owned(),
        key: hex(id.as_bytes()),
        signature: hex(seal(id.as_bytes(), message).as_bytes()),
    }
}

fn seal(key: &[u8], message: &[u8]) -> String {
    hash(&[key, b"|", message].concat())
}

fn holds(claim: &Claim<'_>) -> Option<String> {
    let whole = seal(claim.key, claim.message).as_bytes() == claim.signature;
    whole.then(|| String::from_utf8_lossy(claim.key).into_owned())
}

pub(crate) fn verified(files: Files) -> Verification {
    verify(&ResultFiles::new(Path::new("result"), files), &holds)
}

pub(crate) fn said(found: &Verification) -> String {
    let lines = found.violations.iter();
    let told: Vec<String> =
        lines.map(|one| format!("{}: {}: {}", one.rule, one.place, one.detail)).collect();
    told.join("\n")
}

pub(crate) const ONE: [&str; 3] = ["A", "A", "A"];

#[test]
fn an_untouched_result_is_valid_and_says_who_signed() {
    let found = verified(signed(&journal(), ONE));
    assert!(found.valid, "{}", said(&found));
    assert_eq!((found.tier, found.signers.len()), (Tier::SelfSigned, 4));
    assert!(found.figures > 50 && found.samples == journal().records.len());
    let three = verified(signed(&journal(), ["A", "B", "C"]));
    assert_eq!((three.valid, three.tier), (true, Tier::AllRolesSigned));
}

/// Two agents, of which the disclosure tells the identities: the roles that took part count, and each signs
/// for itself.
#[test]
fn an_agent_that_did_not_sign_is_named_and_another_in_its_place_is_refused() {
    let journal = journal();
    let of = |journal: &Journal, ids: [&str; 3], agents: &[(&str, &str)]| {
        let mut files = signed(journal, ids);
        let mut hosts: serde_json::Value = serde_json::from_slice(&files["hosts.json"]).unwrap();
        for (role, id) in agents {
            hosts["hosts"][role]["agent"]["identity"]["value"] = (*id).into();
        }
        files.insert("hosts.json".to_owned(), serde_json::to_vec(&hosts).unwrap());
        files.retain(|name, _| name != MANIFEST && name != SIGNATURES);
        sign(&mut files, journal, ids);
        files
    };
    let both = [("active", "B"), ("passive", "C")];
    let found = verified(of(&journal, ["A", "B", "C"], &both));
    assert_eq!((found.valid, found.tier), (true, Tier::AllRolesSigned), "{}", said(&found));
    let found = verified(of(&of_one_black_box(), ["A", "B", "A"], &both[..1]));
    assert_eq!(found.tier, Tier::AllRolesSigned, "the one black box that took part signed");
    let found = verified(of(&journal, ["A", "B", "A"], &both[..1]));
    assert_eq!(
        found.tier,
        Tier::SelfSigned,
        "who measured signs, also where no disclosure names it"
    );

    let mut silent = of(&journal, ["A", "B", "C"], &both);
    let signatures = String::from_utf8(silent[SIGNATURES].clone()).unwrap();
    let mut left: Vec<serde_json::Value> = serde_json::from_str(&signatures).unwrap();
    left.retain(|one| one["role"] != "active");
    silent.insert(SIGNATURES.to_owned(), serde_json::to_vec(&left).unwrap());
    let found = verified(silent);
    assert_eq!((found.valid, found.tier), (true, Tier::SelfSigned));
    assert!(found.notes.contains(&"active (B) did not sign what it measured".to_owned()));

    let found = verified(of(&journal, ["A", "D", "C"], &both));
    assert!(
        said(&found).contains("signed by D, but the host that measured is B"),
        "{}",
        said(&found)
    );
}

#[test]
fn each_change_by_hand_is_named() {
    let edits: [(&str, &str, &str, &str); 7] = [
        ("result.json", "\"btu_mbps\": ", "\"btu_mbps\": 9", "figures: result.json: btu_mbps: 9"),
        (
            "result.json",
            "\"retransmissions\": ",
            "\"retransmissions\": 9",
            "cell_summaries[0].retrans",
        ),
        ("samples.jsonl", "\"calls\":1000", "\"calls\":1001", "files: samples.jsonl:"),
        ("events.jsonl", "\"event\":\"", "\"event\":\"x", "files: events.jsonl:1: changed"),
        ("plan.toml", "seed = 42", "seed = 43", "files: plan.toml: changed"),
        ("hosts.json", "2900USD", "2901USD", "files: hosts.json: changed"),
        (
            SIGNATURES,
            "\"role\": \"active\"",
            "\"role\": \"passive\"",
            "signatures: signatures.json",
        ),
    ];
    for (file, from, to, place) in edits {
        let mut files = signed(&journal(), ONE);
        let text = String::from_utf8(files[file].clone()).unwrap();
        assert!(text.contains(from), "{file}: {from}");
        files.insert(file.to_owned(), text.replacen(from, to, 1).into_bytes());
        let found = verified(files);
        assert!(!found.valid && said(&found).contains(place), "{file}: {}", said(&found));
    }
}

/// Signed after it was changed: the manifest has it as it is.
#[test]
fn a_plan_that_was_changed_after_the_first_sample_is_found_behind_new_hashes() {
    let with = |plan: &str| {
        let mut journal = journal();
        let start = journal.events.iter_mut().find(|one| one.event == EventRecord::STARTED);
        start.unwrap().detail = EventRecord::of_plan("a new run", plan);
        verified(signed(&journal, ONE))
    };
    let plan = journal().plan.to_toml();
    assert!(with(&plan).valid, "{}", said(&with(&plan)));
    let found = with(&plan.replace("seed = 42", "seed = 41"));
    let why = "files: plan.toml: not the plan that the measurement began with: BLAKE3 was ";
    assert!(!found.valid && said(&found).contains(why), "{}", said(&found));
}

#[test]
fn another_order_than_the_seed_s_and_impossible_sums_are_found_behind_new_hashes() {
    let mut forged = journal();
    let first = forged.records.iter_mut().find_map(|record| match record {
        Record::Cell(sample) => Some(sample),
        _ => None,
    });
    let sample = first.unwrap();
    sample.position += 1;
    sample.comm.as_mut().unwrap().bytes = Bytes::new(1);
    let found = verified(signed(&forged, ONE));
    let said = said(&found);
    assert!(
        said.contains("order: samples.jsonl:") && said.contains("by the plan's seed"),
        "{said}"
    );
    assert!(said.contains("plausibility: samples.jsonl:"), "{said}");
}

/// How many passes are made is decided on the way, and never more than the plan allows.
#[test]
fn passes_beyond_those_of_the_plan_are_found_behind_new_hashes() {
    let with_most = |most: u32| {
        let mut journal = journal();
        (journal.plan.passes.min, journal.plan.passes.max) = (2, most);
        verified(signed(&journal, ONE))
    };
    let found = with_most(2);
    assert!(!found.valid && found.violations.len() == 1, "{}", said(&found));
    assert!(said(&found).contains("order: samples.jsonl: pass 3 of at most 2 passes"));
    assert!(with_most(3).valid, "{}", said(&with_most(3)));
}

/// Three passes of three runs each, changed by hand and signed anew.
#[test]
fn runs_that_are_missing_twice_or_out_of_turn_are_found_behind_new_hashes() {
    let is_of = |record: &Record, which: u32| match record {
        Record::Alone(alone) => alone.pass == which,
        Record::Cell(sample) => sample.pass == which,
        Record::Capture(_) | Record::Verification(_) => false,
    };
    let found = |change: &dyn Fn(&mut Vec<Record>)| {
        let mut journal = journal();
        change(&mut journal.records);
        let found = verified(signed(&journal, ONE));
        assert!(!found.valid && found.violations.iter().all(|one| one.rule == "order"));
        said(&found)
    };
    let cut = |pass: u32| found(&|records| records.retain(|record| !is_of(record, pass)));
    assert!(cut(2).contains("samples.jsonl: pass 2 is missing: the next one is pass 3"));
    assert!(cut(3).contains("samples.jsonl: finished with 2 of at least 3 passes"), "{}", cut(3));
    let nothing = found(&|records| records.clear());
    assert!(nothing.contains("finished with 0 of at least 3 passes"), "{nothing}");
    let hole = found(&|records| drop(records.remove(4)));
    assert!(hole.contains("1 of 3 runs of pass 2 are missing, the first is "), "{hole}");
    let last = found(&|records| drop(records.remove(9)));
    assert!(last.contains("1 of 3 runs of pass 3 are missing, the first is "), "{last}");
    let twice = found(&|records| {
        let slow = records.iter().find_map(|record| match record {
            Record::Alone(alone) => Some(alone.clone()),
            _ => None,
        });
        let mut slow = slow.unwrap();
        slow.sample.units /= 10.0;
        records.push(Record::Alone(slow));
    });
    assert!(twice.contains("samples.jsonl:12: io alone, attempt 1: a second time"), "{twice}");
    let again = found(&|records| {
        let at = records.iter().position(|record| matches!(record, Record::Cell(_))).unwrap();
        let Record::Cell(sample) = &mut records[at] else { unreachable!() };
        sample.attempt = 2;
    });
    assert!(again.contains("attempt 2 without the one before"), "{again}");
    let swapped = found(&|records| records.swap(2, 5));
    assert!(swapped.contains("samples.jsonl:6: step 2 of pass 1 after step "), "{swapped}");
}

/// A conductor repeats a run that is invalid, failed or disturbed, and that once.
#[test]
fn attempts_that_no_conductor_makes_are_found_behind_new_hashes() {
    let found = |attempts: u32, first: &dyn Fn(&mut CellSample)| {
        let mut journal = journal();
        let at = journal.records.iter().position(|record| matches!(record, Record::Cell(_)));
        let at = at.unwrap();
        let Record::Cell(made) = journal.records[at].clone() else { unreachable!() };
        if let Record::Cell(sample) = &mut journal.records[at] {
            first(sample);
        }
        for attempt in 2..=attempts {
            let repeat = Record::Cell(Box::new(CellSample { attempt, ..(*made).clone() }));
            journal.records.insert(at + usize::try_from(attempt).unwrap() - 1, repeat);
        }
        let found = verified(signed(&journal, ONE));
        (found.valid, said(&found))
    };
    let invalid = |sample: &mut CellSample| sample.invalid.push("MTU changed".into());
    let stolen = |sample: &mut CellSample| {
        let second = Nanos::from_secs(1);
        (sample.host.elapsed_ns, sample.host.steal_ns) = (second, Some(second));
    };
    assert!(
        found(2, &invalid).0 && found(2, &stolen).0,
        "{} {}",
        found(2, &invalid).1,
        found(2, &stolen).1
    );
    let (valid, calm) = found(2, &|_| ());
    assert!(
        !valid && calm.contains("attempt 2 of a run that was neither invalid nor disturbed"),
        "{calm}"
    );
    let (valid, thrice) = found(3, &invalid);
    assert!(
        !valid && thrice.contains("attempt 3 of a run that is repeated once at the most"),
        "{thrice}"
    );
}

/// A run that was cut short has a last pass with holes, and no other.
#[test]
fn a_run_that_was_interrupted_lacks_what_it_did_not_reach_and_nothing_else() {
    let mut journal = journal();
    journal.events.last_mut().unwrap().event = "interrupted".to_owned();
    journal.records.truncate(6);
    let found = verified(signed(&journal, ONE));
    assert!(found.valid, "{}", said(&found));
    journal.records.remove(2);
    let found = said(&verified(signed(&journal, ONE)));
    assert!(found.contains("1 of 3 runs of pass 1 are missing, the first is "), "{found}");
}

/// A run that was gone on with is signed by nobody; it was killed in the middle of its first new line.
#[test]
fn a_line_that_was_torn_after_the_result_was_written_is_a_note() {
    let mut journal = journal();
    journal.events.last_mut().unwrap().event = "interrupted".to_owned();
    journal.records.truncate(6);
    let mut whole = signed(&journal, ONE);
    whole.retain(|name, _| name != MANIFEST && name != SIGNATURES);
    for (file, line) in [("samples.jsonl", 7), ("events.jsonl", journal.events.len() + 1)] {
        let mut files = whole.clone();
        files.get_mut(file).unwrap().extend_from_slice(b"{\"kind\":");
        let found = verified(files).accepting_unsigned();
        assert!(found.valid, "{}", said(&found));
        let note = format!("{file}:{line}: torn last line (8 bytes) left out");
        assert!(found.notes.contains(&note), "{:?}", found.notes);
    }
}

#[test]
fn the_test_host_cannot_make_up_what_a_black_box_measured() {
    let mut forged = journal();
    for record in &mut forged.records {
        if let Record::Cell(sample) = record {
            sample.comm.as_mut().unwrap().connections[0].receiver.calls += 1;
        }
    }
    let mut files = signed(&forged, ["A", "B", "C"]);
    let honest = signed(&journal(), ["A", "B", "C"]);
    let theirs: Vec<Signature> = serde_json::from_slice(&honest[SIGNATURES]).unwrap();
    let mut ours: Vec<Signature> = serde_json::from_slice(&files[SIGNATURES]).unwrap();
    // The forger has no key but its own: the black boxes' signatures are the old ones.
    ours[2..].clone_from_slice(&theirs[2..]);
    files.insert(SIGNATURES.to_owned(), signatures_json(&ours).into_bytes());
    let found = verified(files);
    assert!(said(&found).contains("measurements of active: the signature does not hold"));
    assert_eq!(found.tier, Tier::SelfSigned);
}

/// The signatures of a result, changed.
fn resigned(files: &mut Files, change: impl FnOnce(&mut Vec<Signature>)) {
    let mut entries: Vec<Signature> = serde_json::from_slice(&files[SIGNATURES]).unwrap();
    change(&mut entries);
    files.insert(SIGNATURES.to_owned(), signatures_json(&entries).into_bytes());
}

/// Whoever halves the bases, or calls a failed run complete, has no key of the host under test.
#[test]
fn nobody_but_the_test_host_can_say_what_an_activity_did_alone_or_how_a_run_ended() {
    let halved = |journal: &mut Journal| {
        for record in &mut journal.records {
            if let Record::Alone(alone) = record {
                alone.sample.units /= 2.0;
            }
        }
    };
    let ended = |journal: &mut Journal| {
        let cells = journal.records.iter_mut().filter_map(|record| match record {
            Record::Cell(sample) => Some(sample),
            _ => None,
        });
        let reason = "a tale".to_owned();
        cells.for_each(|sample| sample.outcome = Outcome::Failed { reason: reason.clone() });
    };
    let honest: Vec<Signature> =
        serde_json::from_slice(&signed(&journal(), ["A", "B", "C"])[SIGNATURES]).unwrap();
    for change in [&halved as &dyn Fn(&mut Journal), &ended] {
        let mut forged = journal();
        change(&mut forged);
        let mut files = signed(&forged, ["X", "X", "X"]);
        resigned(&mut files, |ours| ours[1..].clone_from_slice(&honest[1..]));
        let found = verified(files);
        let said = said(&found);
        assert_eq!(
            said,
            "signatures: signatures.json: measurements of test: the signature does \
                          not hold: what it covers was changed"
        );
        assert_eq!(found.tier, Tier::SelfSigned);
    }
}

#[test]
fn all_roles_signed_takes_the_test_host_s_own_word_for_the_whole() {
    let honest = signed(&journal(), ["A", "B", "C"]);
    let manifest = honest[MANIFEST].clone();
    let by = |role: &str, id: &str| {
        let mut files = honest.clone();
        let whole = signature(role, Covers::Manifest, id, &manifest);
        resigned(&mut files, |entries| entries[0] = whole);
        let found = verified(files);
        assert!(found.valid, "{}", said(&found));
        (found.tier, found.notes.join("\n"))
    };
    assert_eq!(by("test", "A"), (Tier::AllRolesSigned, String::new()));
    let another = "X signed everything as test, but what test measured is signed by A".to_owned();
    assert_eq!(by("test", "X"), (Tier::SelfSigned, another));
    let nothing = "A signed everything as redactor, but nothing says what was redacted".to_owned();
    assert_eq!(by("redactor", "A"), (Tier::SelfSigned, nothing));

    let redacted_by = |id: &str| {
        let mut files = honest.clone();
        let mut redacted = Manifest::parse(&manifest).unwrap();
        redacted.redacted_from = Some(hash(&manifest));
        let redacted = redacted.to_json();
        let whole = signature("redactor", Covers::Manifest, id, redacted.as_bytes());
        resigned(&mut files, |entries| entries[0] = whole);
        files.insert(MANIFEST.to_owned(), redacted.into_bytes());
        let found = verified(files);
        assert!(found.valid, "{}", said(&found));
        let doubt =
            found.notes.iter().any(|note| note.contains("nothing shows that it is the host"));
        (found.tier, doubt)
    };
    assert_eq!(redacted_by("A"), (Tier::AllRolesSigned, false));
    assert_eq!(redacted_by("D"), (Tier::SelfSigned, true));
}

/// It says less than one of today, and is no forgery.
#[test]
fn a_result_that_an_earlier_program_signed_says_so_and_counts_as_self_signed() {
    let mut files = signed(&journal(), ["A", "B", "C"]);
    let statement = Statement::earlier(journal().plan.seed, &journal().records).text();
    let earlier = signature("test", Covers::Measurements, "A", statement.as_bytes());
    resigned(&mut files, |entries| entries[1] = earlier.clone());
    let found = verified(files.clone());
    assert_eq!((found.valid, found.tier), (true, Tier::SelfSigned), "{}", said(&found));
    let signer = &found.signers[1];
    assert_eq!((signer.covers, signer.holds), ("earlier measurements", true));
    let note = "test (A) signed its measurements with an earlier program: the activities alone and \
                how runs ended are no part of that, so it counts as self-signed";
    assert_eq!(found.notes, [note]);
    // Of a black box there is no earlier one.
    resigned(&mut files, |entries| {
        entries[2] = Signature { role: "active".to_owned(), ..earlier };
    });
    assert!(!verified(files).valid);
}

#[test]
fn a_result_that_nobody_signed_says_so_and_can_be_accepted() {
    let mut files = signed(&journal(), ONE);
    files.remove(SIGNATURES);
    let found = verified(files.clone());
    assert_eq!((found.valid, found.tier), (false, Tier::Unsigned));
    assert!(found.accepting_unsigned().valid);
    files.remove(MANIFEST);
    assert!(said(&verified(files.clone())).starts_with("unsigned: manifest.json: missing"));
    files.insert("result.json".to_owned(), b"{}".to_vec());
    assert!(!verified(files).accepting_unsigned().valid);
}

#[test]
fn a_certain_signer_can_be_demanded() {
    let found = verified(signed(&journal(), ONE));
    assert!(found.clone().demanding(&["B".to_owned(), "A".to_owned()]).valid);
    assert!(!found.demanding(&["B".to_owned()]).valid);
}

/// xorshift64 (Marsaglia, Journal of Statistical Software 8, 2003).
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 32).unwrap()
}

#[test]
fn a_changed_bit_anywhere_in_any_file_is_found() {
    let whole = signed(&journal(), ONE);
    let mut state = 1996;
    for _ in 0..200 {
        let mut files = whole.clone();
        let at = next(&mut state) % files.len();
        let (name, content) = files.iter_mut().nth(at).unwrap();
        let byte = next(&mut state) % content.len();
        content[byte] ^= 1 << (next(&mut state) % 8);
        let name = name.clone();
        assert!(!verified(files).valid || is_blank(&whole[&name], byte), "{name}, byte {byte}");
    }
}

/// A space between two values of `signatures.json` may become another space: nothing is said by it.
fn is_blank(content: &[u8], byte: usize) -> bool {
    content[byte].is_ascii_whitespace()
}

/// What people read must follow from the samples as what programs read does, also where nobody signed.
#[test]
fn a_page_that_the_samples_do_not_give_is_found_and_one_of_another_program_is_not_judged() {
    let page_of = |files: &Files| {
        let opened = ResultFiles::new(Path::new("result"), files.clone());
        StoredRun::open(&opened, OpenMode::Strict).unwrap().render("html").unwrap()
    };
    let result = |version: &str| {
        let mut journal = journal();
        journal.hosts.tool.insert("version".to_owned(), Fact::known(version));
        let mut files = signed(&journal, ["A", "A", "A"]);
        files.retain(|name, _| name != MANIFEST && name != SIGNATURES);
        let page = page_of(&files);
        files.insert("report.html".to_owned(), page);
        files
    };
    let changed = |mut files: Files| {
        let page = files.get_mut("report.html").unwrap();
        let at = page.windows(4).position(|four| four == b"Mb/s").unwrap();
        page.insert(at, b'9');
        verified(files).accepting_unsigned()
    };
    let ours = result(env!("CARGO_PKG_VERSION"));
    let untouched = verified(ours.clone()).accepting_unsigned();
    assert!(untouched.valid && !untouched.notes.concat().contains("report.html"), "{untouched:?}");
    let found = changed(ours);
    let of_page = found.violations.iter().find(|one| one.place == "report.html").unwrap();
    assert!(of_page.detail.starts_with("not the page that the samples give"), "{of_page:?}");
    let others = changed(result("0.0.1"));
    let note = "report.html: not verified: another version of the program wrote it";
    assert!(others.valid && others.notes.iter().any(|told| told == note), "{others:?}");
}
