//! The sheet of a path: its card, and what stands below it.

use btu_core::traffic::analysis::analyse;
use btu_core::traffic::plan::Course;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;
use btu_core::traffic::probe::CapacityReport;
use btu_core::traffic::probe::CapacitySample;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::Line;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::traffic_result;

use crate::traffic::journal;
use crate::traffic::rendered;

/// Three searches of 20, 60 and 40 Mb/s, in the passes 1, 2 and 3.
fn searched(study: Study) -> Journal {
    let mut journal = journal(study, &[80]);
    journal.plan.cells[0].group = Group::Search;
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        run.clusters.clear();
        let report = CapacityReport {
            elapsed_ns: Nanos::from_millis(50),
            received: [100, 300, 200][usize::try_from(run.pass - 1).unwrap()],
            ..CapacityReport::default()
        };
        run.probe = Some(ProbeSample::Capacity(CapacitySample {
            datagram_bytes: Bytes::new(1222),
            reports: vec![report; 20],
            ..CapacitySample::default()
        }));
    }
    journal
}

/// The card has the mean of the searches, as the sheet has, and each of them is told with its pass.
#[test]
fn the_card_of_a_sheet_has_the_figures_of_its_lines() {
    let journal = searched(Study::Qos);
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

/// A method by itself has no sheet: its card has the median of all searches and says from where to where they go.
#[test]
fn the_card_of_a_method_is_of_all_its_passes() {
    let mut journal = searched(Study::Method);
    journal.plan.course = Some(Course { name: "rfc9097".into(), ..Course::default() });
    let text = rendered("text", &journal);
    let card = text.lines().find(|line| line.trim_start().starts_with("Capacity")).unwrap();
    assert!(card.contains("40.0 Mb/s"), "{text}");
    assert!(text.contains("median of 3 passes, 20.0 to 60.0"), "{text}");
    let method = traffic_result(&journal, &analyse(&journal)).method.unwrap();
    let found: Vec<(u32, f64)> = method
        .capacities
        .iter()
        .map(|one| (one.pass, (one.capacity_bit_s / 1e6).round()))
        .collect();
    let mut by_pass = found.clone();
    by_pass.sort_by_key(|(pass, _)| *pass);
    assert_eq!(by_pass, [(1, 20.0), (2, 60.0), (3, 40.0)]);
    journal.lines.truncate(1);
    let text = rendered("text", &journal);
    assert!(text.contains("Capacity") && !text.contains("median of"), "{text}");
}
