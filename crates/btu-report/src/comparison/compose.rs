//! The comparison for people: the verdict first, then every part, then what else changed.

use btu_core::words::several;

use super::ChangeResult;
use super::ComparisonDocument;
use super::Side;
use super::SurroundingResult;
use super::words;
use crate::document::Block;
use crate::document::Column;
use crate::document::Document;
use crate::document::Level;
use crate::document::Pair;
use crate::document::Part;
use crate::document::Table;
use crate::number;

/// The comparison before it has a form.
pub fn compose_comparison(found: &ComparisonDocument) -> Document {
    let part = |name, title, level, blocks| Part { name, title, level, blocks };
    let sections = vec![
        part("comparison", "Comparison", Level::Headline, headline(found)),
        part("parts", "By application, case and activity", Level::Applications, parts(found)),
        part("cells", "Every cell", Level::Cells, cells(found)),
        part("surroundings", "Beside the runs", Level::Appendix, surroundings(found)),
        part("disclosure", "What changed in the disclosure", Level::Appendix, disclosure(found)),
    ];
    let document = Document {
        title: title(found),
        caption: format!("{} | {}", found.before.host, found.after.host),
        sections: sections.into_iter().filter(|part| !part.blocks.is_empty()).collect(),
    };
    document.cleaned()
}

fn title(found: &ComparisonDocument) -> String {
    let doubt = if found.comparable { "" } else { "NOT COMPARABLE: " };
    format!("{doubt}{} against {}", found.after.marked(), found.before.marked())
}

fn headline(found: &ComparisonDocument) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(title(found))];
    if !found.comparable {
        let items = found.differences.clone();
        blocks.push(Block::paragraph("These results were measured under different rules:"));
        blocks.push(Block::List { items });
    }
    blocks.extend(of_sides(found, |side| side.altered.clone()));
    blocks.extend(meanwhile(found));
    let whole: Vec<&ChangeResult> =
        found.changes.iter().filter(|one| !one.figure.contains('.')).collect();
    blocks.push(Block::Table(table(found, "", &whole, named)));
    blocks.extend(words::conditions(&found.conditions, &found.doubts));
    blocks.push(Block::Facts { rows: [&found.before, &found.after].map(side).into() });
    blocks.extend(of_sides(found, |side| {
        side.not_rankable_reasons.iter().map(|why| format!("not rankable: {why}")).collect()
    }));
    blocks.push(Block::paragraph(READING));
    blocks.extend(words::starred(&found.doubts, is_told(found)));
    blocks.extend(unjudged(&whole).map(Block::paragraph));
    blocks
}

/// What is to be known of each side, with its name.
fn of_sides(found: &ComparisonDocument, what: impl Fn(&Side) -> Vec<String>) -> Option<Block> {
    let of = |side: &Side| {
        what(side).into_iter().map(|what| format!("{}: {what}", side.name)).collect::<Vec<_>>()
    };
    let items: Vec<String> = [&found.before, &found.after].into_iter().flat_map(of).collect();
    (!items.is_empty()).then_some(Block::List { items })
}

/// True where a verdict may have a star.
fn is_told(found: &ComparisonDocument) -> bool {
    let mut all = found.changes.iter().chain(&found.cells);
    all.any(|one| one.different == Some(true)) || found.conditions.iter().any(|one| one.met)
}

/// Why figures have no interval, and so no verdict.
fn unjudged(whole: &[&ChangeResult]) -> Option<String> {
    let reason = whole.iter().find_map(|one| one.ratio_ci95_reason.as_deref())?;
    Some(format!("Without an interval there is no verdict: {reason}."))
}

const READING: &str = "btu and idle are in Mb/s, busy and idle host; penalty is how many times \
                       longer the host's own work takes beside the traffic. The interval is that of \
                       the change, over passes. Different: the interval holds no zero, and the change \
                       exceeds 2 %; of a part, and of a cell, also after Holm's correction over all parts, and over \
                       all cells: of so many figures some change by chance. \
                       CENSORED: a run met its cap, or failed, or its activity finished nothing, so that a side is a bound. Not shown: anything else, so that no difference was shown, and none was ruled out.";

fn side(side: &Side) -> Pair {
    let passes = several(side.passes, "pass");
    let when = side.started_at.clone().unwrap_or_else(|| "at an unknown time".to_owned());
    Pair::new(side.name.as_str(), format!("{}; {when}; {passes}; {}", side.host, side.trust))
}

fn parts(found: &ComparisonDocument) -> Vec<Block> {
    let of = |kind: &'static str| {
        let prefix = format!("{kind}.");
        let own: Vec<&ChangeResult> =
            found.changes.iter().filter(|one| one.figure.starts_with(&prefix)).collect();
        let short = move |figure: &str| figure.trim_start_matches(&prefix).replace('.', ", ");
        (!own.is_empty()).then(|| Block::Table(table(found, kind, &own, short)))
    };
    ["application", "case", "activity"].into_iter().filter_map(of).collect()
}

fn cells(found: &ComparisonDocument) -> Vec<Block> {
    if found.cells.is_empty() {
        return Vec::new();
    }
    let all: Vec<&ChangeResult> = found.cells.iter().collect();
    let moved: Vec<&ChangeResult> =
        all.iter().filter(|one| one.different == Some(true)).copied().collect();
    let short = |figure: &str| figure.trim_start_matches("cell.").to_owned();
    let mut blocks = vec![Block::paragraph(summary(&moved, &all))];
    if !moved.is_empty() {
        let table = table(found, "different cells, Mb/s", &moved, short);
        blocks.push(Block::Table(table));
    }
    let table = table(found, "Mb/s", &all, short);
    blocks.push(Block::details("All cells", vec![Block::Table(table)]));
    blocks
}

/// How many cells moved, of those of which anything can be said.
fn summary(moved: &[&ChangeResult], all: &[&ChangeResult]) -> String {
    let (cells, judged) = (all.len(), all.iter().filter(|one| one.different.is_some()).count());
    let are = if moved.len() == 1 { "is" } else { "are" };
    let of = match judged {
        0 => return format!("Nothing is said of the {}.", several(cells, "cell")),
        judged if judged == cells => several(cells, "cell"),
        judged => format!("{judged} cells that are judged"),
    };
    format!("{} of {of} {are} different (Holm's correction over the table).", moved.len())
}

fn named(figure: &str) -> String {
    figure.to_owned()
}

fn table(
    found: &ComparisonDocument,
    title: &str,
    changes: &[&ChangeResult],
    name: impl Fn(&str) -> String,
) -> Table {
    let row = |one: &&ChangeResult| {
        vec![
            name(&one.figure),
            number::figure(one.before),
            number::figure(one.after),
            words::percent(one.ratio),
            words::percents(one.ratio_ci95),
            verdict(one, found),
        ]
    };
    Table {
        title: String::new(),
        columns: vec![
            Column::left(if title.is_empty() { "figure" } else { title }),
            Column::right("before"),
            Column::right("after"),
            Column::right("change %"),
            Column::right("95 % interval"),
            Column::left(""),
        ],
        rows: changes.iter().map(row).collect(),
        summary_rows: 0,
    }
}

/// The verdict on a figure. A difference that disturbance may have made has a star, where it stands.
fn verdict(change: &ChangeResult, found: &ComparisonDocument) -> String {
    match change.different {
        Some(true) => return words::doubted(&found.doubts, "different"),
        Some(false) => "not shown",
        None if change.is_bound() => "CENSORED",
        None => "",
    }
    .to_owned()
}

/// What of the machine moved between them: the figures may differ by that alone.
fn meanwhile(found: &ComparisonDocument) -> Option<Block> {
    let told = found.moved().map(|one| {
        let [before, after] = [one.before, one.after].map(reading);
        format!("the machine was not the same: {}: {before} before, {after} after", one.about)
    });
    let items: Vec<String> = told.collect();
    (!items.is_empty()).then_some(Block::List { items })
}

fn surroundings(found: &ComparisonDocument) -> Vec<Block> {
    let row = |one: &SurroundingResult| {
        let moved = if one.moved == Some(true) { "moved" } else { "" };
        let [before, after] = [one.before, one.after].map(reading);
        vec![one.about.to_owned(), before, after, moved.to_owned()]
    };
    let rows: Vec<Vec<String>> = found.surroundings.iter().map(row).collect();
    let columns = vec![
        Column::left("test host"),
        Column::right("before"),
        Column::right("after"),
        Column::left(""),
    ];
    let table = Table { title: String::new(), columns, rows, summary_rows: 0 };
    if table.rows.is_empty() { Vec::new() } else { vec![Block::Table(table)] }
}

fn reading(value: Option<f64>) -> String {
    value.map_or_else(|| number::NONE.to_owned(), |value| number::measured(value, ""))
}

fn disclosure(found: &ComparisonDocument) -> Vec<Block> {
    if found.disclosure.is_empty() {
        return vec![Block::paragraph("Nothing that is disclosed of the hosts changed.")];
    }
    vec![Block::List { items: found.disclosure.iter().map(words::fact).collect() }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::ConditionResult;

    /// A figure with an interval, or the reason why it has none.
    fn figure(different: Option<bool>, reason: Option<&str>) -> ChangeResult {
        ChangeResult {
            figure: "btu".to_owned(),
            before: 60.8,
            after: 24.0,
            ratio: 0.395,
            change_percent: -60.5,
            ratio_ci95: reason.map_or(Some([0.3, 0.5]), |_| None),
            ratio_ci95_reason: reason.map(ToOwned::to_owned),
            different,
            different_reason: None,
        }
    }

    /// A comparison with such figures, of which that is to be doubted.
    fn compared(changes: Vec<ChangeResult>, doubts: &[&str]) -> ComparisonDocument {
        let side = |name: &str| Side { name: name.to_owned(), ..Side::default() };
        ComparisonDocument {
            schema_version: "2.1.0",
            comparable: true,
            differences: Vec::new(),
            before: side("a"),
            after: side("b"),
            changes,
            cells: Vec::new(),
            surroundings: Vec::new(),
            doubts: doubts.iter().map(|why| (*why).to_owned()).collect(),
            disclosure: Vec::new(),
            conditions: Vec::new(),
        }
    }

    /// What a reader sees.
    fn told(found: &ComparisonDocument) -> String {
        let content = crate::format::Content::Comparison(found);
        let text = crate::format::render_content("text", &compose_comparison(found), content);
        String::from_utf8(text.unwrap()).unwrap()
    }

    #[test]
    fn a_difference_beside_a_disturbed_side_has_a_star_and_the_star_its_reason() {
        let figures = || vec![figure(Some(true), None), figure(Some(false), None)];
        let said = told(&compared(figures(), &["b is DISTURBED"]));
        assert!(said.contains("[-70.0, -50.0]  different *\n"), "{said}");
        assert!(said.contains("[-70.0, -50.0]  not shown\n"), "{said}");
        assert!(said.contains("\n*: b is DISTURBED. "), "{said}");
        let said = told(&compared(vec![figure(Some(false), None)], &["b is DISTURBED"]));
        assert!(!said.contains('*'), "nothing is different: {said}");
        let said = told(&compared(figures(), &[]));
        assert!(said.contains("  different\n") && !said.contains('*'), "{said}");
        let met = ConditionResult {
            condition: "btu<-5%".to_owned(),
            met: true,
            open: false,
            said: vec!["btu -60.5 %".to_owned()],
        };
        let failed =
            ComparisonDocument { conditions: vec![met], ..compared(Vec::new(), &["it moved"]) };
        assert!(told(&failed).contains("FAILED: btu<-5%: btu -60.5 % *\n"), "{}", told(&failed));
    }

    #[test]
    fn figures_without_an_interval_have_their_reason() {
        let [sure, unsure] = [figure(None, None), figure(None, Some("2 and 5 passes"))];
        assert_eq!(unjudged(&[&sure]), None);
        let said = unjudged(&[&sure, &unsure]).unwrap();
        assert!(said.ends_with("no verdict: 2 and 5 passes."), "{said}");
    }
}
