//! Models: T2, that they keep their laws in many values, and T15, that sockets carry their rates where the path is not the
//! limit.

use anyhow::Context;
use anyhow::Result;
use serde_json::Value;

use super::Verb;
use super::all_of;
use super::each;
use super::judged;

/// T2: every model in every variant with 100,000 values for twenty seeds. Of a thousand laws some have a p below
/// 0.001.
pub(super) fn laws(program: &Verb<'_>) -> Result<usize> {
    let mut missed = 0;
    for seed in 1..=20 {
        let document = said(program, &["check", "--json", "--seed", &seed.to_string()])?;
        let variants = all_of(&document, "models").into_iter();
        let tests = variants.flat_map(|variant| {
            all_of(variant, "tests").into_iter().map(|test| (&variant["call"], test))
        });
        let tests: Vec<(&Value, &Value)> = tests.collect();
        let of_laws: Vec<f64> = tests.iter().filter_map(|(_, test)| test["p"].as_f64()).collect();
        let least = of_laws.iter().copied().fold(1.0, f64::min);
        let others = tests.into_iter().filter(|(_, test)| test["p"].is_null());
        let broken: Vec<_> = others.filter(|(_, test)| test["pass"] != true).collect();
        for (call, test) in &broken {
            println!("{call}: {test}");
        }
        let told =
            format!("T2 seed {seed}: {} laws, least p {least:.2e} above 1e-6", of_laws.len());
        missed += judged(&told, least > 1e-6 && of_laws.len() > 100);
        missed += judged(&format!("T2 seed {seed}: memories and rates"), broken.is_empty());
    }
    Ok(missed)
}

/// T15: all open models beside each other, on a path that none of them fills.
pub(super) fn rates(program: &Verb<'_>) -> Result<usize> {
    let listed = said(program, &["list", "--json"])?;
    let mut open = all_of(&listed, "models");
    // What follows reports has a fixed rate here, as an open model.
    open.retain(|model| model["feedback"] != "closed");
    let names: Vec<&str> = open.iter().filter_map(|model| model["name"].as_str()).collect();
    let mut missed = judged(&format!("T15 {} open models", names.len()), names.len() > 10);
    for transport in ["tcp", "quic", "udp"] {
        let sent: Vec<&str> =
            names.iter().copied().filter(|name| is_sent(name, transport)).collect();
        let file = program.results.join(format!("models-{transport}.toml"));
        std::fs::write(&file, scenario(&sent, transport))?;
        let args = [&file.display().to_string(), "--seed", "1"];
        let result = program.measure(&format!("models-{transport}"), &args)?;
        for name in sent {
            missed += judge(name, transport, &result)?;
        }
    }
    Ok(missed)
}

/// A socket of the receiver holds some 200 kB of datagrams: what a model sends at one instant has to fit into that, or the
/// socket is the limit, and not the path.
fn is_sent(name: &str, transport: &str) -> bool {
    transport != "udp" || IN_PACKETS.contains(&name)
}

fn scenario(names: &[&str], transport: &str) -> String {
    let test = |name: &&str| {
        // Sessions of files and reports of devices are minutes and hours apart, and each device has a connection; half a
        // gigabit of calls is more than a host encrypts beside all others.
        let often = match *name {
            "ftp" => "interarrival=200 ms, ",
            "iot" => "mode=burst, devices=100, ",
            "rpc" => "load=5 %, ",
            "webrtc" => "control=none, ",
            _ => "",
        };
        format!(
            "[[cluster.test]]\nname = \"{name}\"\npath = \"test -> active\"\n\
             transport = \"{transport}\"\ntype = \"{name}({often}duration=10 s)\"\n"
        )
    };
    format!("[[cluster]]\nname = \"models\"\n{}", names.iter().map(test).collect::<String>())
}

/// D(T) beside A(T), of all parts and both directions of a model.
fn judge(name: &str, transport: &str, result: &Value) -> Result<usize> {
    let is_own = |flow: &&Value| {
        let test = flow["test"].as_str().unwrap_or_default();
        test == name || test.strip_prefix(name).is_some_and(|part| part.starts_with('.'))
    };
    let own: Vec<&Value> = all_of(result, "flows").into_iter().filter(is_own).collect();
    let sum = |key: &str| own.iter().map(|flow| super::number(flow, key)).sum::<Result<f64>>();
    let (arrived, departed) = (sum("arrived_bytes")?, sum("departed_bytes")?);
    let told =
        format!("T15 {name} over {transport}: {departed:.0} of {arrived:.0} bytes by the end");
    let what = format!("T15 {name} over {transport}");
    let ended = each(&what, &own, |flow| Ok(usize::from(flow["ended"] != "complete")))?;
    Ok(judged(&told, ended == 0 && arrived > 0.0 && departed >= 0.98 * arrived))
}

/// What `btu model` says.
fn said(program: &Verb<'_>, args: &[&str]) -> Result<Value> {
    let mut command = program.repo.command(program.repo.path("target/release/btu"));
    let said = command.arg("model").args(args).output().context("run btu model")?.stdout;
    serde_json::from_slice(&said).context("parse what btu model says")
}

/// Open models whose programs send datagrams of a packet each.
const IN_PACKETS: [&str; 7] =
    ["cloud-gaming", "iot", "mobile-game", "vdi", "voice-cbr", "voice-onoff", "voip-11ax"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_which_a_part_has_not_arrived_is_missed() {
        let flow = |test: &str, departed: u64, ended: &str| {
            serde_json::json!({ "test": test, "arrived_bytes": 1000, "departed_bytes": departed,
                "ended": ended })
        };
        let judged = |flows: &[Value]| judge("vdi", "tcp", &serde_json::json!({ "flows": flows }));
        let (there, back) = (flow("vdi.down", 1000, "complete"), flow("vdi.up", 970, "complete"));
        let other = flow("vdi2", 0, "complete");
        assert_eq!(judged(&[there.clone(), back.clone(), other]).unwrap(), 0);
        assert_eq!(judged(std::slice::from_ref(&back)).unwrap(), 1);
        assert_eq!(judged(&[there, flow("vdi.up", 1000, "nothing moved")]).unwrap(), 1);
        assert_eq!(judged(&[]).unwrap(), 1);
    }

    #[test]
    fn a_scenario_sends_each_model_once() {
        let text = scenario(&["ftp", "vdi"], "quic");
        assert_eq!(text.matches("[[cluster.test]]").count(), 2);
        assert!(text.contains("ftp(interarrival=200 ms, duration=10 s)"), "{text}");
    }
}
