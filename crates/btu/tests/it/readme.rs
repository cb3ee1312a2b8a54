//! Every command of the README is run, and does what the README says it does; those that need other hosts are read.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::read_json;
use crate::program::said;
use crate::quick;
use crate::quick::quick_run;

/// A command of the README and what must be true of its stdout and of the folder it ran in.
struct Promise {
    command: &'static str,
    holds: fn(&str, &Path) -> bool,
}

static PROMISES: &[Promise] = &[
    Promise { command: "btu doctor", holds: |said, _| said.contains("namespace") },
    Promise {
        command: "btu run --dry-run",
        holds: |said, _| said.contains("btu-26") && said.contains("quick"),
    },
    Promise {
        command: "btu run --cases SEND,RECV --applications telnet,video --activities cpu --out before",
        holds: |said, folder| said.contains("BTU") && folder.join("before/report.html").exists(),
    },
    Promise { command: "btu report before --format md", holds: |said, _| said.contains("| ") },
    Promise { command: "btu verify before", holds: |said, _| said.contains("VALID: ") },
    Promise {
        command: "btu bundle before --output before.btu",
        holds: |_, folder| folder.join("before.btu").exists(),
    },
    Promise {
        command: "btu rank --unranked mine=before.btu",
        holds: |said, _| said.contains("mine"),
    },
    Promise {
        command: "btu compare before before.btu --fail-if 'btu<-5%,penalty>20%'",
        holds: |said, _| said.contains("ok: btu<-5%"),
    },
    Promise {
        command: "btu redact before --output public.btu",
        holds: |_, folder| folder.join("public.btu").exists(),
    },
    Promise { command: "btu list", holds: |said, _| said.contains("SEND+DL") },
    Promise {
        command: "btu link --delay 10ms -- sh -c 'ping -c 3 $BTU_LINK_FAR'",
        holds: |said, _| said.contains("3 received"),
    },
    Promise {
        command: "btu link --drop 1@2/4 --stats link.json -- sh -c 'ping -c 8 -i 0.01 $BTU_LINK_FAR'",
        holds: |_, folder| read_json(&folder.join("link.json"))["up"]["dropped"] == 2,
    },
    Promise {
        command: "btu link --rtt 80ms --rate 20Mbit/s --far 'iperf3 -s -1' -- sh -c 'iperf3 -t 2 -c $BTU_LINK_FAR'",
        holds: |said, _| said.contains("receiver"),
    },
    Promise {
        command: "btu link --delay 10ms -- btu link --delay 20ms -- sh -c 'ping -c 3 $BTU_LINK_FAR'",
        holds: |said, _| said.contains("3 received"),
    },
    Promise {
        command: "btu link --delay 20ms --drop 1@100/200 --capture slow.pcapng --far 'iperf3 -s -1' -- sh -c 'iperf3 -n 4M -c $BTU_LINK_FAR'",
        holds: |_, folder| folder.join("slow.pcapng").exists(),
    },
    Promise {
        command: "btu explain slow.pcapng --html slow.html",
        holds: |said, folder| {
            said.contains("emulator-pattern") && folder.join("slow.html").exists()
        },
    },
    Promise {
        command: "btu pingpong tcp unix shm --point-time 50ms --out curves",
        holds: |said, folder| said.contains("n1/2") && folder.join("curves/report.html").exists(),
    },
    Promise {
        command: "btu pingpong --table --point-time 50ms",
        holds: |said, _| said.contains("by transport, way to wait and placement"),
    },
    Promise {
        command: "btu pingpong --dry-run",
        holds: |said, _| said.contains("124 sizes of 1 configuration"),
    },
    Promise {
        command: "btu model show voice-onoff",
        holds: |said, _| said.contains("22.483 kb/s by definition") && said.contains('█'),
    },
    Promise {
        command: "btu model check vdi",
        holds: |said, _| said.starts_with("vdi(): pass") && said.contains("chi2"),
    },
    Promise {
        command: "btu traffic sweep period --values 5ms,10ms,20ms,40ms --time 500ms --passes 1 --rate 10Mbit/s --out knee",
        holds: |said, folder| said.contains("Knee") && folder.join("knee/report.html").exists(),
    },
    Promise {
        command: "btu traffic viseum --quick --dry-run",
        holds: |said, _| said.contains("study = \"viseum\""),
    },
    Promise {
        command: "btu app run is mg --launches 2 --out programs",
        holds: |said, folder| {
            let result = read_json(&folder.join("programs/result.json"));
            said.contains("Verified      2/2") && result["verb"] == "app"
        },
    },
    Promise {
        command: "btu file baseline --protocols ftp --warm 1 --rounds 2 --out files",
        holds: |said, folder| {
            said.contains("A loopback ftp put") && folder.join("files/report.html").exists()
        },
    },
];

/// Commands that another place runs: this test would start itself again, or build everything twice.
static ELSEWHERE: &[(&str, &str)] = &[
    ("cargo run --release -- run", "the quick run of `quick`, in this build"),
    ("cargo xtask test", "`.ci/run`; it is what runs this test"),
];

/// How a command that the README shows beside its output, or for other hosts, is tried here.
enum Tried {
    /// It says what it would do.
    DryRun,
    /// Its words are read, and nothing is started: it needs other hosts, or does not end.
    Parsed,
}

static SHOWN: &[(&str, Tried)] = &[
    ("btu pingpong tcp --header 16B --nodelay off --end 4KiB", Tried::DryRun),
    ("btu agent invite --address 10.0.4.7:7411", Tried::Parsed),
    ("btu agent --listen 10.0.4.7:7411", Tried::Parsed),
    ("btu pair btu1.NNNJN3N3ICIAWGNI...@10.0.4.7:7411 --name lab1", Tried::Parsed),
    ("btu pair btu1.K3QFN3N3ICIAWGNI...@10.0.4.8:7411 --name lab2", Tried::Parsed),
    ("btu run --active lab1 --passive lab2", Tried::Parsed),
    ("btu pingpong tcp udp quic --peer lab1", Tried::Parsed),
    ("btu traffic qos voice,bulk --peer lab1", Tried::Parsed),
    ("btu mesh n[01-16]", Tried::DryRun),
];

fn readme() -> &'static str {
    include_str!("../../../../README.md")
}

/// The lines of the blocks of this kind.
fn blocks(kind: &str) -> Vec<&'static str> {
    let mut inside = false;
    let lines = readme().lines().filter(|line| {
        let fence = line.strip_prefix("```");
        if let Some(of) = fence {
            inside = of == kind;
        }
        inside && fence.is_none() && !line.is_empty()
    });
    lines.collect()
}

/// What stands behind a prompt in the blocks marked `text`.
fn shown() -> Vec<&'static str> {
    let commands = blocks("text").into_iter().filter_map(|line| line.split_once("$ "));
    commands.map(|(_, command)| command).collect()
}

#[test]
fn the_list_of_promises_is_the_readme_s() {
    let mut listed: Vec<&str> = ELSEWHERE.iter().map(|(command, _)| *command).collect();
    listed.extend(PROMISES.iter().map(|promise| promise.command));
    assert_eq!(listed, blocks("sh"));
    let tried: Vec<&str> = SHOWN.iter().map(|(command, _)| *command).collect();
    let elsewhere = |shown: &&str| ELSEWHERE.iter().any(|(command, _)| command == shown);
    assert_eq!(tried, shown().into_iter().filter(|one| !elsewhere(one)).collect::<Vec<_>>());
}

#[test]
fn every_command_that_the_readme_shows_is_one_that_the_program_reads() {
    let folder = TempDir::new().unwrap();
    for (command, tried) in SHOWN {
        let last = match tried {
            Tried::DryRun => "--dry-run",
            // Read after all that stands before it.
            Tried::Parsed => "--help",
        };
        let code = |more: &str| {
            let ended = shell(&format!("{command} {more}"), folder.path()).output().unwrap();
            (ended.status.code(), said(&ended))
        };
        let (ended, said) = code(last);
        assert_eq!(ended, Some(0), "`{command} {last}`: {said}");
        assert_eq!(code(&format!("--no-such-option {last}")).0, Some(2), "`{command}`");
    }
}

#[test]
fn every_command_does_what_the_readme_says() {
    needs!("iperf3", "ping");
    let folder = TempDir::new().unwrap();
    for Promise { command, holds } in PROMISES {
        let said = run(&mut shell(command, folder.path())).unwrap();
        assert!(holds(&said, folder.path()), "`{command}` said:\n{said}");
    }
}

/// A shell in which `btu` is the program under test.
fn shell(command: &str, folder: &Path) -> Command {
    let mut shell = Command::new("sh");
    let found = std::path::PathBuf::from(btu().get_program());
    let path = std::env::var("PATH").unwrap();
    let first = found.parent().unwrap().display();
    shell.args(["-c", command]).current_dir(folder).env("PATH", format!("{first}:{path}"));
    shell
}

#[test]
fn the_first_command_gives_a_score_a_penalty_and_a_report() {
    needs!();
    let quick = quick_run!();
    let result = read_json(&quick.folder.join("result.json"));
    assert!(result["btu_mbps"].as_f64().is_some_and(|btu| btu > 0.0), "{result:#}");
    assert!(result["penalty_percent"].is_number(), "{result:#}");
}

/// Also where the machine is too busy for a score that counts.
#[test]
fn the_first_command_ends_as_its_exit_code_says() {
    needs!();
    let quick = quick::last();
    let (code, said) = (quick.code, &quick.said);
    match code {
        Some(0 | 6) => {
            assert!(quick.stdout.contains("BTU"), "{}", quick.stdout);
            assert!(quick.stdout.contains("report.html"), "{}", quick.stdout);
            let result = read_json(&quick.folder.join("result.json"));
            assert_eq!(result["rankable"], false);
            assert!(quick.folder.join("report.html").exists());
        }
        Some(3) => {
            assert!(said.contains(quick::LATE), "{said}");
            assert!(said.contains("hint: is the machine busy? btu doctor tells more"), "{said}");
        }
        _ => panic!("{code:?}: {said}"),
    }
}
