//! The verb `list`: every registry of this build.

use std::fmt::Write;

use btu_core::app::kernel::KERNELS;
use btu_core::diagnosis::CAUSES;
use btu_core::file::experiment::EXPERIMENTS;
use btu_core::link::ELEMENTS;
use btu_core::pingpong::import::FORMATS as IMPORTS;
use btu_core::pingpong::statistic::Statistic;
use btu_core::run::anomaly::RULES;
use btu_core::run::calls::ReadCall;
use btu_core::run::calls::WriteCall;
use btu_core::run::cell::Application;
use btu_core::run::cell::Case;
use btu_core::run::plan::Choices;
use btu_core::run::plan::EDITIONS;
use btu_core::run::plan::Plan;
use btu_core::run::plan::Vocabulary;
use btu_core::traffic::BASICS;
use btu_core::traffic::KINDS;
use btu_core::traffic::MODELS;
use btu_core::traffic::class::CLASSES;
use btu_core::traffic::method::METHODS;
use btu_engine::activity::ACTIVITIES;
use btu_engine::disclosure::GROUPS;
use btu_engine::file::FILE_PROTOCOLS;
use btu_engine::math::MATH_LIBRARIES;
use btu_engine::message::MESSAGE_LAYERS;
use btu_engine::pingpong::transport as pingpong;
use btu_engine::probe::PROBES;
use btu_engine::transport::TRANSPORTS;
use btu_report::FORMATS;
use btu_report::SECTIONS;
use btu_testbed::backend::BACKENDS;
use serde_json::Map;
use serde_json::Value;

use crate::agent::service::SERVICES;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

/// Options of `btu list`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only these registries, such as `elements`
    #[arg(value_name = "REGISTRY")]
    registries: Vec<String>,
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    json: bool,
}

/// A registry: its name, and name and summary of each entry.
type Registry = (&'static str, Vec<(String, String)>);

/// Runs the verb.
pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let mut registries = registries()?;
    if let Some(unknown) = args.registries.iter().find(|r| !registries.iter().any(|(n, _)| n == r))
    {
        let names: Vec<&str> = registries.iter().map(|(name, _)| *name).collect();
        let cause = anyhow::anyhow!("unknown registry \"{unknown}\"; write {}", names.join(", "));
        return Err(Failure::usage(cause));
    }
    registries.retain(|(name, _)| {
        args.registries.is_empty() || args.registries.iter().any(|asked| asked == name)
    });
    if args.json {
        output::json(&document(registries))?;
    } else {
        output::result(&text(&registries))?;
    }
    Ok(Exit::Done)
}

fn text(registries: &[Registry]) -> String {
    let mut out = String::new();
    for (name, entries) in registries {
        out.push_str(name);
        out.push('\n');
        let width = entries.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, summary) in entries {
            for (number, line) in lines(summary, WIDTH.saturating_sub(width + 4)).iter().enumerate()
            {
                let name = if number == 0 { name } else { "" };
                let _ = writeln!(out, "  {name:width$}  {line}");
            }
        }
        out.push('\n');
    }
    out
}

/// A text in lines of at most so many characters, but for words that are longer.
fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let length = lines[last].chars().count();
        if length > 0 && length + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            let gap = if length == 0 { "" } else { " " };
            lines[last].push_str(gap);
            lines[last].push_str(word);
        }
    }
    lines
}

fn document(registries: Vec<Registry>) -> Value {
    let entries = |entries: Vec<(String, String)>| {
        let entry = |(name, summary)| serde_json::json!({ "name": name, "summary": summary });
        Value::Array(entries.into_iter().map(entry).collect())
    };
    let mut document: Map<String, Value> =
        registries.into_iter().map(|(n, list)| (n.to_owned(), entries(list))).collect();
    document.insert("schema_version".to_owned(), "1.2.0".into());
    Value::Object(document)
}

fn registries() -> Result<Vec<Registry>, Failure> {
    Ok(vec![
        ("editions", EDITIONS.iter().map(|e| pair(e.name, e.summary)).collect()),
        ("cases", Case::ALL.iter().map(|case| pair(case.name(), &flows(*case))).collect()),
        ("applications", applications()?),
        ("activities", ACTIVITIES.iter().map(|a| pair(a.name(), a.about())).collect()),
        ("transports", TRANSPORTS.iter().map(|t| pair(t.name(), t.about())).collect()),
        ("write-calls", WriteCall::ALL.iter().map(|c| pair(c.name(), c.about())).collect()),
        ("read-calls", ReadCall::WORDS.iter().map(|(name, _, about)| pair(name, about)).collect()),
        ("pingpong-transports", pingpong_transports()),
        ("statistics", Statistic::ALL.iter().map(|s| pair(s.name(), s.about())).collect()),
        ("traffic-classes", CLASSES.iter().map(|c| pair(c.name, c.about)).collect()),
        ("traffic-basics", BASICS.iter().map(|b| pair(b.name, b.about)).collect()),
        ("distributions", distributions()),
        ("imports", IMPORTS.iter().map(|f| pair(f.name, f.about)).collect()),
        ("elements", ELEMENTS.iter().map(|e| pair(e.name, e.help)).collect()),
        ("methods", METHODS.iter().map(|m| pair(m.name, m.about)).collect()),
        ("models", MODELS.iter().map(|m| pair(m.name(), m.shape.about)).collect()),
        ("backends", BACKENDS.iter().map(|b| pair(b.name(), b.help())).collect()),
        ("probes", PROBES.iter().map(|p| pair(p.name(), p.summary())).collect()),
        ("disclosure", GROUPS.iter().map(|g| pair(g.name(), g.about())).collect()),
        ("kernels", KERNELS.iter().map(|k| pair(k.name(), k.about())).collect()),
        ("message-layers", MESSAGE_LAYERS.iter().map(|l| pair(l.name(), l.about())).collect()),
        ("file-experiments", EXPERIMENTS.iter().map(|e| pair(e.name(), e.about())).collect()),
        ("math-libraries", MATH_LIBRARIES.iter().map(|l| pair(l.name(), l.about())).collect()),
        ("file-protocols", FILE_PROTOCOLS.iter().map(|p| pair(p.name(), p.about())).collect()),
        ("rules", RULES.iter().map(|r| pair(r.name, r.about)).collect()),
        ("causes", CAUSES.iter().map(|c| pair(c.name, c.about)).collect()),
        ("sections", SECTIONS.iter().map(|s| pair(s.name(), s.title())).collect()),
        ("services", SERVICES.iter().map(|s| pair(s.name, s.about)).collect()),
        ("formats", FORMATS.iter().map(|f| pair(f.name(), f.summary())).collect()),
    ])
}

/// Each by its name: the form tells of every way to write one.
fn distributions() -> Vec<(String, String)> {
    let is_first = |at: usize| KINDS[..at].iter().all(|before| before.name != KINDS[at].name);
    let named = (0..KINDS.len()).filter(|at| is_first(*at)).map(|at| &KINDS[at]);
    named.map(|kind| pair(kind.name, kind.form)).collect()
}

/// What carries the blocks of a ping-pong; for those that this machine lacks, the reason.
fn pingpong_transports() -> Vec<(String, String)> {
    let told = |transport: &&dyn pingpong::Transport| {
        let about = match transport.available() {
            Ok(()) => transport.about().to_owned(),
            Err(cause) => format!("{}; not here: {}", transport.about(), cause.sentence()),
        };
        (transport.name().to_owned(), about)
    };
    pingpong::TRANSPORTS.iter().map(told).collect()
}

/// The application classes of the default edition.
fn applications() -> Result<Vec<(String, String)>, Failure> {
    let activities: Vec<&str> = ACTIVITIES.iter().map(|activity| activity.name()).collect();
    let words = Vocabulary { activities: &activities };
    let plan = Plan::resolve(&Choices::default(), &words, 1).map_err(Failure::usage)?;
    let class = |a: Application| (a.name, format!("messages of {}", a.message_bytes));
    Ok(plan.applications.into_iter().map(class).collect())
}

fn pair(name: &str, summary: &str) -> (String, String) {
    (name.to_owned(), summary.to_owned())
}

/// `test -> active, active -> test`
fn flows(case: Case) -> String {
    use btu_core::run::cell::Direction;
    use btu_core::run::cell::Impairment;
    let arrow = |flow: &btu_core::run::cell::Flow| match flow.direction {
        Direction::Receive => format!("{} -> test", flow.peer),
        Direction::Send => format!("test -> {}", flow.peer),
    };
    let flows: Vec<String> = case.flows().iter().map(arrow).collect();
    let impairment = match case.impairment() {
        Impairment::Delay => ", delayed by DL each way",
        Impairment::Drop => ", drop pattern DR on what arrives at the black boxes",
        Impairment::None => "",
    };
    format!("{}{impairment}", flows.join(", "))
}

/// As wide as the help of the verbs.
const WIDTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_go_on_below_their_beginning() {
        let text = "one two three four";
        assert_eq!(lines(text, 9), ["one two", "three", "four"]);
        assert_eq!(lines(text, 2), ["one", "two", "three", "four"]);
        assert_eq!((lines("", 9), lines("one", 9)), (vec![String::new()], vec!["one".to_owned()]));
        let registries = [("rules", vec![pair("dip", &"word ".repeat(40)), pair("stall", "b")])];
        let shown = super::text(&registries);
        assert!(shown.lines().all(|line| line.chars().count() <= WIDTH), "{shown}");
        assert!(shown.contains("\n         word") && shown.contains("\n  stall  b\n"), "{shown}");
    }
}
