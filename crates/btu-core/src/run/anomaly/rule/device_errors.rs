//! A network device of the test host damaged frames, or had no room for them.

use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::sample::CounterDelta;
use crate::sample::HostSample;
use crate::words::several;

pub(super) const RULE: Rule = Rule {
    name: "device-errors",
    about: "a network device counted an error, or dropped at least 10 frames and one of 10000",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(|run| judge(&run.sample.host)),
};

fn judge(host: &HostSample) -> Option<String> {
    let found: Vec<String> = host.devices.iter().filter_map(|one| told(one, host)).collect();
    (!found.is_empty()).then(|| format!("{} in the window", found.join(", ")))
}

/// What is wrong with this counter: `eth0 counted 7 receive errors (rx_errors)`
fn told(one: &CounterDelta, host: &HostSample) -> Option<String> {
    let (device, name) = one.name.rsplit_once('.')?;
    let (_, way, what) = KINDS.iter().find(|(kind, ..)| *kind == name)?;
    let counts = if *what == DROP { is_much(one.delta, device, way, host) } else { one.delta > 0 };
    counts.then(|| format!("{device} counted {} ({name})", several(one.delta, what)))
}

/// Frames of protocols that nobody speaks are dropped at any time.
fn is_much(dropped: i64, device: &str, way: &str, host: &HostSample) -> bool {
    let name = format!("{device}.{way}_packets");
    let passed = host.devices.iter().find(|one| one.name == name).map_or(0, |one| one.delta);
    dropped >= FEW && dropped.saturating_mul(PART) > passed
}

const KINDS: [(&str, &str, &str); 4] = [
    ("rx_errors", "rx", "receive error"),
    ("rx_dropped", "rx", DROP),
    ("tx_errors", "tx", "send error"),
    ("tx_dropped", "tx", DROP),
];
const DROP: &str = "dropped frame";
const FEW: i64 = 10;
const PART: i64 = 10_000;
