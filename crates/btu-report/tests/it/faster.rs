//! Level 3: loaded cells that carry more than the same cells idle.

use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::analysis::analyse;
use btu_core::run::cell::Case;
use btu_core::units::Nanos;
use btu_report::compose;
use btu_report::render;

use crate::fixture;

/// A small result in which SEND beside `io` takes a share of its time.
fn journal(share: u64) -> Journal {
    let mut journal = fixture::small_journal();
    for record in &mut journal.records {
        let Record::Cell(sample) = record else { continue };
        let is_meant = sample.cell.case == Case::Send && !sample.cell.activity.is_none();
        if let Some(comm) = sample.comm.as_mut().filter(|_| is_meant) {
            comm.elapsed_ns = Nanos::new(comm.elapsed_ns.count() / share);
        }
    }
    journal
}

fn words(format: &str, journal: &Journal) -> String {
    let analysis = analyse(journal);
    let document = compose(journal, &analysis);
    let told = String::from_utf8(render(format, &document, journal, &analysis).unwrap()).unwrap();
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn loaded_cells_that_beat_their_baseline_are_counted_and_flagged_with_the_reason() {
    let (faster, calm) = (journal(3), journal(1));
    for format in ["text", "html", "md"] {
        let told = words(format, &faster);
        let count = "2 of the 4 loaded cells carry more than idle, 2 of them beyond what the passes vary by";
        assert!(told.contains(count), "{format}: {told}");
        assert!(told.contains("of the idle host (95 % interval"), "{format}: {told}");
        assert!(!words(format, &calm).contains("more than idle"), "{format}");
    }
    let result: serde_json::Value = serde_json::from_str(&words("json", &faster)).unwrap();
    let cells = result["cell_summaries"].as_array().unwrap();
    let is_flagged = |cell: &&serde_json::Value| {
        cell["flags"].as_array().unwrap().contains(&"faster-loaded".into())
    };
    let flagged: Vec<_> = cells.iter().filter(is_flagged).map(|cell| &cell["activity"]).collect();
    assert_eq!(flagged, ["io", "io"]);
}
