//! Blocks that go one way.

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::of_kind;
use crate::quick::undisturbed;

/// What the visits of 16 KiB over this machine's own loopback counted.
#[derive(Debug)]
struct Counts {
    units: u64,
    blocks: u64,
    /// How often a thread of either end slept.
    sleeps: u64,
}

impl Counts {
    fn of(mode: &str, time: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let mut command = btu();
        command.current_dir(folder.path()).args(["pingpong", "tcp", "--on", "loopback"]);
        command.args(["--mode", mode, "--sizes", "16KiB", "--perturbation", "0B"]);
        command.args(["--rounds", "3", "--point-time", time, "--wait", "block", "--out", "out"]);
        run(command.args(["--reference", "off", "--chasms", "off"])).unwrap();
        let visits = of_kind(&folder.path().join("out"), "ping_pong_visit");
        let sum = |count: fn(&Value) -> Option<u64>| {
            let of = |visit| count(visit).unwrap_or_else(|| panic!("not counted: {visit:#}"));
            visits.iter().map(of).sum()
        };
        Self {
            units: sum(|visit| visit["times"]["n"].as_u64()),
            blocks: sum(|visit| {
                Some(visit["times"]["n"].as_u64()? * visit["times"]["batch"].as_u64()?)
            }),
            sleeps: sum(|visit| visit["host"]["voluntary_switches"].as_u64()),
        }
    }

    /// Less often than once and a half for each block both ends together sleep where they work at once; one after the
    /// other they sleep twice.
    const fn is_streamed(&self) -> bool {
        self.blocks >= LEAST * self.units && 2 * self.sleeps < 3 * self.blocks
    }
}

/// Who waits for an answer to a block sleeps until it is there, and who answers until the next one comes. How
/// often is counted: times of a stream, whose two ends work at once, are those of other work besides.
#[test]
fn blocks_of_a_stream_do_not_wait_for_an_answer_to_each() {
    needs!();
    let stream = undisturbed(|_| Counts::of("streaming", LONG), |counts| !counts.is_streamed());
    assert!(stream.is_streamed(), "{stream:?}");
    let there_and_back = Counts::of("ping-pong", "10ms");
    assert_eq!(there_and_back.blocks, there_and_back.units);
    assert!(there_and_back.sleeps > there_and_back.blocks, "{there_and_back:?}");
}

/// A stream is cut by what it takes for a thirty-sixth of this: long beside the turns that a scheduler gives.
const LONG: &str = "1500ms";
/// Blocks of a unit at the least. One that is not cut to its time has one.
const LEAST: u64 = 10;
