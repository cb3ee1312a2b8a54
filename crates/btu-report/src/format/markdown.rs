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
    let blocks = composed(&part.blocks);
    match part.level {
        Level::Headline => blocks,
        _ => format!("## {}\n\n{blocks}", part.title),
    }
}

/// What there is of these blocks, a line between any two.
fn composed(blocks: &[Block]) -> String {
    let written = blocks.iter().map(block).filter(|text| !text.is_empty());
    written.collect::<Vec<_>>().join("\n")
}

fn block(block: &Block) -> String {
    match block {
        // The figures of the bars stand in the section's table, and how to read a picture helps nobody who has none.
        Block::Bars(_) | Block::Stacks(_) => String::new(),
        Block::Card(content) => card(content),
        Block::Code { text } => format!("{}\n", indented(text)),
        Block::Details { summary, blocks } => {
            format!("### {}\n\n{}", escaped(summary), composed(blocks))
        }
        Block::Facts { rows } => facts(rows),
        Block::Groups(chart) => captioned(&chart.title, &chart.table),
        Block::Heatmap(map) => captioned(&map.title, &map.table),
        Block::Lines(chart) => captioned(&chart.title, &chart.table),
        Block::Sequence(chart) => captioned(&chart.title, &chart.table),
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
        let interval = match figure.interval.as_str() {
            "" => String::new(),
            interval => format!(" ({})", escaped(interval)),
        };
        let value = format!("{} {} {}", figure.name, figure.value, figure.unit);
        format!("* **{}**{badge}{interval}: {}\n", value.trim_end(), figure.meaning)
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
fn captioned(title: &str, content: &Table) -> String {
    format!("### {}\n\n{}", escaped(title), table(content))
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
    for (place, character) in text.char_indices() {
        let rest = &text[place + character.len_utf8()..];
        match character {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\n' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(character);
            }
            // What GitHub takes for a link without brackets: an address with or without a scheme ...
            ':' if rest.starts_with("//") => out += "&#58;",
            '.' if ends_with_www(&text[..place]) => out += "&#46;",
            // ... and one of mail or of a person, even where the sign is escaped, but not in code.
            '@' if names_somebody(rest) => out += "`@`",
            '@' => out += "&#64;",
            other => out.push(other),
        }
    }
    out
}

/// `www` as a word of its own.
fn ends_with_www(text: &str) -> bool {
    let mut last = text.chars().rev();
    let is_www = last.by_ref().take(3).filter(|c| c.eq_ignore_ascii_case(&'w')).count() == 3;
    is_www && !last.next().is_some_and(char::is_alphanumeric)
}

/// True where an at sign stands before a name or a domain, and not before a figure: `1@200/400`.
fn names_somebody(rest: &str) -> bool {
    let word = rest.split(|c: char| !c.is_alphanumeric() && !"-_.".contains(c)).next();
    word.is_some_and(|word| word.contains(|c: char| c.is_alphabetic() || c == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Figure;

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(escaped("a|b <i>*x*</i>"), "a\\|b &lt;i&gt;\\*x\\*&lt;/i&gt;");
        assert_eq!(escaped("[x](https://e.org)"), "\\[x\\](https&#58;//e.org)");
    }

    #[test]
    fn a_figure_without_interval_has_no_parentheses() {
        let figure = |interval: &str, unit| Figure {
            name: "W",
            value: "34.9".to_owned(),
            unit,
            interval: interval.to_owned(),
            meaning: "delay",
        };
        let said = card(&Card {
            figures: vec![figure("34 to 36", "ms"), figure("", "ms"), figure("", "")],
            badges: Vec::new(),
            reasons: Vec::new(),
            sentence: String::new(),
            facts: Vec::new(),
        });
        let wanted = [
            "* **W 34.9 ms** **** (34 to 36): delay",
            "* **W 34.9 ms**: delay",
            "* **W 34.9**: delay",
        ];
        assert_eq!(said.lines().take(3).collect::<Vec<_>>(), wanted);
    }

    /// What the autolinks of GitHub Flavored Markdown (6.9) look like, in any case.
    #[test]
    fn no_bare_address_becomes_a_link() {
        for (text, kept) in [
            ("HTTPS://e.org", "HTTPS&#58;//e.org"),
            ("ftp://e.org, Http://e.org", "ftp&#58;//e.org, Http&#58;//e.org"),
            ("www.e.org/login", "www&#46;e.org/login"),
            ("(WwW.e.org)", "(WwW&#46;e.org)"),
            ("a@e.org, mailto:a@e.org", "a`@`e.org, mailto:a`@`e.org"),
            ("@anna: drop 1@200/400", "`@`anna: drop 1&#64;200/400"),
            ("`@anna`", "\\``@`anna\\`"),
            ("xwww.e.org, www", "xwww.e.org, www"),
            ("test-active: 7.5 ms, 0:01", "test-active: 7.5 ms, 0:01"),
        ] {
            assert_eq!(escaped(text), kept);
        }
    }
}
