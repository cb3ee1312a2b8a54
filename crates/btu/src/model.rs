//! The verb `model`: the traffic models, what they send, whether they keep what they say.

mod check;
mod picture;
mod sample;
mod show;

use std::path::Path;

use btu_core::traffic;
use btu_core::traffic::Call;
use btu_core::traffic::MODELS;
use btu_core::traffic::Model;
use btu_core::traffic::Streams;
use btu_core::traffic::Train;
use btu_core::traffic::Verified;
use btu_core::units::BitRate;
use clap::Subcommand;
use serde_json::Value;
use serde_json::json;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::input;
use crate::output;

/// Options of `btu model`.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    what: What,
    /// Write exactly one JSON document to stdout
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Test that models keep their laws, their memory and their rates
    Check(check::CheckArgs),
    /// List the models with their rates
    List,
    /// Write what a model sends, message by message
    Sample(sample::SampleArgs),
    /// Show a model: source, parameters, rates, a second of its traffic
    Show(show::ShowArgs),
}

/// Runs the verb.
pub(crate) fn model(args: &ModelArgs) -> Result<Exit, Failure> {
    match &args.what {
        What::Check(check) => check::check(check, args.json),
        What::List => list(args.json),
        What::Sample(sample) => sample::sample(sample, args.json),
        What::Show(show) => show::show(show, args.json),
    }
}

fn list(json: bool) -> Result<Exit, Failure> {
    if json {
        let models: Vec<Value> = MODELS.iter().map(|model| entry(model)).collect();
        output::json(&json!({ "models": models }))?;
        return Ok(Exit::Done);
    }
    let width = MODELS.iter().map(|model| model.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for model in MODELS {
        let [down, up] = model.mean_rates(&Call::plain(&model.shape)).map(rate);
        let verified = if model.verified.is_yes() { "verified" } else { "not verified" };
        let feedback = feedback(model);
        let line = format!(
            "{:width$}  {verified:<12}  {feedback:<7}  {down:>14}  {up:>14}  {}\n",
            model.name(),
            model.shape.about
        );
        text.push_str(&line);
    }
    let head = format!(
        "{:width$}  {:<12}  {:<7}  {:>14}  {:>14}\n",
        "", "parameters", "", "forward", "backward"
    );
    output::result(&format!("{head}{text}"))?;
    Ok(Exit::Done)
}

/// What is said of every model.
fn entry(model: &'static Model) -> Value {
    let [forward, backward] = model.mean_rates(&Call::plain(&model.shape));
    json!({
        "name": model.name(),
        "about": model.shape.about,
        "source": model.source,
        "verified": model.verified.is_yes(),
        "verified_with": verified_with(model),
        "feedback": feedback(model),
        "note": note(model),
        "mean_forward_bit_s": forward.bit_per_second(),
        "mean_backward_bit_s": backward.bit_per_second(),
    })
}

/// Whether the model waits for answers, or follows reports.
fn feedback(model: &'static Model) -> &'static str {
    match Call::plain(&model.shape).train(&Streams::new(1, model.name())) {
        Some(Train::Closed(_)) => "closed",
        Some(Train::Media(_)) => "reports",
        _ => "open",
    }
}

/// What a reader of a model's figures should know.
fn note(model: &Model) -> Option<String> {
    match model.verified {
        Verified::Yes(_) => None,
        Verified::No(why) => Some(format!("parameters not verified: {why}")),
    }
}

/// What was compared with what.
fn verified_with(model: &Model) -> Option<&'static str> {
    match model.verified {
        Verified::Yes(what) => Some(what),
        Verified::No(_) => None,
    }
}

/// The call that a user wrote: a name, or a name with arguments.
fn read(text: &str) -> Result<(&'static Model, Call), Failure> {
    let names = || MODELS.iter().map(|model| model.name()).collect::<Vec<_>>().join(", ");
    let files = |name: &str| {
        let bytes =
            input::bytes(Path::new(name)).map_err(|cause| format!("read {name}: {cause}"))?;
        traffic::text_of_file(bytes)
    };
    let name = text.split('(').next().unwrap_or_default().trim().to_lowercase();
    let model = traffic::find(&name).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!("unknown model \"{name}\"; write one of {}", names()))
    })?;
    let (call, warnings) = traffic::call(text, traffic::Dialect::Btu, &files)
        .map_err(|problem| Failure::usage(anyhow::anyhow!("{text}:{problem}")))?;
    for warning in warnings {
        output::message(&format!("btu: warning: {text}:{warning}"));
    }
    Ok((model, call))
}

/// `22.5 kbit/s`
fn rate(rate: BitRate) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let rate = rate.bit_per_second() as f64;
    match rate {
        0.0 => "-".to_owned(),
        rate if rate >= 1e9 => format!("{:.3} Gb/s", rate / 1e9),
        rate if rate >= 1e6 => format!("{:.3} Mb/s", rate / 1e6),
        rate if rate >= 1e3 => format!("{:.3} kb/s", rate / 1e3),
        rate => format!("{rate:.1} b/s"),
    }
}
