//! A test on another host that was cut off, and that is gone on with: each cell is measured once, whoever
//! was killed, and the host under test stands for its own runs alone.

use std::path::Path;
use std::process::Stdio;

use super::A_LOT;
use super::MANY;
use super::between::SENDS;
use super::between::two;
use super::ended;
use super::ended::BENCH;
use super::ended::bench_and_box;
use super::flows::one;
use super::has_records;
use super::hosts::Hosts;
use super::hosts::Placed;
use super::hosts::said;
use super::measured;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::ended_within;
use crate::program::lines;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;
use crate::trust::copied;
use crate::trust::verified;

/// Of `MANY`: passes, cases, applications, and the activity with its baseline.
const CELLS: usize = 8 * 2 * 2 * 2;

/// The rest of the test in a directory, by the same driver.
fn rest<'h>(hosts: &'h Hosts, out: &str) -> Placed<'h> {
    let mut command = hosts.btu(2);
    command.env("BTU_STATE_DIR", hosts.state("driver"));
    command.args(["run", "--json", "--resume", out]).args(BENCH).stdout(Stdio::null());
    command
}

/// Waits for some runs more than there are.
fn grows(result: &Path) {
    let samples = result.join("samples.jsonl");
    let before = std::fs::read_to_string(&samples).map_or(0, |text| text.lines().count());
    wait_until(|| has_records(result, before + 2));
}

#[test]
fn a_test_elsewhere_is_gone_on_with_whoever_was_killed_and_each_cell_is_measured_once() {
    let name = "agent::resumed::\
        a_test_elsewhere_is_gone_on_with_whoever_was_killed_and_each_cell_is_measured_once";
    isolated(name, || {
        let hosts = Hosts::new();
        let [mut bench, mut active] = bench_and_box(&hosts);
        let result = hosts.path("result");
        // The conductor.
        let mut run = hosts.drive(MANY, "result", &BENCH).begun();
        grows(&result);
        signal(run.id(), "KILL");
        run.wait().unwrap();
        let kept = lines(&result.join("samples.jsonl"));
        // The agent of the host under test.
        let mut run = rest(&hosts, "result").begun();
        grows(&result);
        bench.kill();
        let (code, told) = ended(&mut run, A_LOT);
        assert_eq!(code, Some(4), "{told}");
        let again = "go on with: btu run --resume result --test bench --active lab1";
        assert!(told.contains(again), "{told}");
        bench.restart();
        // The network between whoever drives and the host under test.
        let mut run = rest(&hosts, "result").begun();
        grows(&result);
        hosts.cut(0);
        signal(run.id(), "INT");
        let (code, told) = ended(&mut run, A_LOT);
        assert_eq!(code, Some(130), "{told}");
        assert!(told.contains(again), "{told}");
        hosts.mend(0);
        // The black box, for good: the host under test hands over what it has, signed.
        let mut run = rest(&hosts, "result").args(["--reconnect", "1"]).begun();
        grows(&result);
        active.kill();
        let (code, told) = ended(&mut run, A_LOT);
        assert_eq!(code, Some(4), "{told}");
        assert!(told.contains(again), "{told}");
        active.restart();
        rest(&hosts, "result").ends_with(0);
        is_whole(&result, 4);
        assert!(lines(&result.join("samples.jsonl")).starts_with(&kept));
        let shown = rest(&hosts, "result").ends_with(0);
        assert!(said(&shown).contains("the measurement is finished"), "{}", said(&shown));
        assert!(!bench.state().join("test").exists(), "nothing of it is left there");
        // Nobody signs for the host under test.
        let signatures = result.join("signatures.json");
        std::fs::remove_file(&signatures).unwrap();
        rest(&hosts, "result").ends_with(0);
        assert!(!signatures.exists());
    });
}

/// Each cell was measured once, in so many parts more than one, and all hosts stand for it.
fn is_whole(result: &Path, resumed: usize) {
    let mut cells = measured(result);
    assert_eq!(cells.len(), CELLS);
    cells.dedup();
    assert_eq!(cells.len(), CELLS, "a cell was measured twice");
    let events = lines(&result.join("events.jsonl"));
    let count = |name: &str| events.iter().filter(|one| one["event"] == name).count();
    assert_eq!((count("resumed"), count("finished")), (resumed, 1), "{events:?}");
    // The host under test that loses its black box for good says that, and who it is.
    assert_eq!((count("agent_lost"), count("interrupted")), (2, 1), "{events:?}");
    assert_eq!(read_json(&result.join("result.json"))["complete"], true);
    let (code, found) = verified(result, &[]);
    assert_eq!((code, &found["tier"]), (Some(0), &"all_roles_signed".into()), "{found:#}");
    for left in ["told.json", "told.json.new"] {
        assert!(!result.join(left).exists(), "{left}");
    }
}

#[test]
fn a_host_under_test_goes_on_with_its_own_runs_and_with_no_others() {
    let name = "agent::resumed::a_host_under_test_goes_on_with_its_own_runs_and_with_no_others";
    isolated(name, || {
        let hosts = Hosts::new();
        let [_bench, _active] = bench_and_box(&hosts);
        let result = hosts.path("result");
        let mut run = hosts.drive(MANY, "result", &BENCH).begun();
        grows(&result);
        let twice = rest(&hosts, "result").ends_with(2);
        assert!(said(&twice).contains("another process writes"), "{}", said(&twice));
        signal(run.id(), "KILL");
        run.wait().unwrap();
        // A run that was changed by hand.
        let changed = copied(&result, &hosts.path("changed"));
        let samples = changed.join("samples.jsonl");
        let text = std::fs::read_to_string(&samples).unwrap();
        std::fs::write(&samples, text.replacen("\"position\":1", "\"position\":2", 1)).unwrap();
        // One of this host, which was never told by another.
        let own = copied(&result, &hosts.path("own"));
        std::fs::remove_file(own.join("told.json")).unwrap();
        // It may have been killed while it wrote another one.
        let _ = std::fs::remove_file(own.join("told.json.new"));
        // A proof that somebody else made.
        let other = copied(&result, &hosts.path("other"));
        let told = std::fs::read_to_string(other.join("told.json")).unwrap();
        let digit = told.rfind("\"}]").unwrap() - 1;
        let forged = if told.as_bytes()[digit] == b'0' { "1" } else { "0" };
        let told = [&told[..digit], forged, &told[digit + 1..]].concat();
        std::fs::write(other.join("told.json"), told).unwrap();
        for (out, why) in [
            ("changed", "samples.jsonl:"),
            ("own", "no host under test told what it stands for"),
            ("other", "not signed by the host under test"),
        ] {
            let refused = rest(&hosts, out).output().unwrap();
            assert_eq!(refused.status.code(), Some(2), "{out}: {}", said(&refused));
            assert!(said(&refused).contains(why), "{out}: {}", said(&refused));
        }
        let mut elsewhere = hosts.btu(2);
        elsewhere.env("BTU_STATE_DIR", hosts.state("driver"));
        elsewhere.args(["run", "--resume", "result", "--test", "lab1", "--active", "bench"]);
        let refused = elsewhere.ends_with(2);
        let why = "agent lab1 cannot go on with this test";
        assert!(said(&refused).contains(why), "{}", said(&refused));
    });
}

/// An agent that emulates links in front of itself, for one at a time.
const FRONT: &str = "[front]\ndevice = \"lan\"\naddress = \"10.77.0.9/24\"\n";

#[test]
fn a_run_goes_on_with_the_emulator_of_its_first_part_or_not_at_all() {
    let name = "agent::resumed::a_run_goes_on_with_the_emulator_of_its_first_part_or_not_at_all";
    isolated(name, || {
        let hosts = Hosts::new();
        let mut agent = hosts.lab1(&[FRONT]);
        let result = hosts.path("result");
        let plan = Cells { cases: &["SEND", "SEND+DL"], ..MANY };
        let mut run = hosts.run(plan, "result", &["--active", "lab1"]).begun();
        grows(&result);
        signal(run.id(), "INT");
        let (code, told) = ended(&mut run, A_LOT);
        assert_eq!(code, Some(130), "{told}");
        let kept = lines(&result.join("samples.jsonl"));
        let rest = || {
            let mut command = hosts.btu(2);
            command.args(["run", "--json", "--resume", "result", "--active", "lab1"]);
            command.stdout(Stdio::null()).output().unwrap()
        };
        let policy = agent.state().join("policy.toml");
        for (now, why) in [
            ("", "SEND+DL: no emulated link as before; agent lab1: "),
            (&*format!("shared = 2\n{FRONT}"), "agent lab1: the agent's time is shared"),
            (&*FRONT.replace("0.9", "0.8"), "emulator_active was 10.77.0.9 and is 10.77.0.8"),
        ] {
            agent.kill();
            std::fs::write(&policy, now).unwrap();
            agent.restart();
            let refused = rest();
            assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
            assert!(said(&refused).contains(why), "{}", said(&refused));
        }
        assert_eq!(lines(&result.join("samples.jsonl")), kept);
        agent.kill();
        std::fs::write(&policy, FRONT).unwrap();
        agent.restart();
        let last = rest();
        // A busy machine may need longer than the cap of a cell.
        assert!(matches!(last.status.code(), Some(0 | 6)), "{}", said(&last));
        assert_eq!(measured(&result).len(), CELLS);
        assert_eq!(verified(&result, &[]).0, Some(0));
    });
}

/// What an agent emulates is of no concern to a plan whose cases are not impaired.
#[test]
fn a_run_that_uses_no_emulator_goes_on_whatever_its_agent_has() {
    let name = "agent::resumed::a_run_that_uses_no_emulator_goes_on_whatever_its_agent_has";
    isolated(name, || {
        let hosts = Hosts::new();
        let mut agent = hosts.lab1(&[FRONT]);
        let result = hosts.path("result");
        let mut run = hosts.run(MANY, "result", &["--active", "lab1"]).begun();
        grows(&result);
        signal(run.id(), "INT");
        let (code, told) = ended(&mut run, A_LOT);
        assert_eq!(code, Some(130), "{told}");
        agent.kill();
        std::fs::write(agent.state().join("policy.toml"), "").unwrap();
        agent.restart();
        let mut rest = hosts.btu(2);
        rest.args(["run", "--json", "--resume", "result", "--active", "lab1"]);
        let rest = rest.stdout(Stdio::null()).output().unwrap();
        assert!(matches!(rest.status.code(), Some(0 | 6)), "{}", said(&rest));
        assert_eq!(verified(&result, &[]).0, Some(0));
    });
}

/// Its impaired cells would be measured over other links, and the result would say of all what held for some.
#[test]
fn an_agent_that_comes_back_with_another_emulator_is_waited_for_until_it_is_set_back() {
    let name = "agent::resumed::\
        an_agent_that_comes_back_with_another_emulator_is_waited_for_until_it_is_set_back";
    isolated(name, || {
        let hosts = Hosts::new();
        let mut agent = hosts.lab1(&[FRONT]);
        let (result, heard) = (hosts.path("result"), hosts.path("stderr"));
        let plan = Cells { cases: &["SEND", "SEND+DL"], ..MANY };
        let options = ["--active", "lab1", "--reconnect", "120"];
        let mut run = hosts.run(plan, "result", &options);
        let mut run = run.stderr(std::fs::File::create(&heard).unwrap().into()).spawn().unwrap();
        grows(&result);
        let policy = agent.state().join("policy.toml");
        let elsewhere = FRONT.replace("0.9", "0.8");
        for (now, why) in [
            ("", "SEND+DL: no emulated link as before; agent lab1: "),
            (FRONT, ""),
            (&*elsewhere, "emulator_active was 10.77.0.9 and is 10.77.0.8"),
            (FRONT, ""),
        ] {
            agent.kill();
            std::fs::write(&policy, now).unwrap();
            agent.restart();
            wait_until(|| std::fs::read_to_string(&heard).unwrap().contains(why));
            if why.is_empty() {
                grows(&result);
            }
        }
        let ended = ended_within(&mut run, A_LOT).unwrap();
        assert!(
            matches!(ended.code(), Some(0 | 6)),
            "{}",
            std::fs::read_to_string(&heard).unwrap()
        );
        assert_eq!(verified(&result, &[]).0, Some(0));
    });
}

#[test]
fn traffic_between_two_agents_is_gone_on_with_whoever_was_killed_and_each_run_is_made_once() {
    let name = "agent::resumed::\
        traffic_between_two_agents_is_gone_on_with_whoever_was_killed_and_each_run_is_made_once";
    isolated(name, || {
        let hosts = Hosts::new();
        let mut agents = two(&hosts, [&[SENDS], &[]]);
        let result = hosts.path("result");
        let stream = "type = \"full(blocksize=64 KiB, duration=400 ms)\"";
        std::fs::write(hosts.path("many.toml"), one("lab1", "lab2", stream)).unwrap();
        let rest = ["--resume", "result", "--reconnect", "1"];
        let again = "go on with: btu traffic --resume result";
        // Of twelve runs whoever drives makes the first ones.
        let mut run = hosts.traffic(&["many.toml", "--passes", "12", "--out", "result"]);
        grows(&result);
        signal(run.id(), "KILL");
        run.wait().unwrap();
        let kept = lines(&result.join("samples.jsonl"));
        // The agent that measures, and then the one that is sent to, for good.
        for agent in &mut agents {
            let mut run = hosts.traffic(&rest);
            grows(&result);
            agent.kill();
            let (code, told) = ended(&mut run, A_LOT);
            assert_eq!(code, Some(4), "{told}");
            assert!(told.contains(again), "{told}");
            agent.restart();
        }
        let (code, told) = ended(&mut hosts.traffic(&rest), A_LOT);
        assert_eq!(code, Some(0), "{told}");
        let all = lines(&result.join("samples.jsonl"));
        assert!(all.starts_with(&kept));
        let mut passes: Vec<_> = all.iter().filter_map(|line| line["pass"].as_u64()).collect();
        passes.sort_unstable();
        assert_eq!(passes, (1..=12).collect::<Vec<_>>());
        let (code, found) = verified(&result, &[]);
        assert_eq!(code, Some(0), "{found:#}");
        assert!(!result.join("told.json").exists());
        let (code, told) = ended(&mut hosts.traffic(&rest), A_LOT);
        assert_eq!(code, Some(0), "{told}");
        assert!(told.contains("the measurement is finished"), "{told}");
        // Nobody signs for the agent that measured.
        let signatures = result.join("signatures.json");
        std::fs::remove_file(&signatures).unwrap();
        let (code, told) = ended(&mut hosts.traffic(&rest), A_LOT);
        assert_eq!(code, Some(0), "{told}");
        assert!(told.contains("the measurement is finished"), "{told}");
        assert!(!signatures.exists());
    });
}
