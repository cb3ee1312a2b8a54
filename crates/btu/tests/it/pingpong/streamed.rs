//! Blocks that go one way.

use serde_json::Value;
use tempfile::TempDir;

use super::result;
use crate::commands::needs;

/// The point of 16 KiB over this machine's own loopback.
fn point(mode: &str) -> Value {
    let folder = TempDir::new().unwrap();
    let args = ["tcp", "--on", "loopback", "--sizes", "16KiB", "--mode", mode];
    let alone = ["--reference", "off", "--chasms", "off"];
    let result = result(folder.path(), &[&args[..], &alone[..]].concat());
    result["curves"][0]["points"][0].clone()
}

/// A stream that waits for an answer to each block takes twice as long as half of a round trip. Two
/// CPUs that others want too make both slower, so the fastest units are compared.
#[test]
fn blocks_of_a_stream_do_not_wait_for_an_answer_to_each() {
    needs!();
    let (stream, there_and_back) = (point("streaming"), point("ping-pong"));
    let of = |point: &Value, key: &str| point[key].as_f64().unwrap_or_else(|| panic!("{point:#}"));
    assert!(of(&stream, "exchanges") >= 10.0 * of(&stream, "timed_units"), "{stream:#}");
    assert!((of(&there_and_back, "exchanges") - of(&there_and_back, "timed_units")).abs() < 0.5);
    let ratio = of(&stream, "min_us") / of(&there_and_back, "min_us");
    assert!(ratio < 1.3, "{ratio}: {stream:#} {there_and_back:#}");
}
