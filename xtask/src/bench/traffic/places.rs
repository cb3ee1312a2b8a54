//! Where a queue stands: the four places add up to A - D, in the mean and in each reading, below and above the knee.

use anyhow::Result;
use serde_json::Value;

use super::LINE;
use super::MU;
use super::Verb;
use super::all_of;
use super::each;
use super::judged;
use super::number;

/// T8.
pub(super) fn places(program: &Verb<'_>) -> Result<usize> {
    let args = ["sweep", "period", "--values", "118ms,39ms", "--time", "10s", "--passes", "1"];
    let result = program.measure("places", &[&args[..], &LINE].concat())?;
    let mut queued = all_of(&result, "flows");
    queued.retain(|flow| number(flow, "mean_queue_bytes").is_ok());
    each("T8 places", &queued, judge)
}

fn judge(flow: &Value) -> Result<usize> {
    let (queue, mut sum) = (number(flow, "mean_queue_bytes")?, 0.0);
    for place in ["application", "socket", "network", "receiver"] {
        sum += number(flow, &format!("queue_{place}_bytes"))?;
    }
    // Readings of one moment are spread over some of the way.
    let bound = (0.02 * queue).max(MU / 8.0 * 0.002).max(1448.0);
    let told = format!("T8 places {sum:.0} of L {queue:.0} bytes, within {bound:.0}");
    let missed = judged(&told, (sum - queue).abs() <= bound);
    // What was read counts as sent until the sender hears of it, one round trip at the most; while a burst passes it
    // leaves at mu.
    let trip = number(flow, "least_rtt_s")? + number(flow, "rtt_above_least_s")?;
    let moved = MU / 8.0 * trip;
    let (gap, bound) = (number(flow, "queue_gap_bytes")?, (0.02 * queue).max(moved));
    let told =
        format!("T8 places of each reading are off by at most {gap:.0} bytes, {bound:.0} allowed");
    Ok(missed + judged(&told, gap <= bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reading_that_is_off_is_missed_where_the_mean_is_not() {
        let flow = |gap: Option<f64>| {
            serde_json::json!({
                "mean_queue_bytes": 100_000.0, "queue_application_bytes": 60_000.0,
                "queue_socket_bytes": 10_000.0, "queue_network_bytes": 30_500.0,
                "queue_receiver_bytes": 0.0, "queue_gap_bytes": gap, "least_rtt_s": 0.007,
                "rtt_above_least_s": 0.003,
            })
        };
        // 10 ms of the line are 2125 bytes.
        assert_eq!(judge(&flow(Some(2100.0))).unwrap(), 0);
        assert_eq!(judge(&flow(Some(2200.0))).unwrap(), 1);
        assert!(judge(&flow(None)).is_err());
    }
}
