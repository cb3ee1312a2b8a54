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
    /// Models in all their variants, or one with arguments in parentheses; every model if none is given
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
    let asked = asked(&args.models)?;
    let check =
        |asked: &Asked| traffic::check(asked.model, &asked.call, args.seed, args.samples as usize);
    let mut all: Vec<Vec<Checked>> = asked.iter().map(check).collect();
    traffic::correct(all.iter_mut().flatten());
    let pass = all.iter().flatten().all(|one| one.pass);
    for (asked, checked) in asked.iter().zip(all) {
        if json {
            documents.push(document(asked, &checked));
        } else {
            output::result(&text(asked, &checked))?;
        }
    }
    if json {
        output::json(&json!({ "seed": args.seed, "pass": pass, "models": documents }))?;
    }
    Ok(if pass { Exit::Done } else { Exit::Threshold })
}

/// A model with arguments, and the name of the variant that this is.
struct Asked {
    model: &'static Model,
    /// None for arguments that are nobody's variant.
    variant: Option<&'static str>,
    call: Call,
}

/// A name alone means all variants of the model; with parentheses it is the call that stands there.
fn asked(texts: &[String]) -> Result<Vec<Asked>, Failure> {
    if texts.is_empty() {
        let all: Result<Vec<Vec<Asked>>, Failure> =
            MODELS.iter().map(|model| variants(model)).collect();
        return Ok(all?.into_iter().flatten().collect());
    }
    let mut all = Vec::new();
    for text in texts {
        let (model, call) = super::read(text)?;
        let variants = variants(model)?;
        if text.contains('(') {
            let variant = variants.iter().find(|one| one.call == call).and_then(|one| one.variant);
            all.push(Asked { model, variant, call });
        } else {
            all.extend(variants);
        }
    }
    Ok(all)
}

fn variants(model: &'static Model) -> Result<Vec<Asked>, Failure> {
    let calls = model.calls();
    let calls =
        calls.map_err(|e| Failure::usage(anyhow::anyhow!("variants of {}: {e}", model.name())))?;
    let one = |(name, call)| Asked { model, variant: Some(name), call };
    Ok(calls.into_iter().map(one).collect())
}

fn text(Asked { model, variant, call }: &Asked, checked: &[Checked]) -> String {
    let mut out = String::new();
    let variant = variant.unwrap_or("as written");
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
            "  {verdict:<6}  {variant:<14}  {:<6}  n = {:<8}  {}: {result}",
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

fn document(Asked { model, variant, call }: &Asked, checked: &[Checked]) -> Value {
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
        "variant": variant,
        "call": call.to_string(),
        "pass": checked.iter().all(|one| one.pass),
        "note": super::note(model),
        "tests": checked.iter().map(test).collect::<Vec<_>>(),
    })
}
