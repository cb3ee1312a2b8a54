//! Queues on the line of 1.7 Mb/s: random bursts beside the schedule that was drawn, what waits until all is read,
//! and bursts that do not wait.

use std::path::Path;

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
use super::of_group;

/// T5, T6: utilisation and delay of random bursts are those of the schedule that was drawn.
pub(super) fn random_bursts(program: &Verb<'_>) -> Result<usize> {
    let args =
        ["sweep", "time", "--values", "10s,30s,60s,90s,120s", "--passes", "1", "--seed", "1"];
    let result = program.measure("time", &[&args[..], &LINE].concat())?;
    let runs = runs(&program.results.join("time"))?;
    let mu = number(&result, "mu_bit_s")?;
    let mut delays = Vec::new();
    let missed = each("T5", &of_group(&result, "time"), |cell| {
        let (time, rho) = (number(cell, "x")?, number(cell, "rho")?);
        let (ratio, delay) = (number(cell, "offered_ratio")?, number(cell, "window_delay_s")?);
        delays.push((time, delay));
        let run =
            runs.iter().find(|run| run["cell"] == cell["cell"]).context("no run of a cell")?;
        let want = fluid_delay(&arrivals(run), time, mu).context("no A(t)")?;
        let told = format!("T5 {time:.0} s: a/d {ratio:.2} within 2 % of the drawn {rho:.2}");
        let waits = format!("T6 {time:.0} s: W {delay:.2} s within 3 % of the drawn {want:.2} s");
        Ok(judged(&told, (ratio / rho - 1.0).abs() <= 0.02)
            + judged(&waits, (delay / want - 1.0).abs() <= 0.03))
    })?;
    let (slope, square) = fitted(&delays);
    let told = format!("T6 delay grows {slope:.3} s per s (0.454 within 5 %), r^2 {square:.4}");
    Ok(missed + judged(&told, (slope / 0.454 - 1.0).abs() <= 0.05 && square >= 0.99))
}

/// The runs of a result directory.
pub(super) fn runs(folder: &Path) -> Result<Vec<Value>> {
    let file = folder.join("samples.jsonl");
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
    let lines = text.lines().map(|line| serde_json::from_str(line).context("parse samples.jsonl"));
    let lines: Vec<Value> = lines.collect::<Result<_>>()?;
    Ok(lines.into_iter().filter(|line| line["kind"] == "traffic_run").collect())
}

/// A(t) of the flow of a run: seconds and bytes.
pub(super) fn arrivals(run: &Value) -> Vec<(f64, f64)> {
    let curves = &run["clusters"][0]["flows"][0]["curves"];
    let column = |key: &str| -> Vec<f64> {
        let steps = curves[key].as_array().into_iter().flatten().filter_map(Value::as_f64);
        steps
            .scan(0.0, |sum, step| {
                *sum += step;
                Some(*sum)
            })
            .collect()
    };
    let times = column("t_ns").into_iter().map(|ns| ns / 1e9);
    times.zip(column("arrived_bytes")).collect()
}

/// W over [0, T] of a fluid that arrives as A(t) says and leaves at `mu`, seconds: Little's formula, as the paper uses it.
pub(super) fn fluid_delay(arrivals: &[(f64, f64)], time_s: f64, mu_bit_s: f64) -> Option<f64> {
    let within: Vec<(f64, f64)> =
        arrivals.iter().copied().take_while(|(at, _)| *at <= time_s).collect();
    let (last, arrived) = *within.last()?;
    let (mut queue, mut area) = (0.0, 0.0);
    for pair in within.windows(2) {
        let [(from, before), (to, after)] = [pair[0], pair[1]];
        let (step, came) = (to - from, after - before);
        let next = queue + came - mu_bit_s / 8.0 * step;
        // Of a queue that goes, what is left of the step is empty.
        let filled = if next < 0.0 { step * queue / (queue - next) } else { step };
        area += f64::midpoint(queue, next.max(0.0)) * filled;
        queue = next.max(0.0);
    }
    // The rest of T, less than a step, goes on as it ended.
    area += queue * (time_s - last);
    (arrived > 0.0).then(|| area / arrived)
}

/// Slope and r^2 of a line by least squares.
fn fitted(points: &[(f64, f64)]) -> (f64, f64) {
    let n = f64::from(u32::try_from(points.len()).unwrap_or(u32::MAX));
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let (xx, yy) = (sum(&|p| (p.0 - x).powi(2)), sum(&|p| (p.1 - y).powi(2)));
    let xy = sum(&|p| (p.0 - x) * (p.1 - y));
    (xy / xx, xy * xy / (xx * yy))
}

/// Bursts of 12500 B over TCP, whose buffers are known, at shares of the time that one takes on the line.
fn bursts(program: &Verb<'_>, name: &str, kind: &str, share: f64, time: &str) -> Result<Value> {
    let period = 12_500.0 * 8e9 / MU * share;
    let text = format!(
        "[[cluster]]\nname = \"{name}\"\n[[cluster.test]]\npath = \"test -> active\"\n\
         transport = \"tcp(window=65536 B, congestion=cubic)\"\ndrain = \"yes\"\n\
         type = \"{kind}(blocksize=12500 B, period={period:.0} ns, duration={time})\"\n"
    );
    let file = program.results.join(format!("{name}.toml"));
    std::fs::write(&file, text)?;
    let result =
        program.measure(name, &[&[file.display().to_string().as_str()][..], &LINE].concat())?;
    all_of(&result, "flows").first().map(|flow| (*flow).clone()).context("no flow")
}

/// T7: what Little's formula makes of a queue that was drained is the mean delay of a byte, by the records of the blocks.
pub(super) fn drained(program: &Verb<'_>) -> Result<usize> {
    let mut missed = 0;
    for (name, rho) in [("drained-below", 0.5), ("drained-above", 1.5)] {
        let flow = bursts(program, name, "burstq", 1.0 / rho, "10 s")?;
        let (little, bytes) =
            (number(&flow, "drained_delay_s")?, number(&flow, "delay_byte_mean_s")?);
        let told =
            format!("T7 rho {rho}: W drained {little:.4} s within 1 % of {bytes:.4} s by blocks");
        missed += judged(&told, (little / bytes - 1.0).abs() <= 0.01);
    }
    Ok(missed)
}

/// T9: bursts that do not wait are missed where the line is too slow for them, and queued ones never are. What the sockets
/// hold is filled first, so that the slightest overload takes long to show.
pub(super) fn unqueued(program: &Verb<'_>) -> Result<usize> {
    let mut missed = 0;
    for share in [0.5, 0.9, 1.1, 2.0] {
        let of = |kind: &str| {
            bursts(program, &format!("{kind}-{:.0}", share * 100.0), kind, share, "20 s")
        };
        let (burst, queued) = (of("burst")?, of("burstq")?);
        let counts = |flow: &Value| -> Result<[f64; 3]> {
            Ok([
                number(flow, "blocks_due")?,
                number(flow, "blocks_sent")?,
                number(flow, "blocks_missed")?,
            ])
        };
        let ([due, sent, lost], [queued_due, queued_sent, queued_lost]) =
            (counts(&burst)?, counts(&queued)?);
        let told = format!(
            "T9 {share} S: {sent} sent and {lost} missed of {due}, queued {queued_sent} of {queued_due}"
        );
        let is_all = (sent + lost - due).abs() < 0.5 && (queued_sent - queued_due).abs() < 0.5;
        let differs = lost > 0.5;
        missed += judged(&told, is_all && queued_lost < 0.5 && differs == (share < 1.0));
    }
    Ok(missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_fitted_exactly() {
        let (slope, square) = fitted(&[(10.0, 5.54), (20.0, 10.08), (40.0, 19.16)]);
        assert!((slope - 0.454).abs() < 1e-9 && (square - 1.0).abs() < 1e-9);
    }

    /// (T/2)(1 - 1/rho) of a fluid that arrives evenly; one that comes in the first half waits longer, and what comes
    /// slower than it leaves does not wait.
    #[test]
    fn the_delay_of_a_drawn_schedule_is_that_of_its_fluid() {
        let evenly = |rho: f64| -> Vec<(f64, f64)> {
            (0..=1000_u32)
                .map(|k| f64::from(k) / 100.0)
                .map(|at| (at, rho * MU / 8.0 * at))
                .collect()
        };
        for rho in [3.0, 10.9] {
            let found = fluid_delay(&evenly(rho), 10.0, MU).unwrap();
            assert!((found / (5.0 * (1.0 - 1.0 / rho)) - 1.0).abs() < 1e-6, "{found}");
        }
        assert!(fluid_delay(&evenly(0.5), 10.0, MU).unwrap() < 1e-9);
        let early: Vec<(f64, f64)> =
            evenly(3.0).iter().map(|(at, bytes)| (*at, bytes.min(15.0 * MU / 8.0))).collect();
        // Twice what leaves waits more each second for 5 s, then less: 62.5 of 15.
        let found = fluid_delay(&early, 10.0, MU).unwrap();
        assert!((found - 62.5 / 15.0).abs() < 0.01, "{found}");
        assert_eq!(fluid_delay(&[], 10.0, MU), None);
    }

    #[test]
    fn arrivals_of_a_run_are_summed_up() {
        let run = serde_json::json!({"clusters": [{"flows": [{"curves": {
            "t_ns": [0, 500_000_000, 500_000_000], "arrived_bytes": [100, 0, 50], "read_bytes": [0, 0, 1]
        }}]}]});
        assert_eq!(arrivals(&run), [(0.0, 100.0), (0.5, 100.0), (1.0, 150.0)]);
        assert_eq!(arrivals(&Value::Null), []);
    }
}
