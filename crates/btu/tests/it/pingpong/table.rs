//! The table of ways to wait, and what its sentences say of it.

use serde_json::Value;
use tempfile::TempDir;

use super::short;
use crate::commands::needs;
use crate::commands::run;
use crate::program::read_json;
use crate::quick;

/// What was said, and the result that it is about.
struct Told {
    said: String,
    result: Value,
}

/// A time of a curve, its interval where it has one, and whether other work took the CPU meanwhile.
struct Taken {
    us: f64,
    interval: Option<[f64; 2]>,
    is_disturbed: bool,
}

/// On a busy machine intervals overlap, or are missing: each sentence says what its own intervals tell, neither more
/// nor less. On an idle one they tell all of it.
#[test]
fn the_table_parts_waiting_from_protocol() {
    needs!();
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skip!("too few CPUs: two ends that spin need two");
    }
    let attempt = |_| {
        let folder = TempDir::new().unwrap();
        let said = run(&mut short(folder.path(), &["tcp", "shm", "--table"])).unwrap();
        Told { said, result: read_json(&folder.path().join("out/result.json")) }
    };
    let told = quick::undisturbed(attempt, |told| !told.said.contains("waiting costs"));
    told.has_every_row();
    for (size, bytes) in [("8B", 8), ("1400B", 1400), ("64KiB", 65_536)] {
        told.takes_the_gap_apart(size, bytes);
        told.tells_what_a_second_cpu_costs(size, bytes);
    }
    if !told.is_disturbed() {
        assert!(told.said.contains("waiting costs"), "{}", told.said);
    }
}

impl Told {
    fn has_every_row(&self) {
        let said = &self.said;
        assert!(said.contains("by transport, way to wait and placement"), "{said}");
        for row in [
            ["tcp", "block", "split"],
            ["tcp", "block", "same"],
            ["tcp", "spin", "split"],
            ["tcp", "busy-poll", "same"],
            ["shm", "block", "same"],
        ] {
            let is_row = |line: &str| line.split_whitespace().take(3).eq(row);
            assert!(said.lines().any(is_row), "{row:?}: {said}");
        }
        assert!(!said.contains("spin       same"), "{said}");
    }

    fn takes_the_gap_apart(&self, size: &str, bytes: u64) {
        let [block, spin, shm] = ["tcp block split", "tcp spin split", "shm spin split"]
            .map(|label| self.taken(label, bytes));
        let begin = format!(
            "* {size}: tcp that blocks takes {:.2} us, shm (a copy of memory) that spins {:.2} us; ",
            block.us, shm.us
        );
        let sentence = self.sentence(&begin);
        let (waiting, protocol) = (block.above(&spin), spin.above(&shm));
        if waiting.is_none() && protocol.is_none() {
            return assert_eq!(sentence, "waiting and protocol cannot be told apart here");
        }
        for (term, what) in [(&waiting, "waiting"), (&protocol, "the protocol")] {
            let untold = format!("{what} cannot be told apart here");
            assert_eq!(sentence.contains(&untold), term.is_none(), "{begin}{sentence}");
            let cost = term.as_ref().map(|cost| format!("{what} {cost}"));
            assert!(cost.is_none_or(|cost| sentence.contains(&cost)), "{begin}{sentence}");
        }
    }

    fn tells_what_a_second_cpu_costs(&self, size: &str, bytes: u64) {
        let [split, same] =
            ["tcp block split", "tcp block same"].map(|label| self.taken(label, bytes));
        let begin = format!(
            "* {size}: tcp that blocks takes {:.2} us with each end on a CPU of its own, {:.2} us with both on one; ",
            split.us, same.us
        );
        let sentence = self.sentence(&begin);
        match split.above(&same) {
            None => assert_eq!(sentence, "what the second CPU costs cannot be told here"),
            Some(cost) => {
                assert!(sentence.starts_with(&format!("the second CPU {cost}")), "{sentence}");
            }
        }
    }

    /// The rest of the one item of a list that begins so, on one line.
    fn sentence(&self, begin: &str) -> String {
        let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lists: Vec<String> = self.said.split("\n\n").map(line).collect();
        let rests: Vec<&str> = lists.iter().flat_map(|list| list.split(begin).skip(1)).collect();
        let [rest] = rests[..] else { panic!("{begin}: {}", self.said) };
        rest.split(" * ").next().unwrap_or(rest).to_owned()
    }

    fn taken(&self, label: &str, bytes: u64) -> Taken {
        let curves = self.result["curves"].as_array().unwrap();
        let curve = curves.iter().find(|curve| curve["label"] == label).unwrap();
        let points = curve["points"].as_array().unwrap();
        let point = points.iter().find(|point| point["bytes"] == bytes).unwrap();
        let bounds = point["ci95_us"].as_array();
        Taken {
            us: point["time_us"].as_f64().unwrap(),
            interval: bounds.map(|bounds| [0, 1].map(|at| bounds[at].as_f64().unwrap())),
            is_disturbed: !point["flags"].as_array().unwrap().is_empty(),
        }
    }

    /// True where others took the CPU from ends of which the first sentence is.
    fn is_disturbed(&self) -> bool {
        ["tcp block split", "tcp spin split"].iter().any(|label| self.taken(label, 8).is_disturbed)
    }
}

impl Taken {
    /// What this is above `other` as a sentence has it; nothing where the intervals overlap, or one is missing. With
    /// fewer than five sizes the intervals of a result are those of the rounds, by which curves are told apart.
    fn above(&self, other: &Self) -> Option<String> {
        let ([low, high], [other_low, other_high]) = (self.interval?, other.interval?);
        let us = self.us - other.us;
        let verb = if us < 0.0 { "saves" } else { "costs" };
        (low > other_high || other_low > high).then(|| format!("{verb} {:.2} us [", us.abs()))
    }
}
