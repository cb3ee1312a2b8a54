//! A scenario that is written as what its only test sends: `btu traffic 'voice-onoff(codec=g729)'`.

use std::path::Path;

use anyhow::anyhow;
use btu_core::traffic;
use btu_core::traffic::BASICS;
use btu_core::traffic::Dialect;
use btu_core::traffic::Reading;

use super::scenario;
use crate::exit::Failure;

/// The call that stands where a file may; `None` for a file's name. Files of scenarios end in .ns, .btu or .toml, so no
/// name is both.
pub(super) fn of(file: &Path) -> Option<&str> {
    let text = file.to_str()?.trim();
    let name = text.split('(').next().unwrap_or_default().trim().to_lowercase();
    let is_known = traffic::find(&name).is_some() || BASICS.iter().any(|basic| basic.name == name);
    (is_known || text.ends_with(')')).then_some(text)
}

/// The scenario of one test that sends this, over a transport that is written as in a script.
pub(super) fn reading(text: &str, over: Option<&str>) -> Result<Reading, Failure> {
    let files = |name: &str| scenario::read_beside(Path::new("."), name);
    let (_, warnings) = traffic::call(text, Dialect::Btu, &files)
        .map_err(|problem| Failure::usage(anyhow!("{text}:{problem}")).hint(NO_CALL))?;
    let over = over.unwrap_or(USUAL);
    // A string of JSON is one of TOML.
    let [kind, transport] = [text, over].map(|value| serde_json::Value::from(value).to_string());
    let toml = format!(
        "[[cluster]]\n[[cluster.test]]\npath = \"test -> active\"\ntransport = {transport}\ntype = {kind}\n"
    );
    let mut reading = scenario::parsed(&format!("{text} over {over}"), &toml, "toml", &files)?;
    reading.warnings = warnings;
    Ok(reading)
}

/// As in a scenario that names none.
const USUAL: &str = "tcp";
/// Beside what is wrong with a call.
const NO_CALL: &str = "btu model list names the models, btu model show NAME what each takes; a scenario's file ends in .ns, .btu or .toml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_from_the_name_of_a_file() {
        for call in
            ["voice-onoff", "Full", "rpc(load=10 Mbit/s)", " telnet() ", "voice(", "nobody(x=1)"]
        {
            let is_call = call != "voice(";
            assert_eq!(of(Path::new(call)).is_some(), is_call, "{call}");
        }
        for file in ["voice-onoff.toml", "./full", "a (b)/full.ns", "full.btu", "", "viseum2"] {
            assert_eq!(of(Path::new(file)), None, "{file}");
        }
    }

    #[test]
    fn a_call_is_a_scenario_of_one_test() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sizes.csv");
        std::fs::write(&file, "100,0.5\n300,1\n").unwrap();
        let table = format!("burstq(blocksize=table(\"{}\", step), period=1 ms)", file.display());
        assert_eq!(reading(&table, None).unwrap().scenario.clusters().len(), 1);
        let read = reading("voice-onoff(codec=g729)", Some("udp")).unwrap();
        let clusters = read.scenario.clusters();
        assert_eq!((clusters.len(), clusters[0].tests.len()), (1, 1));
        let test = &clusters[0].tests[0];
        assert_eq!(test.protocol.transport.name(), "udp");
        assert!(test.traffic.to_string().contains("codec=g729"), "{}", test.traffic);
        let usual = reading("voice-onoff(codec=g729)", None).unwrap();
        assert_eq!(usual.scenario.clusters()[0].tests[0].protocol.transport.name(), "tcp");
        let wrong = reading("full", Some("carrier-pigeon")).unwrap_err().cause.to_string();
        assert!(wrong.contains("unknown protocol \"carrier-pigeon\""), "{wrong}");
    }
}
