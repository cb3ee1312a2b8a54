//! Blocks that go one way.

use serde_json::Value;
use tempfile::TempDir;

use super::result;
use crate::commands::needs;
use crate::quick::undisturbed;

/// The point of 16 KiB over this machine's own loopback.
fn point(mode: &str) -> Value {
    let folder = TempDir::new().unwrap();
    let args = ["tcp", "--on", "loopback", "--sizes", "16KiB", "--mode", mode];
    let alone = ["--reference", "off", "--chasms", "off"];
    let result = result(folder.path(), &[&args[..], &alone[..]].concat());
    result["curves"][0]["points"][0].clone()
}

/// The fastest time of a block of a stream over that of one there and back.
fn ratio([stream, there_and_back]: &[Value; 2]) -> f64 {
    of(stream, "min_us") / of(there_and_back, "min_us")
}

fn of(point: &Value, key: &str) -> f64 {
    point[key].as_f64().unwrap_or_else(|| panic!("{key} of {point:#}"))
}

/// A stream that waits for an answer to each block takes twice as long as half of a round trip. Its two
/// ends work at once, so other work slows it more: the fastest units are compared, of several attempts.
#[test]
fn blocks_of_a_stream_do_not_wait_for_an_answer_to_each() {
    needs!();
    let attempt = |_| ["streaming", "ping-pong"].map(point);
    let points = undisturbed(attempt, |points| ratio(points) >= MOST);
    let [stream, there_and_back] = &points;
    assert!(of(stream, "exchanges") >= 10.0 * of(stream, "timed_units"), "{stream:#}");
    assert_eq!(there_and_back["exchanges"], there_and_back["timed_units"]);
    assert!(ratio(&points) < MOST, "{stream:#} {there_and_back:#}");
}

const MOST: f64 = 1.3;
