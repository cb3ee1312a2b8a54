//! The sheet of a path: its card, and what stands below it.

use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;
use btu_core::traffic::probe::CapacityReport;
use btu_core::traffic::probe::CapacitySample;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::sample::Line;
use btu_core::traffic::study::analyse;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::traffic_result;

use crate::traffic::journal;
use crate::traffic::rendered;

/// Three searches: the card has their mean, as the sheet has, and each of them is told with its pass.
#[test]
fn the_card_of_a_sheet_has_the_figures_of_its_lines() {
    let mut journal = journal(Study::Qos, &[80]);
    journal.plan.cells[0].group = Group::Search;
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        run.clusters.clear();
        let report = CapacityReport {
            elapsed_ns: Nanos::from_millis(50),
            received: 100 * u64::from(run.pass),
            ..CapacityReport::default()
        };
        run.probe = Some(ProbeSample::Capacity(CapacitySample {
            datagram_bytes: Bytes::new(1222),
            reports: vec![report; 20],
            ..CapacitySample::default()
        }));
    }
    let document = traffic_result(&journal, &analyse(&journal));
    let line = document.sheet.iter().find(|line| line.figure == "capacity_bit_s").unwrap();
    // 20, 40 and 60 Mb/s, whose mean on logarithms is 36.3.
    assert!(
        (line.value.unwrap() / 36.342e6 - 1.0).abs() < 1e-4 && line.interval.is_some(),
        "{line:?}"
    );
    let text = rendered("text", &journal);
    let card = text.lines().find(|line| line.trim_start().starts_with("Capacity")).unwrap();
    assert!(card.contains("36.3 Mb/s"), "{text}");
    for word in ["95 % interval 9.14 to 144\n", "1 of 3", "2 of 3", "3 of 3"] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
}
