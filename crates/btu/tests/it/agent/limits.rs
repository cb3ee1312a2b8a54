//! What a policy limits, as the result shows it.

use std::time::Instant;

use super::MANY;
use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::lines;
use crate::program::read_json;

/// 80 Mbit/s, in bytes.
const RATE: f64 = 10e6;
/// What may leave before the kernel's pace holds a connection back.
const BURST: f64 = 256e3;

#[test]
fn an_agent_sends_no_faster_than_its_policy_says_and_the_result_says_so() {
    isolated(
        "agent::limits::an_agent_sends_no_faster_than_its_policy_says_and_the_result_says_so",
        || {
            let hosts = Hosts::new();
            let agent = hosts.agent(0, &["[[class]]\nmax_rate = \"80Mbit/s\"\n"]);
            hosts.pair(&agent, "lab1");
            let begun = Instant::now();
            let plan = MANY.replace("= 8", "= 3");
            let run = hosts.run(&plan, "result", &["--active", "lab1"]).output().unwrap();
            let lasted = begun.elapsed().as_secs_f64();
            // What a full buffer holds may take longer than the cap of a cell.
            assert!(matches!(run.status.code(), Some(0 | 6)), "{}", said(&run));
            let cells = lines(&hosts.path("result/samples.jsonl"));
            let of = |case: &'static str| cells.iter().filter(move |line| line["case"] == case);
            let sent = of("RECV").filter_map(|cell| cell["comm"]["bytes"].as_f64());
            let (runs, bytes) = sent.fold((0.0, 0.0), |(n, sum), bytes| (n + 1.0, sum + bytes));
            assert!(bytes <= RATE * lasted + runs * BURST, "{bytes} bytes in {lasted} s");
            let limited = |cell: &&serde_json::Value| {
                cell["flags"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|flag| flag["name"] == "policy-limited")
            };
            assert_eq!(of("SEND").find(limited), None, "the agent only reads");
            let first = of("RECV").find(limited).expect("a run at the limit");
            let detail = "max_rate in the policy of agent lab1: 80Mbit/s per connection";
            assert!(first["flags"].to_string().contains(detail), "{}", first["flags"]);
            let result = read_json(&hosts.path("result/result.json"));
            let reasons = result["not_rankable_reasons"].to_string();
            assert!(reasons.contains("were held back by an agent's policy"), "{reasons}");
        },
    );
}
