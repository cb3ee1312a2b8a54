//! Parallel applications as their users see them: with the first kernel there is, because any will do.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use btu_core::app::kernel::KERNELS;
use btu_core::app::kernel::Kernel;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::btu;
use crate::program::read_json;

/// The first kernel, with the fewest ranks of two or more that it takes.
fn program() -> (&'static dyn Kernel, String) {
    let kernel = KERNELS.first().copied().expect("there is a kernel");
    let ranks = (2..=16).find(|ranks| kernel.takes(*ranks)).unwrap();
    (kernel, ranks.to_string())
}

fn app(folder: &Path, args: &[&str]) -> Command {
    let mut command = btu();
    command.current_dir(folder).args(["app", "run"]).args(args);
    command
}

/// What a command that ends with this code says: its output, then its messages.
fn ended(command: &mut Command, code: i32) -> [String; 2] {
    let output = command.output().unwrap();
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into());
    assert_eq!(output.status.code(), Some(code), "{said:?}");
    said
}

#[test]
fn a_dry_run_prints_the_plan_that_repeats_it() {
    let folder = TempDir::new().unwrap();
    let (kernel, ranks) = program();
    let args = [kernel.name(), "--ranks", &ranks, "--launches", "3", "--seed", "7", "--dry-run"];
    let [plan, _] = ended(&mut app(folder.path(), &args), 0);
    assert!(plan.contains("verb = \"app\"") && plan.contains("seed = 7"), "{plan}");
    std::fs::write(folder.path().join("plan.toml"), &plan).unwrap();
    let [again, _] = ended(&mut app(folder.path(), &["--plan", "plan.toml", "--dry-run"]), 0);
    assert_eq!(plan, again);
}

#[test]
fn what_cannot_be_launched_is_refused_with_what_can() {
    let folder = TempDir::new().unwrap();
    let (name, ranks) = (program().0.name(), program().1);
    for (args, told) in [
        (&["eep"][..], "unknown kernel \"eep\"; write "),
        (&["eep", "all"], "unknown kernel \"eep\"; write "),
        (&[name, "--layers", "all,pigeon"], "unknown message layer \"pigeon\"; write tcp, "),
        (&[name, "--layers", "pigeon"], "unknown message layer \"pigeon\"; write tcp, "),
        (&[name, "--class", "B"], "\"B\" is no problem class; write S, W or A"),
        (&[name, "--launches", "0"], "0 is not in 1..=1000"),
        (
            &[name, "--path", "direct", "--layers", "shm", "--ranks", &ranks],
            "shm: it joins ranks of one host",
        ),
    ] {
        let [_, said] = ended(&mut app(folder.path(), args), 2);
        assert!(said.contains(told), "no \"{told}\" in {said}");
    }
}

/// A launch finds its kernel by the name of the plan, letter by letter.
#[test]
fn a_plan_whose_kernel_has_another_name_is_refused_before_anything_is_launched() {
    let folder = TempDir::new().unwrap();
    let (kernel, ranks) = program();
    let [plan, _] =
        ended(&mut app(folder.path(), &[kernel.name(), "--ranks", &ranks, "--dry-run"]), 0);
    let upper = kernel.name().to_uppercase();
    let other =
        plan.replace(&format!("kernel = \"{}\"", kernel.name()), &format!("kernel = \"{upper}\""));
    assert_ne!(plan, other);
    std::fs::write(folder.path().join("plan.toml"), other).unwrap();
    let [_, said] = ended(&mut app(folder.path(), &["--plan", "plan.toml", "--dry-run"]), 2);
    assert!(said.contains(&format!("unknown kernel \"{upper}\"")), "{said}");
}

/// Three is no power of two and no square: a kernel that takes neither is named with what it takes.
#[test]
fn a_number_of_ranks_that_a_kernel_does_not_take_is_refused_with_those_that_it_takes() {
    let folder = TempDir::new().unwrap();
    let Some(kernel) = KERNELS.iter().find(|kernel| !kernel.takes(3)) else { return };
    let [_, said] = ended(&mut app(folder.path(), &[kernel.name(), "--ranks", "3"]), 2);
    let told = format!("{} with 3 ranks: it takes {}: 1, ", kernel.name(), kernel.legal());
    assert!(said.contains(&told), "no \"{told}\" in {said}");
}

/// Killed in the middle, gone on with, read again, verified, redacted.
#[test]
fn a_measurement_that_was_killed_goes_on_where_it_stopped() {
    let folder = TempDir::new().unwrap();
    let (kernel, ranks) = program();
    let args = [kernel.name(), "--ranks", &ranks, "--launches", "3", "--layers", "tcp,unix"];
    let more = ["--quiet", "--out", "out"];
    let mut child = app(folder.path(), &[&args[..], &more].concat()).spawn().unwrap();
    let samples = folder.path().join("out/samples.jsonl");
    let launches = || std::fs::read_to_string(&samples).unwrap_or_default().lines().count();
    while launches() < 1 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = std::fs::read_to_string(&samples).unwrap();
    ended(&mut app(folder.path(), &["--resume", "out", "--quiet"]), 0);
    let whole = std::fs::read_to_string(&samples).unwrap();
    let (first, _) = kept.split_once('\n').unwrap();
    assert!(whole.starts_with(first) && launches() == 6, "{whole}");
    assert_is_whole(&folder.path().join("out"));
    for args in [&["verify", "out"][..], &["redact", "out", "--output", "red"], &["verify", "red"]]
    {
        ended(btu().current_dir(folder.path()).args(args), 0);
    }
}

/// Everything is verified, and the same over both layers; no time is looked at.
fn assert_is_whole(directory: &Path) {
    let result = read_json(&directory.join("result.json"));
    assert_eq!(result["complete"], true, "{result:#}");
    let program = &result["programs"][0];
    for key in ["verified", "outcomes_identical", "traffic_identical"] {
        assert_eq!(program[key], true, "{key} of {program:#}");
    }
    assert_ne!(program["traffic_as_published"], false, "{program:#}");
    let jobs = program["jobs"].as_array().unwrap();
    let layers: Vec<&Value> = jobs.iter().map(|job| &job["layer"]).collect();
    assert_eq!(layers, ["tcp", "unix"]);
    assert!(jobs.iter().all(|job| job["verified_launches"] == 3), "{program:#}");
}
