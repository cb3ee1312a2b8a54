//! E14 (`docs/emulation-checks.md`): the relay beside the kernel's own emulator, and a run between three
//! hosts under netem, on an emulated machine whose kernel has it. No other time is taken there.

mod awake;
mod machine;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use super::Bench;
use super::options::Options;
use crate::chore::Verdict;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "netem",
    about: "E14: the relay beside the kernel's netem, and a run under netem, on an emulated machine",
    own_options: &[],
    run,
};

/// Between the medians of both, one way.
const ALIKE_US: u64 = 300;
/// The same there and back.
const ROUND_TRIP_US: f64 = 600.0;
const CONSOLE: &str = "target/bench/netem.txt";

/// What is judged: a sentence, and whether it holds.
struct Judged {
    sentence: String,
    holds: bool,
}

fn run(repo: &Repo, _options: &Options) -> Result<Verdict> {
    if !cfg!(target_arch = "x86_64") {
        println!(
            "netem: the machine of this bench is an x86_64, and is made of this host's programs"
        );
        return Ok(Verdict::of(false));
    }
    for program in ["-p btu", "-p btu-testbed --example beside_netem"] {
        if !repo.step(&format!("cargo build --release --locked --quiet {program}"))? {
            bail!("{program} did not build");
        }
    }
    let ours = ["target/release/btu", "target/release/examples/beside_netem"];
    let console = machine::run(repo, &ours, include_str!("netem/init.sh"))?;
    std::fs::create_dir_all(repo.path("target/bench")).context("create target/bench")?;
    std::fs::write(repo.path(CONSOLE), console.join("\n")).context("keep the console")?;
    if said(&console, "done").next().is_none() {
        println!("netem: the machine did not come to its end; {CONSOLE} has what it said");
        return Ok(Verdict::of(false));
    }
    for line in said(&console, "kernel") {
        println!("netem: Linux {line} under TCG");
    }
    let judged: Vec<Judged> = links(&console)?.into_iter().chain(hosts(&console)?).collect();
    for Judged { sentence, holds } in &judged {
        println!("  {} {sentence}", if *holds { "ok    " } else { "MISSED" });
    }
    let held = judged.iter().filter(|one| one.holds).count();
    println!("netem: {held} of {} hold; {CONSOLE} has all that was said", judged.len());
    Ok(Verdict::of(held == judged.len()))
}

/// What the machine said of something.
fn said<'c>(console: &'c [String], of: &'static str) -> impl Iterator<Item = &'c str> {
    console.iter().filter_map(move |line| {
        let (mark, rest) = line.strip_prefix('@')?.split_once(' ').unwrap_or((&line[1..], ""));
        (mark == of).then_some(rest)
    })
}

/// The relay beside netem, check by check.
fn links(console: &[String]) -> Result<Vec<Judged>> {
    let mut judged = Vec::new();
    for line in said(console, "link") {
        let Ok(found) = serde_json::from_str::<Value>(line) else {
            judged.push(Judged { sentence: line.to_owned(), holds: false });
            continue;
        };
        judged.push(link(&found)?);
    }
    let all = judged.len() == LINK_CHECKS;
    judged.push(Judged { sentence: format!("{} checks of links", judged.len()), holds: all });
    Ok(judged)
}

fn link(found: &Value) -> Result<Judged> {
    match found["check"].as_str() {
        Some("delay") => delay(found),
        Some("order") => order(found),
        Some("queue") => queue(found),
        Some("losses") => losses(found),
        _ => bail!("{found}: no check of this bench"),
    }
}

/// What relay and netem did.
fn both(found: &Value, name: &str) -> Result<[u64; 2]> {
    let of = |who: &str| at(found, &format!("/{who}/{name}"));
    Ok([of("relay")?, of("netem")?])
}

fn at(found: &Value, pointer: &str) -> Result<u64> {
    let number = found.pointer(pointer).and_then(Value::as_u64);
    number.with_context(|| format!("{found}: no {pointer}"))
}

fn delay(found: &Value) -> Result<Judged> {
    let ([relay, netem], asked) = (both(found, "p50_us")?, at(found, "/asked_us")?);
    let holds = relay.abs_diff(netem) <= ALIKE_US && relay.min(netem) >= asked;
    let sentence = format!("delay {asked} us: median relay {relay} us, netem {netem} us");
    Ok(Judged { sentence, holds })
}

fn order(found: &Value) -> Result<Judged> {
    let (came, late) = (both(found, "came")?, both(found, "out_of_order")?);
    let holds = came[0] == came[1] && came[0] > 0 && late == [0, 0];
    Ok(Judged { sentence: format!("order: {came:?} came, {late:?} late"), holds })
}

fn queue(found: &Value) -> Result<Judged> {
    let (came, meanwhile) = (both(found, "came")?, both(found, "sent_meanwhile")?);
    let asked = at(found, "/asked")?;
    // The one on the line, what it took during the burst, and one for where that began.
    let fits = |place: usize| (asked..=asked + meanwhile[place] + 2).contains(&came[place]);
    let sentence = format!("queue of {asked}: {came:?} had room, {meanwhile:?} left meanwhile");
    Ok(Judged { sentence, holds: fits(0) && fits(1) })
}

fn losses(found: &Value) -> Result<Judged> {
    let (missing, counted) = (both(found, "missing")?, both(found, "counted")?);
    let sent = at(found, "/sent")?;
    let sentence = format!("drop 10% of {sent}: {missing:?} missing, {counted:?} counted");
    Ok(Judged { sentence, holds: missing == counted && !missing.contains(&0) })
}

/// The run between three hosts under netem.
fn hosts(console: &[String]) -> Result<Vec<Judged>> {
    let exit = said(console, "exit").next().unwrap_or("none").to_owned();
    // Exit 6: a cell met its cap, and is there all the same.
    let mut judged = vec![Judged {
        sentence: format!("btu run between three hosts: exit code {exit}"),
        holds: matches!(exit.as_str(), "0" | "6"),
    }];
    let pattern = said(console, "said").find(|line| line.contains("2SEND+DR"));
    let pattern = pattern.unwrap_or("nothing was said of 2SEND+DR").to_owned();
    let holds = pattern.contains("netem does not do exactly \"drop 1@200,3@400/400\"");
    judged.push(Judged { sentence: pattern, holds });
    let text = said(console, "hosts").next().unwrap_or("null");
    let disclosed: Value = serde_json::from_str(text).context("read hosts.json")?;
    for role in ["active", "passive"] {
        let told = disclosed["placement"][format!("emulator_{role}")]["value"].as_str();
        let told = told.unwrap_or("none");
        let sentence = format!("emulator in front of {role}: {told}");
        judged.push(Judged { sentence, holds: told.ends_with("by netem") });
    }
    judged.extend(cells(console)?);
    let verified = said(console, "verify").any(|line| line.contains("VALID: "));
    judged.push(Judged { sentence: "btu verify finds nothing in it".to_owned(), holds: verified });
    Ok(judged)
}

/// Every delayed cell was delayed by netem, by as much as was asked for.
fn cells(console: &[String]) -> Result<Vec<Judged>> {
    let samples: Result<Vec<Value>, _> =
        said(console, "sample").map(serde_json::from_str).collect();
    let samples = samples.context("read samples.jsonl")?;
    let mut judged = Vec::new();
    for check in samples.iter().filter(|sample| sample["kind"] == "verification") {
        let trip = |name: &str| check[name]["p50"].as_f64().unwrap_or(0.0);
        let added = trip("delayed_rtt_us") - trip("emulated_rtt_us");
        let asked = 2.0 * check["delay_asked_us"].as_f64().unwrap_or(0.0);
        let sentence = format!(
            "{} {}: {asked} us asked of a round trip, {added} us added, {} Mbit/s",
            check["link"],
            check["when"],
            check["bulk_bit_s"].as_f64().unwrap_or(0.0) / 1e6
        );
        let fits = asked > 0.0 && (added - asked).abs() <= ROUND_TRIP_US;
        judged
            .push(Judged { sentence, holds: fits && check["mismatches"] == serde_json::json!([]) });
    }
    let delayed: Vec<&Value> = samples
        .iter()
        .filter(|sample| sample["kind"] == "cell")
        .flat_map(|cell| cell["emulation"].as_array().into_iter().flatten())
        .collect();
    let by_netem = |seen: &&&Value| seen["backend"] == "netem" && seen["overflow"] == 0;
    let good = delayed.iter().filter(by_netem).count();
    judged.push(Judged {
        sentence: format!("{good} of {} directions of cells by netem, nothing lost", delayed.len()),
        holds: good == delayed.len() && good > 0,
    });
    Ok(judged)
}

/// Four delays, order, queue, losses.
const LINK_CHECKS: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(line: &str) -> bool {
        link(&serde_json::from_str(line).unwrap()).unwrap().holds
    }

    #[test]
    fn medians_have_to_lie_near_each_other_and_not_below_what_was_asked() {
        let line = |relay: u32, netem: u32| {
            format!(
                r#"{{"check":"delay","asked_us":1000,"relay":{{"p50_us":{relay}}},"netem":{{"p50_us":{netem}}}}}"#
            )
        };
        assert!(judge(&line(1200, 1450)));
        assert!(!judge(&line(1200, 1501)));
        assert!(!judge(&line(990, 1200)));
    }

    #[test]
    fn a_queue_has_room_for_what_was_asked_and_for_what_left_meanwhile() {
        let line = |came: u32| {
            format!(
                r#"{{"check":"queue","asked":50,"relay":{{"came":52,"sent_meanwhile":1}},"netem":{{"came":{came},"sent_meanwhile":1}}}}"#
            )
        };
        assert!(judge(&line(51)) && judge(&line(53)));
        assert!(!judge(&line(54)) && !judge(&line(49)));
    }

    #[test]
    fn lines_of_the_console_are_found_by_their_mark() {
        let console = ["@exit 0", "exit 1", "@done"].map(str::to_owned);
        assert_eq!(said(&console, "exit").collect::<Vec<_>>(), ["0"]);
        assert_eq!(said(&console, "done").collect::<Vec<_>>(), [""]);
    }
}
