//! The comparison for people: what was asked for otherwise, then every figure.

use btu_core::words::several;

use super::PairedChange;
use super::PairedDocument;
use super::PairedSide;
use crate::comparison::words;
use crate::document::Block;
use crate::document::Column;
use crate::document::Document;
use crate::document::Level;
use crate::document::Pair;
use crate::document::Part;
use crate::document::Table;
use crate::number;

/// The comparison before it has a form.
pub(super) fn composed(found: &PairedDocument) -> Document {
    let part = |name, title, level, blocks| Part { name, title, level, blocks };
    let sections = vec![
        part("comparison", "Comparison", Level::Headline, headline(found)),
        part("figures", "Every figure", Level::Applications, figures(found)),
        part("not-compared", "What one side has alone", Level::Abnormal, not_compared(found)),
    ];
    let document = Document {
        title: title(found),
        caption: format!("{} | {}", found.before.host, found.after.host),
        sections: sections.into_iter().filter(|part| !part.blocks.is_empty()).collect(),
    };
    document.cleaned()
}

fn title(found: &PairedDocument) -> String {
    let doubt = if found.comparable { "" } else { "NOT COMPARABLE: " };
    format!("{doubt}{} against {}", found.after.marked(), found.before.marked())
}

fn headline(found: &PairedDocument) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(title(found))];
    if !found.comparable {
        blocks.push(Block::paragraph("These results are of different things:"));
        blocks.extend(words::listed(found.differences.clone()));
    }
    let altered = [&found.before, &found.after].into_iter().flat_map(|side| {
        side.altered.iter().map(|what| format!("{}: {what}", side.name)).collect::<Vec<_>>()
    });
    blocks.extend(words::listed(altered.collect()));
    blocks.extend(changed("The plans differ:", &found.plan));
    blocks.extend(changed("What is disclosed of the hosts differs:", &found.disclosure));
    blocks.push(Block::paragraph(summary(found)));
    blocks.extend(words::conditions(&found.conditions, &found.doubts));
    blocks.push(Block::Facts { rows: [&found.before, &found.after].map(side).into() });
    blocks
}

fn changed(heading: &str, facts: &[crate::comparison::FactResult]) -> Vec<Block> {
    let list = words::listed(facts.iter().map(words::fact).collect());
    list.map_or_else(Vec::new, |list| vec![Block::paragraph(heading), list])
}

/// How many figures moved, of those of which anything can be said.
fn summary(found: &PairedDocument) -> String {
    let told = |is: fn(&&PairedChange) -> bool| found.changes.iter().filter(is).count();
    let all = several(found.changes.len(), "figure");
    let judged = told(|one| one.change.different.is_some());
    let moved = told(|one| one.worse.is_some());
    let worse = told(|one| one.worse == Some(true));
    format!(
        "{all} on both sides, {judged} of them judged: {moved} different, {worse} of these worse."
    )
}

fn side(side: &PairedSide) -> Pair {
    let when = side.started_at.as_deref().unwrap_or("at an unknown time");
    Pair::new(side.name.as_str(), format!("{}; {when}; {}", side.host, side.trust))
}

fn figures(found: &PairedDocument) -> Vec<Block> {
    if found.changes.is_empty() {
        return vec![Block::paragraph("No figure stands on both sides.")];
    }
    let columns = vec![
        Column::left("figure"),
        Column::left("unit"),
        Column::right("before"),
        Column::right("after"),
        Column::right("change %"),
        Column::right("95 % interval"),
        Column::left(""),
    ];
    let rows = found.changes.iter().map(|one| row(found, one)).collect();
    let mut blocks =
        vec![Block::Table(Table { title: String::new(), columns, rows, summary_rows: 0 })];
    blocks.push(Block::paragraph(READING));
    let is_told = found.changes.iter().any(|one| one.worse.is_some())
        || found.conditions.iter().any(|one| one.met);
    blocks.extend(words::starred(&found.doubts, is_told));
    let reason = found.changes.iter().find_map(|one| one.change.ratio_ci95_reason.as_deref());
    blocks.extend(reason.map(|reason| {
        Block::paragraph(format!("Without an interval there is no verdict: {reason}."))
    }));
    blocks
}

fn row(found: &PairedDocument, one: &PairedChange) -> Vec<String> {
    vec![
        one.change.figure.clone(),
        one.unit.to_owned(),
        number::any_figure(one.change.before),
        number::any_figure(one.change.after),
        words::percent(one.change.ratio),
        words::percents(one.change.ratio_ci95),
        verdict(found, one),
    ]
}

fn verdict(found: &PairedDocument, one: &PairedChange) -> String {
    match (one.change.different, one.worse) {
        (Some(true), Some(true)) => words::doubted(&found.doubts, "different, worse"),
        (Some(true), _) => words::doubted(&found.doubts, "different, better"),
        (Some(false), _) => "not shown".to_owned(),
        (None, _) => String::new(),
    }
}

fn not_compared(found: &PairedDocument) -> Vec<Block> {
    let told = found.not_compared.iter().map(|one| format!("{}: {}", one.figure, one.reason));
    words::listed(told.collect()).into_iter().collect()
}

const READING: &str = "The change is the ratio of geometric means over rounds, after by before; its interval is Welch's, on \
                       the logs of the rounds of both. Different: the interval holds no zero, the change exceeds 2 %, and \
                       so it is after Holm's correction over all figures: of so many some change by chance. Not shown: \
                       anything else, so that no difference was shown, and none was ruled out.";
