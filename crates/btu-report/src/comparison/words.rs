//! Words that comparisons of every verb, and histories, have in common.

use super::ConditionResult;
use super::FactResult;
use crate::document::Block;
use crate::number;

/// A word that a doubt stands beside, where there is one.
pub(super) fn doubted(doubts: &[String], word: &str) -> String {
    if doubts.is_empty() { word.to_owned() } else { format!("{word} {STAR}") }
}

/// What the star at a verdict means, where one of them has it.
pub(super) fn starred(doubts: &[String], is_told: bool) -> Option<Block> {
    let why = doubts.join("; ");
    (is_told && !why.is_empty()).then(|| Block::paragraph(format!("{STAR}: {why}. {UNTOLD}")))
}

/// What became of each condition.
pub(super) fn conditions(all: &[ConditionResult], doubts: &[String]) -> Option<Block> {
    let told = all.iter().map(|one| {
        let verdict = match one {
            one if one.met => "FAILED",
            one if one.open => "NOT TOLD",
            _ => "ok",
        };
        let said =
            if one.said.is_empty() { String::new() } else { format!(": {}", one.said.join("; ")) };
        let told = format!("{verdict}: {}{said}", one.condition);
        if one.met { doubted(doubts, &told) } else { told }
    });
    listed(told.collect())
}

/// `test.system.kernel: 6.18 -> 6.19`
pub(super) fn fact(one: &FactResult) -> String {
    format!("{}: {} -> {}", one.name, one.before, one.after)
}

/// Points, where there are some.
pub(super) fn listed(items: Vec<String>) -> Option<Block> {
    (!items.is_empty()).then_some(Block::List { items })
}

/// `+3.4`, `-12.0`
pub(super) fn percent(ratio: f64) -> String {
    let text = number::percent((ratio - 1.0) * 100.0);
    let positive = !text.starts_with('-') && text.bytes().any(|b| matches!(b, b'1'..=b'9'));
    if positive { format!("+{text}") } else { text }
}

/// `[-1.2, +9.5]`, or a dash.
pub(super) fn percents(bounds: Option<[f64; 2]>) -> String {
    bounds.map_or_else(
        || number::NONE.to_owned(),
        |[low, high]| format!("[{}, {}]", percent(low), percent(high)),
    )
}

const UNTOLD: &str = "The figures differ; whether that is of what was changed on purpose, or of this, \
                      the comparison cannot tell.";
/// Beside a difference that may not be the host's.
const STAR: char = '*';
