//! `btu model show`: a model's source, parameters, rates, and a second of its traffic.

use std::fmt::Write as _;

use btu_core::traffic;
use btu_core::traffic::Call;
use btu_core::traffic::Direction;
use btu_core::traffic::Message;
use btu_core::traffic::Model;
use btu_core::traffic::ModelVariant;
use btu_core::traffic::Parameter;
use btu_core::traffic::Streams;
use btu_core::traffic::Summary;
use btu_core::traffic::Takes;
use btu_core::units::Nanos;
use btu_report::hanging;
use serde_json::Value;
use serde_json::json;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

use super::picture;
use super::sample;

/// Options of `btu model show`.
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The model, with arguments in parentheses if wanted: "voice-onoff(codec=g729)"
    #[arg(value_name = "MODEL")]
    model: String,
    /// What the random numbers derive from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A model and a stretch of its traffic.
struct Shown {
    model: &'static Model,
    call: Call,
    messages: Vec<Message>,
    time: Nanos,
    /// The second in the picture.
    second: Nanos,
}

pub(super) fn show(args: &ShowArgs, json: bool) -> Result<Exit, Failure> {
    let (model, call) = super::read(&args.model)?;
    let streams = Streams::new(args.seed, model.name());
    let (messages, time) = stretch(&call, &streams);
    let second = picture::busiest(&messages);
    let shown = Shown { model, call, messages, time, second };
    if json {
        output::json(&document(&shown))?;
    } else {
        output::result(&text(&shown))?;
    }
    Ok(Exit::Done)
}

/// A minute of the traffic; of a model that says little in a minute, a thousand messages.
fn stretch(call: &Call, streams: &Streams) -> (Vec<Message>, Nanos) {
    let minute = Nanos::from_secs(60);
    let messages = traffic::preview(call, streams, minute, MOST);
    if messages.len() >= 1000 {
        let last = messages.last().map_or(minute, |message| message.at);
        let time = if messages.len() < MOST { minute } else { last };
        return (messages, time);
    }
    let messages = traffic::preview(call, streams, Nanos::MAX, 1000);
    let time = messages.last().map_or(minute, |message| message.at);
    (messages, time.max(Nanos::new(1)))
}

fn text(shown: &Shown) -> String {
    let Shown { model, call, time, .. } = shown;
    let mut out = words(model, call);
    let ways = [Direction::Forward, Direction::Backward];
    for (way, mean) in ways.into_iter().zip(model.mean_rates(call)) {
        if let Some(summary) = traffic::summary(&shown.messages, way, *time) {
            let seconds = time.seconds();
            let _ = writeln!(out, "{}", sample::name(way));
            let _ = writeln!(
                out,
                "  mean      {} by definition, {} over {} s of this train",
                super::rate(mean),
                super::rate(summary.mean),
                four_digits(seconds)
            );
            let _ = writeln!(out, "  peak      {} within 10 ms", super::rate(summary.peak));
            let _ = writeln!(out, "  size, B   {}", quantiles(summary.sizes, 1.0));
            let _ = writeln!(out, "  gap, ms   {}", quantiles(summary.gaps, 1e6));
        }
    }
    out.push_str(&pictures(shown));
    out
}

/// What is said of a model and a call of it, each part behind its name.
fn words(model: &Model, call: &Call) -> String {
    let verified = super::verified_with(model).map(str::to_owned).or_else(|| super::note(model));
    let variant = |variant: &ModelVariant| {
        format!("{}: {}({})", variant.name, model.name(), variant.arguments)
    };
    let parts = [
        ("model", format!("{call}: {}", model.shape.about)),
        ("source", model.source.to_owned()),
        ("verified", verified.unwrap_or_default()),
    ];
    let parameters = model.shape.parameters.iter().map(|one| ("parameter", parameter_text(one)));
    let variants = model.variants.iter().map(|one| ("variant", variant(one)));
    let all = parts.into_iter().chain(parameters).chain(variants);
    all.map(|(name, text)| hanging(&format!("{name:<12}"), &text)).collect()
}

fn pictures(shown: &Shown) -> String {
    let at = shown.second.seconds();
    let mut out = format!("\nthe second from {at} s on, a column is 12.5 ms:\n");
    for way in [Direction::Forward, Direction::Backward] {
        let columns = picture::columns(&shown.messages, way, shown.second);
        let most = columns.iter().max().copied().unwrap_or(0);
        if most > 0 {
            let name = sample::name(way);
            let _ = writeln!(out, "|{}| {name}, full is {most} B", picture::bars(&columns));
        }
    }
    out
}

fn parameter_text(parameter: &Parameter) -> String {
    let Parameter { name, about, default, .. } = parameter;
    match parameter.takes {
        Takes::Word(words) => format!("{name} = {}: {about}", words.join(" | ")),
        Takes::File(_) => format!("{name} = \"FILE\": {about}"),
        _ if default.is_empty() => format!("{name}: {about}"),
        _ => format!("{name} = {default}: {about}"),
    }
}

fn quantiles(values: [f64; 4], unit: f64) -> String {
    let [p5, p50, p95, p99] = values.map(|value| four_digits(value / unit));
    format!("p5 {p5}, p50 {p50}, p95 {p95}, p99 {p99}")
}

/// Of a train that was drawn once nobody knows more.
fn four_digits(value: f64) -> String {
    let decimals = [1000.0, 100.0, 10.0, 1.0].iter().filter(|from| value.abs() < **from).count();
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

fn document(shown: &Shown) -> Value {
    let Shown { model, call, time, .. } = shown;
    let mut document = super::entry(model);
    let [forward, backward] = model.mean_rates(call);
    let more = json!({
        "call": call.to_string(),
        "mean_forward_bit_s": forward.bit_per_second(),
        "mean_backward_bit_s": backward.bit_per_second(),
        "parameters": model.shape.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "variants": model.variants.iter().map(variant).collect::<Vec<_>>(),
        "train_ns": time.count(),
        "forward": way(shown, Direction::Forward),
        "backward": way(shown, Direction::Backward),
        "picture_start_ns": shown.second.count(),
        "picture_column_ns": 1_000_000_000 / picture::COLUMNS,
    });
    if let (Some(document), Value::Object(more)) = (document.as_object_mut(), more) {
        document.extend(more);
    }
    document
}

fn parameter(parameter: &Parameter) -> Value {
    let words: &[&str] = if let Takes::Word(words) = parameter.takes { words } else { &[] };
    let default = words.first().copied().unwrap_or(parameter.default);
    json!({
        "name": parameter.name,
        "about": parameter.about,
        "default": (!default.is_empty()).then_some(default),
        "words": words,
    })
}

fn variant(variant: &ModelVariant) -> Value {
    json!({ "name": variant.name, "arguments": variant.arguments })
}

/// What one direction looks like; null for one without traffic.
fn way(shown: &Shown, way: Direction) -> Value {
    let Some(summary) = traffic::summary(&shown.messages, way, shown.time) else {
        return Value::Null;
    };
    let Summary { messages, mean, peak, sizes, gaps } = summary;
    let named =
        |[p5, p50, p95, p99]: [f64; 4]| json!({"p5": p5, "p50": p50, "p95": p95, "p99": p99});
    json!({
        "messages": messages,
        "mean_bit_s": mean.bit_per_second(),
        "peak_10ms_bit_s": peak.bit_per_second(),
        "size_bytes": named(sizes),
        "gap_ns": named(gaps),
        "picture_bytes": picture::columns(&shown.messages, way, shown.second),
    })
}

/// Messages that are looked at.
const MOST: usize = 200_000;
