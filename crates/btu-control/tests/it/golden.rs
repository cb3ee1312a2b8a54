//! The journal of a whole quick run: the seed decides every byte of it, and nothing else does.

use btu_control::Conductor;
use btu_control::Ending;
use btu_control::JournalDir;
use btu_control::Watcher;
use btu_control::drive;
use btu_core::disclosure::Disclosure;
use btu_core::journal::Record;
use btu_core::run::plan::Choices;
use btu_core::run::plan::Plan;
use btu_core::run::plan::Vocabulary;

use crate::simulated::Simulated;
use crate::simulated::disturb;

/// The lines that a run of the quick preset with this seed leaves. One cell is disturbed, so that it is
/// repeated: what is decided on the way is in the journal, too.
fn journal(seed: u64) -> String {
    let choices = Choices { seed: Some(seed), ..Choices::default() };
    let plan = Plan::resolve(&choices, &Vocabulary { activities: &["cpu", "ftp", "io"] }, 0);
    let plan = plan.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("result");
    let mut journal =
        JournalDir::create(&place, &plan.to_toml(), None, &Disclosure::default()).unwrap();
    let mut testbed = Simulated::new();
    testbed.spoil = Box::new(|run, sample| {
        if run.attempt == 1 && run.cell.id() == "RECV/ftp/io" {
            disturb(&mut sample.host);
        }
    });
    let mut watcher = testbed.watcher();
    let mut conductor = Conductor::new(plan, Vec::new(), watcher.now());
    let ending = drive(&mut conductor, &mut testbed, &mut journal, &mut watcher).unwrap();
    assert_eq!(ending, Ending::Complete);
    std::fs::read_to_string(place.join("samples.jsonl")).unwrap()
}

#[test]
fn the_same_seed_leaves_the_same_journal_byte_by_byte_and_another_seed_another_one() {
    let [one, again, other] = [7, 7, 8].map(journal);
    assert!(one == again, "the same seed gave another journal");
    assert!(one != other, "another seed gave the same journal");
    let records = one.lines().map(|line| serde_json::from_str::<Record>(line).unwrap());
    let cells = records.filter_map(|record| match record {
        Record::Cell(sample) => Some((sample.cell.id(), sample.attempt)),
        _ => None,
    });
    let cells: Vec<(String, u32)> = cells.collect();
    // Two passes of 120 cells at least.
    assert!(cells.len() > 240, "{}", cells.len());
    assert!(cells.contains(&("RECV/ftp/io".to_owned(), 2)));
}
