//! The numbers of the Viseum paper beside those of a run.

use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Line;
use btu_core::units::Bytes;

use crate::traffic::PERIODS;
use crate::traffic::journal;
use crate::traffic::rendered;

#[test]
fn the_paper_stands_beside_our_numbers() {
    let text = rendered("text", &journal(Study::Viseum, &PERIODS));
    for word in ["about 80 ms", "58.8 ms", "around 11", "text and its arithmetic disagree"] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
}

/// Figure 4 of the paper has a curve for what was sent and one for what came.
#[test]
fn the_paper_says_how_far_what_was_sent_is_from_what_came() {
    let mut journal = journal(Study::Viseum, &[40, 50]);
    journal.plan.cells.iter_mut().for_each(|cell| cell.group = Group::BlockSize);
    for run in &mut journal.lines {
        let Line::TrafficRun(run) = run else { panic!("a run") };
        let flow = &mut run.clusters[0].flows[0];
        // The second block size sends 3 % more than what is read.
        let more = if run.cell == 2 { 1030 } else { 1000 };
        let read = flow.acknowledged_bytes.unwrap().count();
        flow.acknowledged_bytes = Some(Bytes::new(read * more / 1000));
    }
    let text = rendered("text", &journal);
    let line = text.lines().find(|line| line.contains("4: Tx and Rx differ"));
    let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    assert!(words.join(" ").ends_with("within 1 % within 1 % 3.00 %"), "{text}");
}
