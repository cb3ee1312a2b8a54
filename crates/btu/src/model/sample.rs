//! `btu model sample`: the messages of a model as CSV or JSON.

use std::fmt::Write as _;

use btu_core::traffic;
use btu_core::traffic::Direction;
use btu_core::traffic::Message;
use btu_core::traffic::Streams;
use btu_core::units::Nanos;
use serde_json::Value;
use serde_json::json;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

/// Options of `btu model sample`.
#[derive(Debug, clap::Args)]
pub(super) struct SampleArgs {
    /// The model, with arguments in parentheses if wanted: "voice-onoff(codec=g729)"
    #[arg(value_name = "MODEL")]
    model: String,
    /// What the random numbers derive from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How much time of it, such as 10s
    #[arg(long, default_value = "1s")]
    time: Nanos,
    /// At most so many messages
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
}

pub(super) fn sample(args: &SampleArgs, json: bool) -> Result<Exit, Failure> {
    let (model, call) = super::read(&args.model)?;
    let streams = Streams::new(args.seed, model.name());
    let messages = traffic::preview(&call, &streams, args.time, args.messages);
    if !json {
        if let Some(note) = super::note(model) {
            output::message(&format!("{}: {note}", model.name()));
        }
        output::result(&csv(&messages))?;
        return Ok(Exit::Done);
    }
    output::json(&json!({
        "model": call.to_string(),
        "seed": args.seed,
        "time_ns": args.time.count(),
        "note": super::note(model),
        "messages": messages.iter().map(row).collect::<Vec<_>>(),
    }))?;
    Ok(Exit::Done)
}

fn csv(messages: &[Message]) -> String {
    let mut out = String::from("time_ns,bytes,flow,direction\n");
    for message in messages {
        let (at, bytes) = (message.at.count(), message.bytes.count());
        let _ = writeln!(out, "{at},{bytes},{},{}", message.flow, name(message.direction));
    }
    out
}

fn row(message: &Message) -> Value {
    json!({
        "time_ns": message.at.count(),
        "bytes": message.bytes.count(),
        "flow": message.flow,
        "direction": name(message.direction),
    })
}

/// The name of a direction in texts.
pub(super) const fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Backward => "backward",
        Direction::Forward => "forward",
    }
}
