//! The three numbers that the paper's arithmetic fixes, on an emulated line: the knee of constant bursts, the
//! utilisation of random ones, and how long these wait. Shortened; `cargo xtask bench traffic` has them whole.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::alone;
use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::lines;
use crate::program::read_json;

/// 1448 of 1538 bytes on the wire are payload: 1.7 Mb/s, and ten times that.
const LINE: [&str; 4] = ["--rate", "1805700bit/s", "--queue", "64kB"];
const FAST_LINE: [&str; 4] = ["--rate", "18057kbit/s", "--queue", "64kB"];
const BURST_BITS: f64 = 100_000.0;

/// What other programs do meanwhile comes into rates and waits; a line or a schedule that is wrong is so each time.
const ATTEMPTS: u64 = 3;

#[test]
fn t4_bursts_reach_the_rate_of_the_line_at_the_knee_of_the_paper() {
    needs!();
    let _alone = alone();
    let periods = ["--values", "3ms,4ms,5ms,5500us,6500us,7ms,8ms,12ms"];
    let effort = ["--time", "1s", "--passes", "1"];
    let found = one_of_several(|folder, seed| {
        let args = [&["sweep", "period"][..], &periods, &effort, &FAST_LINE].concat();
        let result = measured(folder, &args, seed);
        let mu = number(&result, "mu_bit_s");
        let knee_ms = 1e3 * BURST_BITS / number(&result["knee"], "knee_bit_s");
        vec![
            within("mu, bit/s", mu, 17e6, 0.01),
            within("the knee, ms", knee_ms, 1e3 * BURST_BITS / 17e6, 0.03),
        ]
    });
    println!("{found}");
}

#[test]
fn t5_t6_random_bursts_load_the_line_and_wait_as_the_drawn_schedule_says() {
    needs!();
    let _alone = alone();
    let found = one_of_several(|folder, seed| {
        let args = [&["sweep", "time", "--values", "4s,8s", "--passes", "1"][..], &LINE].concat();
        let result = measured(folder, &args, seed);
        let mu = number(&result, "mu_bit_s");
        let runs = lines(&folder.join("out/samples.jsonl"));
        let mut found = vec![within("mu, bit/s", mu, 1.7e6, 0.01)];
        for cell in result["cells"].as_array().unwrap().iter().filter(|it| it["group"] == "time") {
            let run = runs.iter().find(|run| run["cell"] == cell["cell"]).unwrap();
            let (drawn, time) = (arrivals(run), number(cell, "x"));
            let (_, bytes) = drawn.last().unwrap();
            // The mean of the model is 10.9 times the rate of the line.
            let rho = bytes * 8.0 / (mu * time);
            assert!((5.0..20.0).contains(&rho), "{rho} was drawn: {cell}");
            found.push(within("a/d", number(cell, "offered_ratio"), rho, 0.02));
            let waited = number(cell, "window_delay_s");
            found.push(within("W, s", waited, waits(&drawn, time, mu), 0.03));
        }
        assert_eq!(found.len(), 5, "{result:#}");
        found
    });
    println!("{found}");
}

/// Measures until all of it is within its bounds, and tells what was found.
fn one_of_several(mut attempt: impl FnMut(&Path, u64) -> Vec<Result<String, String>>) -> String {
    let mut missed = Vec::new();
    for seed in 1..=ATTEMPTS {
        let folder = TempDir::new().unwrap();
        let found = attempt(folder.path(), seed);
        let (met, beyond): (Vec<_>, Vec<_>) = found.into_iter().partition(Result::is_ok);
        if beyond.is_empty() {
            return format!("seed {seed}: {met:?}; beyond before: {missed:?}");
        }
        missed.extend(beyond.into_iter().filter_map(Result::err));
    }
    panic!("beyond its bounds each time: {missed:#?}");
}

fn measured(folder: &Path, args: &[&str], seed: u64) -> Value {
    let mut command = btu();
    command.current_dir(folder).arg("traffic").args(args);
    command.args(["--seed", &seed.to_string(), "--out", "out", "--quiet"]);
    run(&mut command).unwrap();
    read_json(&folder.join("out/result.json"))
}

fn within(what: &str, found: f64, wanted: f64, share: f64) -> Result<String, String> {
    let told = format!("{what}: {found:.4}, {wanted:.4} within {:.0} %", share * 100.0);
    if (found / wanted - 1.0).abs() <= share { Ok(told) } else { Err(told) }
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("no number {key}: {of:#}"))
}

/// A(t) of the flow of a run: seconds and bytes.
fn arrivals(run: &Value) -> Vec<(f64, f64)> {
    let curves = &run["clusters"][0]["flows"][0]["curves"];
    let column = |key: &str| -> Vec<f64> {
        let mut sum = 0.0;
        let steps = curves[key].as_array().unwrap().iter().map(|step| step.as_f64().unwrap());
        steps
            .map(|step| {
                sum += step;
                sum
            })
            .collect()
    };
    column("t_ns").into_iter().map(|ns| ns / 1e9).zip(column("arrived_bytes")).collect()
}

/// W over [0, T] by Little's formula, of a fluid that arrives as A(t) says and leaves at `mu`, far above which the load is:
/// its queue is never empty.
fn waits(arrivals: &[(f64, f64)], time_s: f64, mu_bit_s: f64) -> f64 {
    let mut area = 0.0;
    for pair in arrivals.windows(2) {
        let [(from, before), (to, after)] = [pair[0], pair[1]];
        area += (to.min(time_s) - from.min(time_s)) * f64::midpoint(before, after);
    }
    let &(last, all) = arrivals.last().unwrap();
    area += (time_s - last).max(0.0) * all;
    (area - mu_bit_s / 8.0 * time_s * time_s / 2.0) / all
}
