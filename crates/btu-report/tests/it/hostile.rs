//! Texts of other machines that try to be more than text.

use std::sync::OnceLock;

use btu_core::disclosure::Fact;
use btu_core::journal::EventRecord;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::analyse;
use btu_core::run::analysis::second_runs;
use btu_core::run::cell::ActivityName;
use btu_core::sample::Flag;
use btu_report::compose;
use btu_report::render;

use crate::fixture;
use crate::markup::tags;

/// Every attack alone, and wrapped in what could help it out of its place.
pub(crate) fn strings() -> Vec<String> {
    const WRAPS: [(&str, &str); 8] = [
        ("", ""),
        ("\"", "\""),
        ("'>", "<'"),
        ("-->", "<!--"),
        ("]]>", "<![CDATA["),
        ("</title></style></svg>", "<p>"),
        ("\u{202e}", "\u{2066}"),
        ("\r\n\r\n", "\0"),
    ];
    let wrapped = ATTACKS.iter().flat_map(|attack| {
        WRAPS.iter().map(move |(before, after)| format!("{before}{attack}{after}"))
    });
    wrapped.chain(std::iter::once("<x>".repeat(350_000))).collect()
}

const ATTACKS: [&str; 27] = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script xlink:href=data:,alert(1)></script></svg>",
    "</text><a href=\"javascript:alert(1)\">x</a>",
    "<style>*{display:none}</style>",
    "<b style=position:fixed>x</b>",
    "<iframe srcdoc=\"<script>alert(1)</script>\">",
    "<meta http-equiv=refresh content=0;url=//e.org>",
    "<base href=//e.org>",
    "<form action=//e.org><input></form>",
    "{{ 7 * 7 }} {% raw %}",
    "&lt;script&gt; &#60;script&#62; &amp;",
    "\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[31m",
    "\u{9b}31m\u{90}q\u{9c}",
    "a\tb\u{0}c\u{8}d\u{7f}e",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "| a | b |\n|---|---|",
    "```\n# heading\n",
    "[x](javascript:alert(1)) ![y](http://e.org/z.png) <http://e.org>",
    "\u{feff}\u{200b}\u{200f}zero\u{2028}width",
    "🏳️‍🌈 ﷽ Ω≈ç√ 田中さん e\u{301}\u{301}\u{301}\u{301}",
    "../../etc/passwd\\..\\x:$(reboot)`reboot`;reboot",
];

/// A tiny result in which this text stands wherever another machine or a user writes one.
pub(crate) fn journal_saying(text: &str) -> Journal {
    let mut journal = fixture::tiny_journal();
    let again = journal.plan.cells().remove(0);
    journal.records.push(fixture::second_run(again, [5001, 5002]));
    let said = || text.to_owned();
    // The keys of maps stay in one order, whatever the text begins with.
    let key = || format!("z{text}");
    let facts = [(key(), Fact::known(said())), ("model".into(), Fact::known(said()))];
    let none = [(key(), Fact::unavailable(said()))];
    let groups = [("cpu".to_owned(), facts.into_iter().collect()), (key(), none.into())];
    journal.hosts.hosts = [("test".to_owned(), groups.into_iter().collect())].into();
    journal.hosts.placement = [(key(), Fact::known(said()))].into();
    journal.hosts.note = Some(said());
    journal.hosts.price = Some(said());
    journal.hosts.marks = vec![said()];
    journal.events.push(EventRecord { at: said(), event: "warning".into(), detail: said() });
    journal.plan.applications[0].name = said();
    journal.plan.activities = vec![ActivityName::new(said())];
    let application = journal.plan.applications[0].clone();
    for record in &mut journal.records {
        match record {
            Record::Alone(alone) => alone.activity = ActivityName::new(said()),
            Record::Cell(cell) => {
                if cell.cell.application.name == "telnet" {
                    cell.cell.application = application.clone();
                }
                if !cell.cell.activity.is_none() {
                    cell.cell.activity = ActivityName::new(said());
                }
                cell.started_at = said();
                cell.invalid = vec![said()];
                cell.flags = vec![Flag::new(said(), said())];
                cell.emulation.iter_mut().for_each(|way| way.link = said());
            }
            Record::Capture(again) => {
                again.why = vec![Flag::new(said(), said())];
                again.run.cell.application = application.clone();
                let file = again.file.as_mut().unwrap();
                (file.path, file.blake3) = (said(), said());
            }
            Record::Verification(check) => {
                check.link = said();
                check.mismatches = vec![said()];
            }
        }
    }
    journal
}

/// The journal of one text in every format that people or programs read.
struct Shown {
    text: String,
    html: String,
    plain: String,
    markdown: String,
    csv: String,
}

fn shown(text: &str) -> Shown {
    let journal = journal_saying(text);
    let second_runs = second_runs(&journal, |_| Err(text.to_owned()));
    let analysis = Analysis { second_runs, ..analyse(&journal) };
    let document = compose(&journal, &analysis);
    let rendered = |format| {
        String::from_utf8(render(format, &document, &journal, &analysis).unwrap()).unwrap()
    };
    Shown {
        text: text.escape_debug().take(200).collect(),
        html: rendered("html"),
        plain: rendered("text"),
        markdown: rendered("md"),
        csv: rendered("csv"),
    }
}

/// All attacks, rendered once for all tests; the first is none.
fn all() -> &'static [Shown] {
    static ALL: OnceLock<Vec<Shown>> = OnceLock::new();
    ALL.get_or_init(|| {
        let harmless = std::iter::once("harmless".to_owned());
        harmless.chain(strings()).map(|text| shown(&text)).collect()
    })
}

#[test]
fn there_are_200_hostile_strings_and_more() {
    assert!(strings().len() >= 200, "{}", strings().len());
}

#[test]
fn no_text_changes_the_structure_of_the_page() {
    let harmless = tags(&all()[0].html);
    assert!(harmless.len() > 400);
    for shown in all() {
        assert!(tags(&shown.html) == harmless, "{}", shown.text);
        assert!(shown.html.len() < 1_000_000, "{} bytes: {}", shown.html.len(), shown.text);
    }
}

#[test]
fn no_text_reaches_a_terminal_as_a_command() {
    for shown in all() {
        for form in [&shown.plain, &shown.markdown, &shown.csv] {
            let control = form.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(control, None, "{}", shown.text);
        }
    }
}

#[test]
fn no_text_adds_a_line_to_markdown_or_csv() {
    // The plan is text to copy, and TOML writes some strings over several lines.
    let prose = |form: &String| form.lines().filter(|line| !line.starts_with("    ")).count();
    let lines = |shown: &Shown| [&shown.markdown, &shown.csv].map(prose);
    for shown in all() {
        assert_eq!(lines(shown), lines(&all()[0]), "{}", shown.text);
    }
}

#[test]
fn no_text_is_html_in_markdown() {
    for shown in all() {
        let prose = shown.markdown.lines().filter(|line| !line.starts_with("    "));
        let found: Vec<&str> = prose.filter(|line| line.contains('<')).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn no_text_is_a_formula_in_csv() {
    for field in all().iter().flat_map(|shown| shown.csv.lines()).flat_map(fields) {
        let is_number = field.parse::<f64>().is_ok();
        let formula = field.trim_start().starts_with(['=', '+', '-', '@']);
        assert!(is_number || !formula, "{field}");
    }
}

/// The fields of a row (RFC 4180).
fn fields(row: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = row.chars().peekable();
    while let Some(character) = characters.next() {
        let field = fields.last_mut().unwrap();
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => field.push(other),
        }
    }
    fields
}
