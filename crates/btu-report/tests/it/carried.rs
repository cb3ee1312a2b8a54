//! What a path carried, and what it left behind: in results of now, and in those that do not tell.

use btu_core::traffic::analysis::analyse;
use btu_core::traffic::figures::flow::Figures;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::Line;
use btu_report::traffic_result;
use btu_report::traffic_schema;
use serde_json::Value;
use serde_json::json;

use crate::schema::silent;
use crate::schema::violations;
use crate::traffic::PERIODS;
use crate::traffic::journal;
use crate::traffic::rendered;

/// Changes the figures of every flow.
fn change(journal: &mut Journal, of: impl Fn(&mut Figures)) {
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        run.clusters
            .iter_mut()
            .flat_map(|one| &mut one.flows)
            .for_each(|flow| of(&mut flow.figures));
    }
}

/// A sheet of one number of sessions of `web`, all of which is carried; it bears 3 s.
fn sheet() -> Journal {
    let mut journal = journal(Study::Qos, &[80]);
    let cell = &mut journal.plan.cells[0];
    (cell.group, cell.class, cell.sessions) = (Group::Class, Some("web".into()), 7);
    journal
}

/// Its result as it is stored, which keeps to the published schema.
fn result(journal: &Journal) -> Value {
    let text = traffic_result(journal, &analyse(journal)).to_json();
    let (document, schema) = (serde_json::from_str(&text).unwrap(), traffic_schema());
    assert_eq!(violations(&document, &schema, &schema, "$"), Vec::<String>::new());
    assert_eq!(silent(&document, "$"), Vec::<String>::new());
    document
}

/// The text, with single spaces.
fn words(journal: &Journal) -> String {
    rendered("text", journal).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Blocks that were read say one thing in all of a row; what is left unread stands beside them.
#[test]
fn percentiles_of_a_class_are_of_the_same_blocks() {
    let mut journal = sheet();
    change(&mut journal, |figures| {
        let delay = figures.delay.as_mut().unwrap();
        (delay.p99_s, delay.p999_s, delay.pdv_p99_s) = (2.0, 2.5, 1.9);
        figures.delay_p99_at_least_s = Some(14.0);
    });
    let result = result(&journal);
    let class = &result["classes"][0];
    let keys = ["delay_p99_s", "delay_p99_at_least_s", "delay_p999_s", "pdv_p99_s"];
    assert_eq!(keys.map(|key| class[key].to_string()), ["2.0", "14.0", "2.5", "1.9"]);
    assert_eq!(class["fails_by"], "p99 of delay at least 14000 ms, limit 3000");
    let text = words(&journal);
    assert!(text.contains("58.8 ms at least 14.0 s 1.90 s"), "{text}");
    assert!(text.contains("blocks that nobody had read at the end"), "{text}");
    change(&mut journal, |figures| figures.delay_p99_at_least_s = Some(1.99));
    let text = words(&journal);
    assert!(!text.contains("58.8 ms at least") && text.contains(" 2.00 s 1.90 s"), "{text}");
}

/// Two clocks that nobody can compare: the number of sessions holds for the other limits.
#[test]
fn a_sheet_names_the_limits_that_nobody_has_judged() {
    let mut journal = sheet();
    assert_eq!(result(&journal)["classes"][0]["limits_not_judged"], json!([]));
    assert!(!words(&journal).contains("nobody has judged"));
    change(&mut journal, |figures| {
        (figures.delay, figures.delay_p99_at_least_s) = (None, None);
    });
    let class = &result(&journal)["classes"][0];
    assert_eq!(
        (&class["limits_not_judged"], &class["most_sessions"]),
        (&json!(["delay"]), &json!(7))
    );
    let text = words(&journal);
    assert!(text.contains("web: nobody has judged its limits on delay, since"), "{text}");
}

/// "p99 ... cells 1": a reader finds that cell in its table.
#[test]
fn cells_of_a_sheet_have_the_numbers_by_which_its_lines_name_them() {
    let mut journal = sheet();
    let text = words(&journal);
    assert!(
        text.contains("W drained passes cell") && text.contains("32.7 ms 32.7 ms 3 1 "),
        "{text}"
    );
    journal.plan.study = Study::Sweep;
    assert!(!words(&journal).contains("passes cell"));
}

/// 0.69 of what was offered departed within the run, as of an overload or of a long path.
#[test]
fn a_result_that_does_not_tell_what_was_carried_keeps_its_sessions() {
    let mut journal = sheet();
    let departed = |figures: &mut Figures| {
        figures.departure_rate_bit_s = 0.69 * figures.arrival_rate_bit_s;
        figures.carried_rate_bit_s = Some(figures.departure_rate_bit_s);
    };
    change(&mut journal, departed);
    let class = &result(&journal)["classes"][0];
    assert!(class["most_sessions"].is_null(), "{class}");
    assert_eq!(class["fails_by"], "69.00 % of what was offered was carried, limit 95");
    change(&mut journal, |figures| {
        (figures.carried_rate_bit_s, figures.delay_p99_at_least_s) = (None, None);
    });
    let result = result(&journal);
    let class = &result["classes"][0];
    assert_eq!((&class["most_sessions"], &class["fails_by"]), (&7.into(), &"".into()), "{class}");
    assert_eq!(class["limits_not_judged"], json!(["carried"]));
    let cell = &result["cells"][0];
    assert!(
        cell["carried_rate_bit_s"].is_null() && cell["departure_rate_bit_s"].is_f64(),
        "{cell}"
    );
}

/// On a long path a part of every load is under way at the end: what the knee is found from is what is drawn.
#[test]
fn the_figure_of_the_knee_shows_what_was_carried() {
    let mut journal = journal(Study::Sweep, &PERIODS);
    let before = analyse(&journal).knee;
    let table = "knee and mu are found from this";
    assert!(!words(&journal).contains(table), "of a short path both are the same");
    change(&mut journal, |figures| figures.departure_rate_bit_s *= 0.88);
    assert_eq!(analyse(&journal).knee, before);
    assert!(
        words(&journal).contains(table) && words(&journal).contains("200 ms 480 kb/s 480 kb/s")
    );
    // Bursts of 12500 B each 200 ms: above the knee both lines of the figure are one.
    let row = |journal: &Journal| {
        let page = rendered("html", journal);
        let figure = page.split("<figure id=\"period\">").nth(1).unwrap();
        let row = figure.split("200 ms").nth(1).unwrap().split("</tr>").next().unwrap();
        ["<td>480 kb", "<td>422 kb"].map(|rate| row.matches(rate).count())
    };
    assert_eq!(row(&journal), [2, 0]);
    // A result without the figure shows what it has.
    change(&mut journal, |figures| figures.carried_rate_bit_s = None);
    assert_eq!(row(&journal), [1, 1]);
}
