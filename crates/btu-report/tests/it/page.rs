//! The page: its size, its structure, its policy, its colours.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::analysis::analyse;
use btu_report::compose;
use btu_report::render;

use crate::fixture;
use crate::markup::elements;
use crate::markup::tags;

pub(crate) fn page(journal: &Journal) -> String {
    let analysis = analyse(journal);
    let document = compose(journal, &analysis);
    String::from_utf8(render("html", &document, journal, &analysis).unwrap()).unwrap()
}

/// The page stays in the build's scratch folder, for whoever wants to look at it.
#[test]
fn the_page_of_a_quick_run_is_at_most_150_kb() {
    let page = page(&fixture::journal());
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/report.html"), &page).unwrap();
    assert!(page.len() <= 150_000, "{} bytes", page.len());
}

/// A journal may say anything that fits into its numbers.
#[test]
fn no_figure_of_a_journal_makes_a_large_page() {
    let mut journal = fixture::small_journal();
    let ordinary = page(&journal).len();
    for units in [1e-300, 1e-60, 1e15, 1e60, 1e200, 1e300] {
        for record in &mut journal.records {
            if let Record::Alone(alone) = record {
                alone.sample.units = units;
            }
        }
        let extreme = page(&journal).len();
        assert!(
            extreme < ordinary * 3 / 2,
            "{units:e}: {extreme} bytes, {ordinary} of another one"
        );
    }
}

#[test]
fn the_policy_stands_first_and_allows_the_style_alone() {
    let elements = elements(&page(&fixture::small_journal()));
    let head = elements.iter().position(|(tag, _)| tag.name == "head").unwrap();
    let (meta, values) = &elements[head + 1];
    assert_eq!((meta.name.as_str(), values[0].as_str()), ("meta", "Content-Security-Policy"));
    assert!(values[1].starts_with("default-src 'none'; style-src 'sha256-"), "{}", values[1]);
    assert!(!values[1].contains("unsafe") && !values[1].contains("script-src"));
}

#[test]
fn the_page_needs_no_script_no_network_and_no_inline_style() {
    let page = page(&fixture::journal());
    for (tag, values) in elements(&page) {
        assert_ne!(tag.name, "script");
        for (attribute, value) in tag.attributes.iter().zip(&values) {
            assert!(attribute != "style" && !attribute.starts_with("on"), "{attribute}");
            let loads = matches!(attribute.as_str(), "href" | "src" | "srcset" | "action");
            assert!(!loads || value.starts_with('#') || value == "data:,", "{attribute}={value}");
        }
    }
}

/// Tags are closed in the order in which they were opened; every chart has a name, a description and a
/// table; every id is used once, and every reference has its target.
pub(crate) fn assert_structure(page: &str, charts: usize) {
    assert_tags_closed(page);
    assert_charts_described(page, charts);
    assert_ids_resolve(page);
    assert_regions_named(page);
}

/// Who jumps from region to region hears what each of them shows.
fn assert_regions_named(page: &str) {
    let regions = page.split("role=\"region\" ").skip(1);
    let name = |region: &str| region.split_once('>').unwrap().0.to_owned();
    let names: Vec<String> = regions.map(name).collect();
    assert!(!names.is_empty());
    for name in names {
        assert!(!name.contains("\"\"") && !name.contains("\"Table\""), "{name}");
    }
}

#[test]
fn the_page_is_well_formed_its_charts_described_its_references_resolved() {
    assert_structure(&page(&fixture::journal()), 4);
}

fn assert_tags_closed(page: &str) {
    const VOID: [&str; 5] = ["!DOCTYPE", "meta", "link", "rect", "line"];
    let mut open: Vec<String> = Vec::new();
    // What stands in a script is no markup.
    let page = page.split("<script>").next().unwrap();
    for tag in tags(page) {
        let shape = ["polygon", "path"].contains(&tag.name.as_str());
        if let Some(name) = tag.name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else if !shape && !VOID.contains(&tag.name.as_str()) {
            open.push(tag.name);
        }
    }
    open.retain(|name| name != "html" && name != "body");
    assert!(open.is_empty(), "{open:?}");
}

fn assert_charts_described(page: &str, charts: usize) {
    assert_eq!(page.matches("role=\"img\" aria-labelledby=\"").count(), charts);
    assert_eq!(page.matches("<svg ").count(), charts);
    assert_eq!(page.matches("<desc ").count(), charts);
    for figure in page.split("<figure ").skip(1) {
        let figure = figure.split("</figure>").next().unwrap();
        assert!(figure.contains("<title ") && figure.contains("<figcaption>"));
        assert!(figure.contains("<details>") && figure.contains("<table>"));
    }
}

fn assert_ids_resolve(page: &str) {
    let elements = elements(page);
    let values = |name: &'static str| {
        elements.iter().flat_map(move |(tag, values)| {
            let pairs = tag.attributes.iter().zip(values);
            pairs.filter(move |(a, _)| a.as_str() == name).map(|(_, value)| value.as_str())
        })
    };
    let ids: BTreeSet<&str> = values("id").collect();
    assert_eq!(ids.len(), values("id").count());
    let anchors = values("href").filter_map(|href| href.strip_prefix('#'));
    let fills = values("fill").filter_map(|fill| fill.strip_prefix("url(#")?.strip_suffix(')'));
    let labels = values("aria-labelledby").flat_map(str::split_whitespace);
    for id in anchors.chain(fills).chain(labels) {
        assert!(ids.contains(id), "{id}");
    }
}

const STYLE: &str = include_str!("../../assets/style.css");

/// WCAG 2.2: 1.4.3 wants 4.5:1 for text, 1.4.11 wants 3:1 for what one must see to understand.
#[test]
fn every_text_and_every_bar_has_its_contrast_in_both_themes() {
    for (theme, colours) in [("light", colours(0)), ("dark", colours(1))] {
        let ratio = |a: &str, b: &str| contrast(colours[a], colours[b]);
        let on_grounds = ["page", "surface", "sunken"];
        let mut texts: Vec<(String, String)> = ["ink", "muted", "link"]
            .iter()
            .flat_map(|text| on_grounds.map(|ground| ((*text).to_owned(), ground.to_owned())))
            .collect();
        for tone in ["good", "watch"] {
            texts.push((format!("{tone}-ink"), format!("{tone}-ground")));
        }
        for palette in ["goodput", "slowdown"] {
            let steps = (0..7).map(|n| (format!("{palette}-text-{n}"), format!("{palette}-{n}")));
            texts.extend(steps);
        }
        for (text, ground) in &texts {
            let found = ratio(text, ground);
            assert!(found >= 4.5, "{theme}: {text} on {ground}: {found:.2}");
        }
        let curves = (0..8).map(|n| format!("c{n}"));
        let shapes = ["bar", "mark", "penalty", "whisker", "accent", "muted"].map(String::from);
        for shape in shapes.into_iter().chain(curves) {
            let found = ratio(&shape, "surface");
            assert!(found >= 3.0, "{theme}: {shape}: {found:.2}");
        }
    }
}

/// The colours of the light (0) or the dark (1) theme; what the dark one does not set is light.
fn colours(theme: usize) -> BTreeMap<&'static str, [f64; 3]> {
    let themes = STYLE.split(":root {").skip(1).take(theme + 1);
    themes.flat_map(|text| text.split('}').next().unwrap().lines().filter_map(colour)).collect()
}

fn colour(line: &'static str) -> Option<(&'static str, [f64; 3])> {
    let (name, value) = line.trim().strip_prefix("--")?.split_once(": #")?;
    let digits = value.strip_suffix(';')?;
    let channel = |place: usize| u8::from_str_radix(&digits[place..place + 2], 16).unwrap();
    Some((name, [0, 2, 4].map(|place| f64::from(channel(place)) / 255.0)))
}

/// Contrast ratio by relative luminance (WCAG 2.2).
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let linear = |c: f64| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    let luminance =
        |[r, g, b]: [f64; 3]| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn black_on_white_is_21_to_1() {
    assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    let dark_ground = contrast(colours(1)["surface"], [0.0; 3]);
    assert!(contrast(colours(0)["surface"], [0.0; 3]) > 20.0 && dark_ground < 2.0);
}
