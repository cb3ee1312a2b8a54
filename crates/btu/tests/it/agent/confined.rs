//! What the processes of an agent may still do, as the kernel tells it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use super::hosts::Hosts;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::signal;
use crate::program::wait_until;

/// `/proc/PID/task/TID/status`, field by field.
type Status = BTreeMap<String, String>;

/// Every thread of a process.
fn threads(process: u32) -> Vec<Status> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    tasks.map(|task| status(&task.unwrap().path().join("status"))).collect()
}

fn status(path: &Path) -> Status {
    let text = std::fs::read_to_string(path).unwrap();
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
}

#[test]
fn no_thread_of_an_agent_its_front_or_its_workers_holds_a_right() {
    isolated(
        "agent::confined::no_thread_of_an_agent_its_front_or_its_workers_holds_a_right",
        || {
            let hosts = Hosts::new();
            let front = "[front]\ndevice = \"lan\"\naddress = \"10.77.0.9/24\"\n";
            let agent = hosts.lab1(&[front]);
            let plan = Cells { cases: &["SEND", "SEND+DL"], ..Cells::LONG };
            let mut run = hosts.run(plan, "result", &["--active", "lab1"]);
            let mut run = run.stderr(Stdio::null()).spawn().unwrap();
            wait_until(|| agent.workers() == 2);
            let confinement = agent.status()["confinement"].clone();
            assert_eq!(confinement["capabilities"]["value"], 0, "{confinement}");
            let filtered = confinement["system_calls_seccomp"]["value"] == true;
            assert!(filtered || confinement["system_calls_seccomp"]["reason"].is_string());
            // A worker gives its rights up before it says or hears a word.
            // Agent, front, listener, and a worker on either side of the emulator.
            wait_until(|| agent.processes().len() == 5);
            let all = || agent.processes().into_iter().flat_map(threads).collect::<Vec<_>>();
            wait_until(|| all().iter().all(|thread| thread["NoNewPrivs"] == "1"));
            wait_until(|| !filtered || all().iter().all(|thread| thread["Seccomp"] == "2"));
            // Both workers and the listener; half of any memory is less than no limit.
            let limits = agent.processes().into_iter().filter(|process| {
                let text = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
                let data = text.lines().find(|line| line.starts_with("Max data size")).unwrap();
                !data.contains("unlimited")
            });
            assert_eq!(limits.count(), 3, "processes whose memory is bounded");
            let all = all();
            for thread in &all {
                for set in ["CapEff", "CapPrm", "CapInh", "CapAmb"] {
                    assert_eq!(thread[set], "0000000000000000", "{set} of {}", thread["Name"]);
                }
            }
            assert!(
                all.iter().any(|thread| thread["Name"] == "btu-relay"),
                "no thread of the relay"
            );
            signal(run.id(), "KILL");
            run.wait().unwrap();
            agent.is_idle_soon();
        },
    );
}

/// The audit log is opened after the agent gave up its rights; root may write the other file.
#[test]
fn an_agent_cannot_open_what_is_not_in_its_state_directory() {
    isolated("agent::confined::an_agent_cannot_open_what_is_not_in_its_state_directory", || {
        let hosts = Hosts::new();
        std::fs::create_dir_all(hosts.state("0")).unwrap();
        let (log, elsewhere) = (hosts.state("0").join("audit.ndjson"), hosts.path("elsewhere"));
        std::os::unix::fs::symlink(&elsewhere, &log).unwrap();
        let agent = hosts.agent(0, &[]);
        let confinement = agent.status()["confinement"].clone();
        if let Some(reason) = confinement["files_landlock"]["reason"].as_str() {
            skip!("kernel lacks: Landlock ({reason})");
        }
        assert!(!elsewhere.exists(), "the agent wrote outside of its state directory");
        // It works all the same, and keeps what it may keep.
        hosts.pair(&agent, "lab1");
        assert!(hosts.state("0").join("peers.json").is_file());
    });
}
