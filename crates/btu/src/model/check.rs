//! `btu model check`: the statistical tests of the models, and whether they pass.

use std::fmt::Write as _;

use btu_core::traffic;
use btu_core::traffic::Call;
use btu_core::traffic::Checked;
use btu_core::traffic::MODELS;
use btu_core::traffic::Model;
use serde_json::Value;
use serde_json::json;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

/// Options of `btu model check`.
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// Models, with arguments in parentheses if wanted; all if none is given
    #[arg(value_name = "MODEL")]
    models: Vec<String>,
    /// What the random numbers derive from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Values of each test
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1000..=10_000_000))]
    samples: u32,
}

pub(super) fn check(args: &CheckArgs, json: bool) -> Result<Exit, Failure> {
    let mut documents: Vec<Value> = Vec::new();
    let models = models(&args.models)?;
    let check = |(model, call): &(&'static Model, Call)| {
        traffic::check(model, call, args.seed, args.samples as usize)
    };
    let mut all: Vec<Vec<Checked>> = models.iter().map(check).collect();
    traffic::correct(all.iter_mut().flatten());
    let pass = all.iter().flatten().all(|one| one.pass);
    for ((model, call), checked) in models.into_iter().zip(all) {
        if json {
            documents.push(document(model, &call, &checked));
        } else {
            output::result(&text(model, &call, &checked))?;
        }
    }
    if json {
        output::json(&json!({ "seed": args.seed, "pass": pass, "models": documents }))?;
    }
    Ok(if pass { Exit::Done } else { Exit::Threshold })
}

fn models(asked: &[String]) -> Result<Vec<(&'static Model, Call)>, Failure> {
    if asked.is_empty() {
        return Ok(MODELS.iter().map(|model| (*model, Call::plain(&model.shape))).collect());
    }
    asked.iter().map(|text| super::read(text)).collect()
}

fn text(model: &Model, call: &Call, checked: &[Checked]) -> String {
    let mut out = String::new();
    let verdict = if checked.iter().all(|one| one.pass) { "pass" } else { "FAILED" };
    let _ = writeln!(out, "{call}: {verdict}");
    for one in checked {
        let verdict = if one.pass { "pass" } else { "FAILED" };
        let result = match (one.p.zip(one.corrected), one.wanted) {
            (Some((p, corrected)), _) => {
                let [p, corrected] = [p, corrected].map(chance);
                format!("p = {p}, {corrected} among all tests, at least {:e}", one.bound)
            }
            (None, Some(wanted)) => {
                let off = 100.0 * (one.found / wanted - 1.0);
                let within = 100.0 * one.bound;
                format!("{:.6} of {wanted:.6}, {off:+.2} %, within {within:.2} %", one.found)
            }
            (None, None) => format!("{}", one.found),
        };
        let _ = writeln!(
            out,
            "  {verdict:<6}  {:<6}  n = {:<8}  {}: {result}",
            one.test, one.values, one.what
        );
    }
    if checked.is_empty() {
        out.push_str("  nothing in it is random\n");
    }
    if let Some(note) = super::note(model) {
        let _ = writeln!(out, "  {note}");
    }
    out
}

/// A chance in as many digits as say something of it.
fn chance(p: f64) -> String {
    if p > 0.0 && p < 0.001 { format!("{p:.1e}") } else { format!("{p:.4}") }
}

fn document(model: &Model, call: &Call, checked: &[Checked]) -> Value {
    let test = |one: &Checked| {
        json!({
            "what": one.what,
            "test": one.test,
            "values": one.values,
            "found": one.found,
            "wanted": one.wanted,
            "p": one.p,
            "p_among_all": one.corrected,
            "bound": one.bound,
            "pass": one.pass,
        })
    };
    json!({
        "name": model.name(),
        "call": call.to_string(),
        "pass": checked.iter().all(|one| one.pass),
        "note": super::note(model),
        "tests": checked.iter().map(test).collect::<Vec<_>>(),
    })
}
