//! Markdown with tables, for issues, wikis and reviews.

use super::Format;
use super::Report;
use super::joined;
use crate::document::Align;
use crate::document::Block;
use crate::document::Card;
use crate::document::Level;
use crate::document::Pair;
use crate::document::Part;
use crate::document::Table;

/// For wikis.
#[derive(Debug)]
pub(super) struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "md"
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn summary(&self) -> &'static str {
        "Markdown with tables"
    }

    fn render(&self, report: &Report<'_>) -> Vec<u8> {
        let title = format!("# {}\n", escaped(&report.document.title));
        let parts = report.document.sections.iter().map(part);
        std::iter::once(title).chain(parts).collect::<Vec<_>>().join("\n").into_bytes()
    }
}

fn part(part: &Part) -> String {
    let blocks: Vec<String> = part.blocks.iter().map(block).collect();
    match part.level {
        Level::Headline => blocks.join("\n"),
        _ => format!("## {}\n\n{}", part.title, blocks.join("\n")),
    }
}

fn block(block: &Block) -> String {
    match block {
        // The figures of the bars stand in the section's table.
        Block::Bars(chart) => format!("{}\n", escaped(&chart.reading)),
        Block::Card(content) => card(content),
        Block::Code { text } => format!("{}\n", indented(text)),
        Block::Details { summary, blocks } => {
            let inner: Vec<String> = blocks.iter().map(self::block).collect();
            format!("### {}\n\n{}", escaped(summary), inner.join("\n"))
        }
        Block::Facts { rows } => facts(rows),
        Block::Groups(chart) => captioned(&chart.title, &chart.table, &chart.reading),
        Block::Heatmap(map) => captioned(&map.title, &map.table, &map.reading),
        Block::Lines(chart) => captioned(&chart.title, &chart.table, &chart.reading),
        Block::Sequence(chart) => captioned(&chart.title, &chart.table, &chart.reading),
        Block::List { items } => joined(items.iter().map(|item| format!("* {}\n", escaped(item)))),
        Block::Paragraph { text } => format!("{}\n", escaped(text)),
        Block::Table(content) => table(content),
    }
}

/// Level 1. What must not be missed stands in the line of the score.
fn card(card: &Card) -> String {
    let words: Vec<&str> = card.badges.iter().map(|badge| badge.word).collect();
    let figures = card.figures.iter().enumerate().map(|(place, figure)| {
        let badge = if place == 0 { format!(" **{}**", words.join(", ")) } else { String::new() };
        format!(
            "* **{} {} {}**{badge} ({}): {}\n",
            figure.name,
            figure.value,
            figure.unit,
            escaped(&figure.interval),
            figure.meaning
        )
    });
    let reasons =
        card.reasons.iter().map(|reason| format!("* not rankable: {}\n", escaped(reason)));
    format!(
        "{}\n{}\n\n{}\n{}",
        joined(figures),
        escaped(&card.sentence),
        joined(reasons),
        facts(&card.facts)
    )
}

/// A chart is its table here.
fn captioned(title: &str, content: &Table, reading: &str) -> String {
    format!("### {}\n\n{}\n{}\n", escaped(title), table(content), escaped(reading))
}

fn facts(rows: &[Pair]) -> String {
    let line = |row: &Pair| format!("| {} | {} |\n", escaped(&row.name), escaped(&row.value));
    format!("| | |\n|:--|:--|\n{}", rows.iter().map(line).collect::<String>())
}

fn table(content: &Table) -> String {
    let title = match content.title.as_str() {
        "" => String::new(),
        title => format!("**{}**\n\n", escaped(title)),
    };
    let heads: Vec<String> = content.columns.iter().map(|c| escaped(&c.title)).collect();
    let rules = content.columns.iter().map(|column| match column.align {
        Align::Left => ":--",
        Align::Right => "--:",
    });
    let first_mean = content.rows.len() - content.summary_rows;
    let rows = content.rows.iter().enumerate().map(|(place, row)| {
        let strong = if place >= first_mean { "**" } else { "" };
        let texts = row.iter().map(|text| match text.as_str() {
            "" => String::new(),
            text => format!("{strong}{}{strong}", escaped(text)),
        });
        format!("| {} |\n", texts.collect::<Vec<_>>().join(" | "))
    });
    format!(
        "{title}| {} |\n|{}|\n{}",
        heads.join(" | "),
        rules.collect::<Vec<_>>().join("|"),
        rows.collect::<String>()
    )
}

/// A block of code by indentation: no text can end it, as it could end a fence.
fn indented(text: &str) -> String {
    joined(text.lines().map(|line| format!("    {line}\n")))
}

/// The text with everything escaped that Markdown or HTML would take for its own.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\n' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(character);
            }
            // A colon or an at sign would make a bare address a link.
            ':' if out.ends_with("http") || out.ends_with("https") => out += "&#58;",
            '@' => out += "&#64;",
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(escaped("a|b <i>*x*</i>"), "a\\|b &lt;i&gt;\\*x\\*&lt;/i&gt;");
        assert_eq!(escaped("[x](https://e.org)"), "\\[x\\](https&#58;//e.org)");
    }
}
