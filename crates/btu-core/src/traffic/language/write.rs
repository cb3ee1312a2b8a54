//! A scenario as TOML text, which reads back as an equal one.

use std::fmt::Write as _;

use crate::units::Nanos;

use super::call::Call;
use super::quantity::Quantity;
use super::quantity::float;
use super::scenario::Axis;
use super::scenario::Block;
use super::scenario::Cluster;
use super::scenario::Drain;
use super::scenario::Keep;
use super::scenario::Scenario;
use super::scenario::Test;

/// Writes the canonical TOML form.
pub fn to_toml(scenario: &Scenario) -> String {
    let mut out = String::new();
    if let Some(seed) = scenario.seed {
        line(&mut out, "seed", &seed.to_string());
    }
    if scenario.hosts != scenario.run.hosts() {
        let hosts: Vec<String> = scenario.hosts.iter().map(|host| quoted(host)).collect();
        line(&mut out, "hosts", &format!("[{}]", hosts.join(", ")));
    }
    line(&mut out, "run", &run(&scenario.run));
    for cluster in scenario.clusters() {
        write_cluster(&mut out, cluster);
    }
    if !scenario.matrix.is_empty() {
        out.push_str("\n[matrix]\n");
        scenario.matrix.iter().for_each(|axis| write_axis(&mut out, axis));
    }
    out
}

fn run(block: &Block) -> String {
    let list = |blocks: &[Block]| blocks.iter().map(run).collect::<Vec<_>>().join(", ");
    match block {
        Block::Cluster(cluster) => quoted(&cluster.name),
        Block::Parallel(blocks) => format!("{{ parallel = [{}] }}", list(blocks)),
        Block::Serial(blocks, Keep::No) => format!("{{ serial = [{}] }}", list(blocks)),
        Block::Serial(blocks, Keep::Yes) => {
            format!("{{ serial = [{}], keep = true }}", list(blocks))
        }
    }
}

fn write_cluster(out: &mut String, cluster: &Cluster) {
    out.push_str("\n[[cluster]]\n");
    line(out, "name", &quoted(&cluster.name));
    cluster.tests.iter().for_each(|test| write_test(out, test));
}

fn write_test(out: &mut String, test: &Test) {
    out.push_str("[[cluster.test]]\n");
    line(out, "name", &quoted(&test.name));
    line(out, "path", &quoted(&format!("{} -> {}", test.from, test.to)));
    line(out, "type", &quoted(&test.traffic.to_string()));
    if test.sink != Call::plain(test.sink.shape()) {
        line(out, "sink", &quoted(&test.sink.to_string()));
    }
    line(out, "transport", &quoted(&test.protocol.to_string()));
    if test.sink_protocol != test.protocol {
        line(out, "sink_transport", &quoted(&test.sink_protocol.to_string()));
    }
    write_rest(out, test);
}

fn write_rest(out: &mut String, test: &Test) {
    let time = |time: Nanos| quoted(&Quantity::Time.write(float(time.count())));
    if test.start != Nanos::ZERO {
        line(out, "start", &time(test.start));
    }
    if let Some(seed) = test.seed {
        line(out, "seed", &seed.to_string());
    }
    if let Some(pace) = test.pace {
        line(out, "pace", &quoted(&pace.to_string()));
    }
    match test.drain {
        Drain::No => {}
        Drain::UpTo(cap) => line(out, "drain", &time(cap)),
        Drain::Yes => line(out, "drain", &quoted("yes")),
    }
    if test.has_receipts {
        line(out, "receipts", &quoted("yes"));
    }
    if let Some(dscp) = test.dscp {
        line(out, "dscp", &dscp.to_string());
    }
    if let Some(link) = &test.link {
        line(out, "link", &quoted(link));
    }
}

fn write_axis(out: &mut String, axis: &Axis) {
    let values: Vec<String> = axis.values.iter().map(|value| quoted(&value.to_string())).collect();
    line(out, &quoted(&axis.key()), &format!("[{}]", values.join(", ")));
}

fn line(out: &mut String, key: &str, value: &str) {
    let _ = writeln!(out, "{key} = {value}");
}

/// A text in quotes; expressions that have quotes themselves come in single ones.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
