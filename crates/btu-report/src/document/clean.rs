//! What other machines wrote, made harmless: every text of a document passes here once.
//!
//! Host names, notes, paths and causes come from other machines. Control characters could move a
//! terminal's cursor, direction marks could make a line read differently from what it says, and a
//! megabyte of note would bury the report. Escaping for a format is the format's own work.

use super::BarChart;
use super::Block;
use super::Card;
use super::Document;
use super::GroupedBars;
use super::Heatmap;
use super::LineChart;
use super::Pair;
use super::StackedBars;
use super::Table;

/// Longest text kept, in characters; the journal keeps all of it.
pub const LONGEST_TEXT: usize = 2_000;

impl Document {
    /// The same document with harmless texts.
    #[must_use]
    pub(crate) fn cleaned(mut self) -> Self {
        clean(&mut self.title);
        clean(&mut self.caption);
        self.sections.iter_mut().flat_map(|part| &mut part.blocks).for_each(clean_block);
        self
    }
}

fn clean_block(block: &mut Block) {
    match block {
        Block::Bars(chart) => clean_bars(chart),
        Block::Card(card) => clean_card(card),
        Block::Code { text } => *text = harmless(text, Lines::Kept),
        Block::Details { summary, blocks } => {
            clean(summary);
            blocks.iter_mut().for_each(clean_block);
        }
        Block::Facts { rows } => rows.iter_mut().for_each(clean_pair),
        Block::Groups(chart) => clean_groups(chart),
        Block::Heatmap(map) => clean_heatmap(map),
        Block::Lines(chart) => clean_lines(chart),
        Block::List { items } => items.iter_mut().for_each(clean),
        Block::Paragraph { text } => clean(text),
        Block::Sequence(chart) => {
            [&mut chart.title, &mut chart.description, &mut chart.reading, &mut chart.congestion]
                .into_iter()
                .for_each(clean);
            clean_table(&mut chart.table);
        }
        Block::Stacks(chart) => clean_stacks(chart),
        Block::Table(table) => clean_table(table),
    }
}

fn clean_bars(chart: &mut BarChart) {
    [&mut chart.title, &mut chart.description, &mut chart.axis, &mut chart.bar_legend]
        .into_iter()
        .chain(&mut chart.mark_legend)
        .chain(std::iter::once(&mut chart.reading))
        .for_each(clean);
    for bar in &mut chart.bars {
        clean(&mut bar.label);
        clean(&mut bar.sublabel);
        clean(&mut bar.text);
    }
    clean_table(&mut chart.table);
}

fn clean_card(card: &mut Card) {
    card.figures.iter_mut().for_each(|figure| clean(&mut figure.interval));
    card.reasons.iter_mut().for_each(clean);
    clean(&mut card.sentence);
    card.facts.iter_mut().for_each(clean_pair);
}

fn clean_groups(chart: &mut GroupedBars) {
    [&mut chart.title, &mut chart.description, &mut chart.axis, &mut chart.reading]
        .into_iter()
        .chain(&mut chart.series)
        .chain(chart.groups.iter_mut().flat_map(|group| [&mut group.label, &mut group.sublabel]))
        .for_each(clean);
    clean_table(&mut chart.table);
}

fn clean_heatmap(map: &mut Heatmap) {
    [&mut map.title, &mut map.description, &mut map.reading]
        .into_iter()
        .chain(&mut map.rows)
        .chain(&mut map.columns)
        .chain(&mut map.legend)
        .chain(map.groups.iter_mut().map(|group| &mut group.title))
        .for_each(clean);
    clean_table(&mut map.table);
}

fn clean_lines(chart: &mut LineChart) {
    [&mut chart.title, &mut chart.description, &mut chart.reading]
        .into_iter()
        .chain([&mut chart.x.title, &mut chart.y.title])
        .chain(chart.curves.iter_mut().map(|curve| &mut curve.label))
        .chain(chart.ranges.iter_mut().map(|range| &mut range.label))
        .for_each(clean);
    clean_table(&mut chart.table);
}

fn clean_stacks(chart: &mut StackedBars) {
    [&mut chart.title, &mut chart.description, &mut chart.axis, &mut chart.reading]
        .into_iter()
        .chain(&mut chart.parts)
        .for_each(clean);
    for group in &mut chart.groups {
        [&mut group.label, &mut group.sublabel].into_iter().for_each(clean);
        group.bars.iter_mut().for_each(|bar| clean(&mut bar.label));
    }
    clean_table(&mut chart.table);
}

fn clean_table(table: &mut Table) {
    clean(&mut table.title);
    table.columns.iter_mut().for_each(|column| clean(&mut column.title));
    table.rows.iter_mut().flatten().for_each(clean);
}

fn clean_pair(pair: &mut Pair) {
    clean(&mut pair.name);
    clean(&mut pair.value);
}

fn clean(text: &mut String) {
    *text = harmless(text, Lines::Joined);
}

/// What becomes of line breaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    Joined,
    Kept,
}

/// The text without control and direction characters, cut where it is too long.
pub(crate) fn harmless(text: &str, lines: Lines) -> String {
    let mut chars = text.chars();
    let kept: String = chars.by_ref().take(LONGEST_TEXT).map(|c| harmless_char(c, lines)).collect();
    match chars.count() {
        0 => kept,
        more => format!("{kept}... ({more} characters more in the journal)"),
    }
}

fn harmless_char(character: char, lines: Lines) -> char {
    match character {
        '\n' if lines == Lines::Kept => '\n',
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() || steers_direction(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Characters that make text read in another order than it is stored (Unicode, UAX 9), that have
/// no width, or that no file should hold.
fn steers_direction(character: char) -> bool {
    matches!(character,
        '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_cannot_be_steered() {
        let text = harmless("\u{1b}[31mred\u{7}\0 \u{202e}drow\r\nend", Lines::Joined);
        assert_eq!(text, "\u{fffd}[31mred\u{fffd}\u{fffd} \u{fffd}drow  end");
    }

    #[test]
    fn a_long_text_is_cut_with_a_word_about_the_rest() {
        let text = harmless(&"x".repeat(1_000_000), Lines::Joined);
        assert!(text.ends_with("x... (998000 characters more in the journal)"));
    }
}
