//! Plain text for terminals: prose at 80 columns, tables as wide as their columns need, no escape codes, levels 1 and 2
//! first.

use comfy_table::CellAlignment;
use comfy_table::ColumnConstraint;
use comfy_table::ContentArrangement;
use comfy_table::LineStyle;
use comfy_table::TableStyle;
use comfy_table::Width;

use super::Format;
use super::Report;
use super::joined;
use crate::document::Align;
use crate::document::BarChart;
use crate::document::Block;
use crate::document::Card;
use crate::document::Document;
use crate::document::Level;
use crate::document::Pair;
use crate::document::Part;
use crate::document::Table;

/// For terminals.
#[derive(Debug)]
pub(super) struct Text;

impl Format for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn summary(&self) -> &'static str {
        "plain text: prose at 80 columns, tables as wide as they need"
    }

    fn render(&self, report: &Report<'_>) -> Vec<u8> {
        let parts = report.document.sections.iter().filter_map(part);
        parts.collect::<Vec<_>>().join("\n").into_bytes()
    }
}

/// Blocks without a section around them.
pub(crate) fn blocks_as_text(blocks: &[Block]) -> String {
    let shown = blocks.iter().map(block).filter(|text| !text.is_empty());
    shown.collect::<Vec<_>>().join("\n")
}

/// Levels 1 and 2 for a terminal: what a run prints at its end.
pub fn headline_text(document: &Document) -> String {
    let brief = document.sections.iter().filter(|part| part.level <= Level::Applications);
    let blocks = brief.flat_map(|part| &part.blocks);
    let shown = blocks.filter(|block| matches!(block, Block::Card(_) | Block::Table(_)));
    shown.map(block).collect::<Vec<_>>().join("\n")
}

/// Of prose, and of tables whose names may take more lines: numbers stay whole.
const WIDTH: usize = 80;

/// The section, unless all of its blocks are pictures.
fn part(part: &Part) -> Option<String> {
    let blocks: Vec<String> = part.blocks.iter().map(block).filter(|b| !b.is_empty()).collect();
    let body = blocks.join("\n");
    match part.level {
        _ if blocks.is_empty() => None,
        Level::Headline => Some(body),
        _ => Some(format!("{}\n{}\n\n{body}", part.title, "=".repeat(part.title.len()))),
    }
}

fn block(block: &Block) -> String {
    match block {
        Block::Bars(chart) => bars(chart),
        Block::Card(content) => card(content),
        Block::Code { text } => indented(text),
        Block::Details { summary, blocks } => {
            let inner: Vec<String> = blocks.iter().map(self::block).collect();
            format!("{summary}\n{}\n{}", "-".repeat(summary.chars().count()), inner.join("\n"))
        }
        Block::Facts { rows } => facts(rows),
        Block::Groups(chart) => format!("{}\n{}", chart.title, table(&chart.table)),
        // Neither colours nor curves exist here: tables of other sections hold the figures.
        Block::Heatmap(_) | Block::Lines(_) | Block::Sequence(_) | Block::Stacks(_) => {
            String::new()
        }
        Block::List { items } => items.iter().map(|item| hanging("* ", item)).collect(),
        Block::Paragraph { text } => hanging("", text),
        Block::Table(content) => table(content),
    }
}

/// Level 1. What must not be missed stands in the line of the score.
fn card(card: &Card) -> String {
    let mut out = String::new();
    let words: Vec<&str> = card.badges.iter().map(|badge| badge.word).collect();
    for (place, figure) in card.figures.iter().enumerate() {
        let mut lead = format!("{:<10}{:>7} {:<6}", figure.name, figure.value, figure.unit);
        if place == 0 {
            out += &hanging(&lead, &words.join(", "));
            lead = " ".repeat(lead.chars().count());
        }
        out += &hanging(&lead, &figure.interval);
    }
    out += "\n";
    out += &hanging("", &card.sentence);
    let reasons = card.reasons.iter().map(|reason| hanging("* not rankable: ", reason));
    out.extend(reasons);
    out += "\n";
    out + &facts(&card.facts)
}

/// The chart as one line per bar; the figures stand in the section's table.
fn bars(chart: &BarChart) -> String {
    let values = chart.bars.iter().filter_map(|bar| bar.value);
    let longest = values.fold(0.0_f64, f64::max);
    let label = chart.bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0);
    let lines = chart.bars.iter().map(|bar| {
        let drawn = "#".repeat(cells_of(bar.value.unwrap_or(0.0), longest));
        format!("  {:<label$}  {drawn} {}\n", bar.label, bar.text)
    });
    format!("{} ({})\n{}", chart.title, chart.axis, lines.collect::<String>())
}

/// Length of a bar in characters.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a value between 0 and the length of a line"
)]
fn cells_of(value: f64, longest: f64) -> usize {
    const LONGEST: f64 = 48.0;
    if longest > 0.0 { (LONGEST * value / longest).round().clamp(0.0, LONGEST) as usize } else { 0 }
}

fn facts(rows: &[Pair]) -> String {
    let widest = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).min(28);
    let line = |row: &Pair| hanging(&format!("{:<widest$}  ", row.name), &row.value);
    rows.iter().map(line).collect()
}

fn table(content: &Table) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(WIDTH).unwrap_or(u16::MAX));
    table.set_header(content.columns.iter().map(|column| column.title.as_str()));
    let (measured, means) = content.rows.split_at(content.rows.len() - content.summary_rows);
    table.add_rows(measured.iter().map(|row| row.iter().map(String::as_str)));
    table.add_row_if(|_, _| !means.is_empty(), [RULE]);
    table.add_rows(means.iter().map(|row| row.iter().map(String::as_str)));
    let widest: Vec<usize> =
        table.column_max_content_widths().into_iter().map(usize::from).collect();
    let narrowest = narrowest(content, &widest);
    let last = content.columns.len().saturating_sub(1);
    for (place, (column, described)) in table.column_iter_mut().zip(&content.columns).enumerate() {
        column.set_padding((0, u16::from(place < last)));
        let width = u16::try_from(narrowest[place]).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
        if described.align == Align::Right {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    titled(&content.title, &ruled(&table))
}

/// How narrow each column may become, with its space; another one stands between two. Numbers are whole, and so are words
/// of a last column: names before it take more lines where a line has no room for both.
fn narrowest(content: &Table, widest: &[usize]) -> Vec<usize> {
    let last = content.columns.len().saturating_sub(1);
    let aligned = |place: usize| content.columns[place].align;
    let width = |place: usize| match (aligned(place), place < last) {
        (Align::Right, _) => widest[place] + usize::from(place < last),
        (Align::Left, true) => widest[place].min(LONGEST_NAME) + 1,
        (Align::Left, false) => longest_word(content, place),
    };
    let mut found: Vec<usize> = (0..=last).map(width).collect();
    if aligned(last) == Align::Left {
        let over = (found.iter().sum::<usize>() + last).saturating_sub(WIDTH);
        let names: Vec<usize> = (0..last).filter(|place| aligned(*place) == Align::Left).collect();
        for place in &names {
            let narrow = found[*place].saturating_sub(over.div_ceil(names.len()));
            found[*place] = narrow.max(longest_word(content, *place) + 1);
        }
    }
    found
}

fn longest_word(content: &Table, place: usize) -> usize {
    let texts = content.rows.iter().filter_map(|row| row.get(place));
    let title = std::iter::once(&content.columns[place].title);
    let words = title.chain(texts).flat_map(|text| text.split_whitespace());
    words.map(|word| word.chars().count()).max().unwrap_or(0).min(LONGEST_NAME)
}

/// Characters of a name in a line of a table, where there is room.
const LONGEST_NAME: usize = 28;

fn titled(title: &str, body: &str) -> String {
    if title.is_empty() { body.to_owned() } else { hanging("", title) + body }
}

/// The lines of the table, with a rule above its means.
fn ruled(table: &comfy_table::Table) -> String {
    let is_rule = |line: &str| line.starts_with("--") || line.contains(RULE);
    let widest = table.lines().filter(|line| !is_rule(line)).map(|l| l.trim_end().chars().count());
    let rule = "-".repeat(widest.max().unwrap_or(0));
    let lines = table.lines().map(|line| if is_rule(&line) { rule.clone() } else { line });
    joined(lines.map(|line| format!("{}\n", line.trim_end())))
}

/// Where a rule stands above the means: a character that no cleaned text holds.
const RULE: &str = "\u{1}";

/// Only the headings are underlined.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-'));

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect()
}

/// The text broken into lines of 80 columns; those after the first stand below the end of `lead`.
pub fn hanging(lead: &str, text: &str) -> String {
    let indent = lead.chars().count();
    broken(lead, words(text).flat_map(|word| pieces(word, indent)))
}

/// The same, but a word that is longer than its line stays whole, and so does what [`UNBROKEN_SPACE`] holds together,
/// with plain spaces then: paths and commands that people paste.
pub fn hanging_whole(lead: &str, text: &str) -> String {
    broken(lead, words(text).map(str::to_owned)).replace(UNBROKEN_SPACE, " ")
}

/// Where [`hanging_whole`] ends no line.
pub const UNBROKEN_SPACE: &str = "\u{a0}";

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|word| !word.is_empty())
}

fn broken(lead: &str, words: impl Iterator<Item = String>) -> String {
    let indent = lead.chars().count();
    let mut out = lead.to_owned();
    let mut used = indent;
    for word in words {
        let length = word.chars().count();
        if used > indent && used + 1 + length > WIDTH {
            out += "\n";
            out += &" ".repeat(indent);
            used = indent;
        } else if used > indent {
            out += " ";
            used += 1;
        }
        out += &word;
        used += length;
    }
    out.trim_end().to_owned() + "\n"
}

/// A word cut to pieces that fit a line.
fn pieces(word: &str, indent: usize) -> Vec<String> {
    let fits = WIDTH.saturating_sub(indent).max(8);
    let chars: Vec<char> = word.chars().collect();
    chars.chunks(fits).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Column;

    #[test]
    fn long_text_hangs_below_its_lead() {
        let text = hanging("* ", &"word ".repeat(20));
        assert!(text.lines().all(|line| line.len() <= WIDTH));
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("  word")));
    }

    /// `at least 9.40 Mb/s` and its interval leave five characters for the cells, and those are not one below the other.
    #[test]
    fn the_words_of_a_last_column_stay_whole_and_names_before_it_give_way() {
        let columns = ["value", "95 % interval", "passes"].map(Column::right);
        let columns = [Column::left("figure")].into_iter().chain(columns);
        let row =
            ["round trips per minute under load", "at least 9.40 Mb/s", "7.54 Mb/s to 11.7 Mb/s"];
        let content = Table {
            title: String::new(),
            columns: columns.chain([Column::left("cells")]).collect(),
            rows: vec![row.into_iter().chain(["3", "14, 16 to 18"]).map(str::to_owned).collect()],
            summary_rows: 0,
        };
        let text = table(&content);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for whole in ["  cells", "14,", "at least 9.40 Mb/s", "round trips per"] {
            assert!(text.contains(whole), "no {whole} in\n{text}");
        }
    }

    #[test]
    fn a_word_longer_than_the_line_is_cut() {
        assert!(hanging("", &"x".repeat(200)).lines().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn where_it_is_to_stay_whole_no_word_is_cut_and_no_unbroken_space_ends_a_line() {
        let long = "x".repeat(200);
        let held = ["tool", "--option", "operand"].join(UNBROKEN_SPACE);
        let text = hanging_whole("* ", &format!("{} {held} {long} end", "word ".repeat(14)));
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines[1..], ["tool --option operand", &long, "end"]);
    }
}
