//! T12: many streams together have what one has, and each its share; a thousand of them carry something each.

use anyhow::Context;
use anyhow::Result;
use serde_json::Value;

use super::LINE;
use super::MU;
use super::Verb;
use super::all_of;
use super::each;
use super::judged;
use super::number;

pub(super) fn sessions(program: &Verb<'_>) -> Result<usize> {
    let args = ["sweep", "sessions", "--values", "1,2,4,8,16", "--time", "10s", "--passes", "3"];
    let few = program.measure("sessions", &[&args[..], &LINE].concat())?;
    let missed = each("T12 sessions", &all_of(&few, "cells"), |cell| {
        let (total, fair) = (number(cell, "departure_rate_bit_s")?, number(cell, "fairness")?);
        let label = &cell["label"];
        let told = format!("T12 {label} sessions: {total:.0} bit/s within 2 % of mu");
        let share = format!("T12 {label} sessions: Jain's index {fair:.3} >= {FAIR}");
        Ok(judged(&told, (total / MU - 1.0).abs() <= 0.02) + judged(&share, fair >= FAIR))
    })?;
    let many = program.measure("many-sessions", &MANY)?;
    Ok(missed + judge_many(&many)?)
}

/// Fairness says nothing where a session has less than a segment under way: they only have to carry something.
fn judge_many(result: &Value) -> Result<usize> {
    let mut missed = judged("T12 up to 1024 sessions end", result["complete"] == true);
    let (cells, flows) = (all_of(result, "cells"), all_of(result, "flows"));
    let one = cells.iter().find(|cell| cell["label"] == "1").context("no single session")?;
    let one = number(one, "departure_rate_bit_s")?;
    for count in COUNTS {
        let label = count.to_string();
        let cell = cells.iter().find(|cell| cell["label"] == *label);
        let cell = cell.with_context(|| format!("no cell of {count} sessions"))?;
        let own: Vec<_> = flows.iter().filter(|flow| flow["cell"] == cell["cell"]).collect();
        let carried = |flow: &&&&Value| {
            flow["ended"] == "complete" && flow["departed_bytes"].as_u64().is_some_and(|n| n > 0)
        };
        let moved = own.iter().filter(carried).count();
        let told = format!("T12 {moved} of {count} sessions carried something to the end");
        missed += judged(&told, moved == count && own.len() == count);
        let total = number(cell, "departure_rate_bit_s")?;
        let told =
            format!("T12 {count} sessions: {total:.0} bit/s within 2 % of the {one:.0} of one");
        missed += judged(&told, (total / one - 1.0).abs() <= 0.02);
    }
    Ok(missed)
}

/// Of figure 6 of the paper.
pub(super) const FAIR: f64 = 0.9;

/// On a line on which each of them has some segments a second, with room for the first ten segments of each: who loses all of
/// these starts again and again behind the others. Some are sent twice, since none has seen a full queue yet, which counts the
/// less the longer it lasts.
const MANY: [&str; 12] = [
    "sweep",
    "sessions",
    "--values",
    "1,64,256,1024",
    "--time",
    "60s",
    "--passes",
    "1",
    "--rate",
    "100Mbit/s",
    "--queue",
    "20MB",
];
const COUNTS: [usize; 4] = [1, 64, 256, 1024];

#[cfg(test)]
mod tests {
    use super::*;

    /// A result in which the last of all sessions is `last` and those together have `total`.
    fn result(last: &Value, total: f64) -> Value {
        let cells = (1..).zip(COUNTS).map(|(cell, count)| {
            let rate = if count == 1024 { total } else { 94e6 };
            serde_json::json!({ "cell": cell, "label": count.to_string(), "departure_rate_bit_s": rate })
        });
        let flow = |cell: u32| serde_json::json!({ "cell": cell, "ended": "complete", "departed_bytes": 1000 });
        let all = (1..).zip(COUNTS).flat_map(|(cell, count)| (0..count).map(move |_| flow(cell)));
        let mut flows: Vec<Value> = all.collect();
        flows.pop();
        flows.push(last.clone());
        serde_json::json!({ "complete": true, "cells": cells.collect::<Vec<_>>(), "flows": flows })
    }

    #[test]
    fn a_session_that_carried_nothing_is_missed_among_a_thousand() {
        let last = |bytes: u64, ended: &str| serde_json::json!({ "cell": 4, "ended": ended, "departed_bytes": bytes });
        let good = last(1448, "complete");
        assert_eq!(judge_many(&result(&good, 94e6)).unwrap(), 0);
        assert_eq!(judge_many(&result(&last(0, "complete"), 94e6)).unwrap(), 1);
        assert_eq!(judge_many(&result(&last(1448, "nothing moved"), 94e6)).unwrap(), 1);
        assert_eq!(judge_many(&result(&good, 90e6)).unwrap(), 1);
        let mut broken = result(&good, 94e6);
        broken["complete"] = false.into();
        assert_eq!(judge_many(&broken).unwrap(), 1);
        broken["cells"].as_array_mut().unwrap().pop();
        assert!(judge_many(&broken).is_err());
    }
}
