//! One page: no network, light and dark, printable, and readable without scripts.
//!
//! The page forbids itself everything but its own style sheet and, where it has curves to zoom, its own
//! script (a content security policy with their hashes), so that a host name that found its way through
//! the escaping could still do nothing.

use std::sync::OnceLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use minijinja::AutoEscape;
use minijinja::Environment;
use minijinja::Value;
use minijinja::context;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;

use super::Format;
use super::Report;
use crate::abreast;
use crate::chart;
use crate::document::Block;
use crate::document::Document;
use crate::document::Part;
use crate::document::Table;

/// For browsers.
#[derive(Debug)]
pub(super) struct Html;

impl Format for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn summary(&self) -> &'static str {
        "one page with charts, readable without scripts, no network"
    }

    fn draws(&self) -> bool {
        true
    }

    fn render(&self, report: &Report<'_>) -> Vec<u8> {
        page(report.document)
    }
}

/// The document as a page.
pub(crate) fn page(document: &Document) -> Vec<u8> {
    let sections: Vec<Value> =
        document.sections.iter().map(|part| section(part, document)).collect();
    let page = context! {
        // Our own constants: the only texts of the page that are not escaped, with the charts.
        policy => Value::from_safe_string(policy(document)),
        script => Value::from_safe_string(script(document)),
        style => Value::from_safe_string(STYLE.to_owned()),
        title => document.title.as_str(),
        caption => document.caption.as_str(),
        sections,
    };
    match environment().get_template("page.html").and_then(|page_| page_.render(page)) {
        Ok(text) => text.into_bytes(),
        Err(error) => unreachable!("the page's template is part of the program: {error:#}"),
    }
}

const STYLE: &str = include_str!("../../assets/style.css");
const PAGE: &str = include_str!("../../assets/page.html");
const ZOOM: &str = include_str!("../../assets/zoom.js");
const SEQUENCE: &str = include_str!("../../assets/sequence.js");

/// What the page may do: apply its own style sheet, show pictures that are part of it, and zoom
/// where there is something to zoom.
fn policy(document: &Document) -> String {
    let allowed: Vec<String> = scripts(document).map(source).collect();
    let script = match allowed.as_slice() {
        [] => String::new(),
        sources => format!("script-src {}; ", sources.join(" ")),
    };
    let style = source(STYLE);
    format!(
        "default-src 'none'; {script}style-src {style}; img-src data:; base-uri 'none'; \
         form-action 'none'"
    )
}

/// The hash by which a policy names what is in the page (Content Security Policy Level 3, 2.3.1).
fn source(text: &str) -> String {
    let hash = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    format!("'sha256-{}'", BASE64_STANDARD.encode(hash))
}

/// The page's own scripts, for pages with something to zoom.
fn script(document: &Document) -> String {
    scripts(document).flat_map(|text| ["<script>", text, "</script>"]).collect()
}

/// Each script that the document needs.
fn scripts(document: &Document) -> impl Iterator<Item = &'static str> {
    let has = |wanted: fn(&Block) -> bool| {
        document.sections.iter().any(|part| part.blocks.iter().any(|block| holds(block, wanted)))
    };
    let lines = has(|block| matches!(block, Block::Lines(_)));
    let sequences = has(|block| matches!(block, Block::Sequence(_)));
    lines.then_some(ZOOM).into_iter().chain(sequences.then_some(SEQUENCE))
}

/// True where the block, or one inside it, is wanted.
fn holds(block: &Block, wanted: fn(&Block) -> bool) -> bool {
    match block {
        Block::Details { blocks, .. } => blocks.iter().any(|inner| holds(inner, wanted)),
        other => wanted(other),
    }
}

/// Everything is escaped, whatever a template is called, and nothing can ask not to be.
fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.remove_filter("safe");
        if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
            environment.set_syntax(syntax);
        }
        if let Err(error) = environment.add_template("page.html", PAGE) {
            unreachable!("the page's template is part of the program: {error:#}");
        }
        environment
    })
}

fn section(part: &Part, document: &Document) -> Value {
    context! {
        name => part.name,
        title => part.title,
        level => part.level.number(),
        // Each may hold a chart of a million points.
        blocks => abreast::map(&rows(&part.blocks), |blocks| row(blocks, document)),
    }
}

/// The blocks that stand in one row: narrow tables that follow each other stand beside each other.
fn rows(blocks: &[Block]) -> Vec<&[Block]> {
    blocks.chunk_by(|a, b| matches!((a, b), (Block::Table(_), Block::Table(_)))).collect()
}

/// A row for the template.
fn row(blocks: &[Block], document: &Document) -> Value {
    match blocks {
        [one] if !matches!(one, Block::Table(_)) => block(one, document),
        several => tables(several),
    }
}

fn tables(run: &[Block]) -> Value {
    let is_wide = |block: &Block| matches!(block, Block::Table(table) if needs_the_width(table));
    let class = if run.len() == 1 || run.iter().any(is_wide) { "tables wide" } else { "tables" };
    context! { kind => "tables", class, tables => Serde(run) }
}

/// True where two of them beside each other would break their words, or be cut off.
fn needs_the_width(table: &Table) -> bool {
    const COLUMNS: usize = 6;
    const CHARACTERS: usize = 48;
    let lengths = |place: usize| {
        table.rows.iter().filter_map(move |row| row.get(place)).map(|text| text.chars().count())
    };
    let longest = (0..table.columns.len()).map(|place| lengths(place).max().unwrap_or(0));
    table.columns.len() > COLUMNS || longest.sum::<usize>() > CHARACTERS
}

/// A block for the template; charts arrive as drawings.
fn block(block: &Block, document: &Document) -> Value {
    match block {
        Block::Bars(bars) => {
            let svg = chart::bars(bars, &document.caption);
            drawn(bars.name, &bars.title, &bars.table, &bars.reading, svg)
        }
        Block::Groups(groups) => {
            let svg = chart::groups(groups, &document.caption);
            drawn(groups.name, &groups.title, &groups.table, &groups.reading, svg)
        }
        Block::Heatmap(map) => {
            let svg = chart::heatmap(map, &document.caption);
            drawn(map.name, &map.title, &map.table, &map.reading, svg)
        }
        Block::Lines(chart) => {
            let svg = chart::lines(chart, &document.caption);
            drawn(chart.name, &chart.title, &chart.table, &chart.reading, svg)
        }
        Block::Sequence(chart) => {
            let svg = chart::sequence(chart, &document.caption);
            drawn(&chart.name, &chart.title, &chart.table, &chart.reading, svg)
        }
        Block::Stacks(chart) => {
            let svg = chart::stacks(chart, &document.caption);
            drawn(chart.name, &chart.title, &chart.table, &chart.reading, svg)
        }
        Block::Details { summary, blocks } => context! {
            kind => "details",
            summary,
            blocks => rows(blocks).into_iter().map(|one| row(one, document)).collect::<Vec<_>>(),
        },
        other => Value::from(Serde(other)),
    }
}

/// A drawing with its figures and how to read them.
fn drawn(name: &str, title: &str, table: &Table, reading: &str, svg: String) -> Value {
    let svg = Value::from_safe_string(svg);
    context! { kind => "chart", name, title, table => Serde(table), reading, svg }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Column;

    #[test]
    fn the_template_asks_for_nothing_unescaped_and_nothing_inline() {
        for word in
            ["|safe", "| safe", "autoescape", "style=", "<script", "http://", "https://", "onclick"]
        {
            assert!(!PAGE.contains(word), "{word}");
        }
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import") && !STYLE.contains('<'));
    }

    #[test]
    fn tables_stand_beside_each_other_where_their_rows_have_room() {
        let of = |row: [&str; 6]| Table {
            title: String::new(),
            columns: ["case", "a", "b", "c", "d", "e"].map(Column::right).into(),
            rows: vec![row.map(ToOwned::to_owned).into()],
            summary_rows: 0,
        };
        assert!(!needs_the_width(&of(["SEND_RECV", "522", "1949", "2253", "5619", "38891"])));
        let compared = ["SEND_RECV, penalty", "3.48", "3.69", "+6.0", "[-2.6, +15.3]", "not shown"];
        assert!(needs_the_width(&of(compared)));
    }

    #[test]
    fn the_first_column_is_aligned_as_its_heading() {
        assert!(!STYLE.contains("tbody th { text-align"), "by class alone, as all other columns");
        assert!(
            PAGE.contains(
                r#"<th scope="row"{% if content.columns[0].align == "left" %} class="l""#
            )
        );
    }

    #[test]
    fn every_template_escapes_whatever_its_name() {
        let mut environment = environment().clone();
        for name in ["a.svg", "b.txt", "c"] {
            environment.add_template(name, "{{ text }}").unwrap();
            let shown = environment.get_template(name).unwrap().render(context! { text => "<" });
            assert_eq!(shown.unwrap(), "&lt;", "{name}");
        }
    }
}
