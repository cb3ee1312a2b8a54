//! Input that cannot mean what it says is refused with place, value and legal values, or a note says what it
//! comes to: before anything runs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use crate::program::btu;
use crate::program::said;

/// The exit code, and what `btu ARGS` said on stderr, started in `folder`.
fn told(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = btu().current_dir(folder).args(args).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A folder with this `plan.toml`.
fn with_plan(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("night.toml"), text).unwrap();
    folder
}

const DRY: [&str; 4] = ["run", "--dry-run", "--plan", "night.toml"];

/// Every run of it would have another one, and none of them count: known when all has been measured.
#[test]
fn a_congestion_control_that_this_kernel_does_not_list_is_told_with_those_that_it_has() {
    for (class, name, is_told) in
        [("local", "foo", true), ("local", "reno", false), ("lab", "foo", false)]
    {
        let text = format!("testbed_class = \"{class}\"\n[sockets]\ncongestion = \"{name}\"\n");
        let folder = with_plan(&text);
        // A plan of real hosts is refused for want of them: no kernel of theirs was asked.
        let wanted = if class == "local" { Some(0) } else { Some(2) };
        let (code, said) = told(folder.path(), &DRY);
        assert_eq!(code, wanted, "{said}");
        let note = format!("note: sockets.congestion = \"{name}\": this kernel lists ");
        assert_eq!(said.contains(&note), is_told, "{said}");
    }
}

#[test]
fn a_budget_below_the_passes_that_are_made_in_any_case_is_told() {
    let folder = with_plan("[passes]\nbudget = \"1s\"\nmin = 2\n");
    let (code, said) = told(folder.path(), &DRY);
    assert_eq!(code, Some(0), "{said}");
    let wanted = "note: passes.budget = 1s is over before the 2 passes of passes.min, about ";
    assert!(said.contains(wanted) && said.contains("none beyond them"), "{said}");
    for preset in [&["run", "--dry-run"][..], &["run", "--dry-run", "--edition", "btu-96"]] {
        let (code, said) = told(folder.path(), preset);
        assert_eq!(code, Some(0), "{preset:?}: {said}");
        assert!(!said.contains("passes.budget"), "{preset:?}: {said}");
    }
    let (code, said) = told(folder.path(), &["run", "--dry-run", "--official"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("passes.budget"), "{said}");
}

#[test]
fn traffic_that_would_stop_at_once_or_twice_as_long_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (args, wanted) in [
        (
            &["sweep", "--stall", "0s"][..],
            "invalid value '0s' for '--stall <TIME>': write 200ms to 1 hour",
        ),
        (&["sweep", "--stall", "3601s"], "write 200ms to 1 hour"),
        (&["method", "rfc2544", "--frames", "64,128,64"], "--frames 64: it is there twice"),
        (&["sweep", "--values", "5ms,5ms"], "--values 5ms: it is there twice"),
    ] {
        let args: Vec<&str> = [&["traffic"], args, &["--dry-run"]].concat();
        let (code, said) = told(folder.path(), &args);
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.contains(wanted), "{args:?}: {said}");
    }
    let (code, said) = told(folder.path(), &["traffic", "sweep", "--stall", "200ms", "--dry-run"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_table_with_a_slip_of_none_or_of_another_version_ends_with_2() {
    let folder = tempfile::tempdir().unwrap();
    for (document, wanted) in [
        (
            r#""note": "mine""#,
            "(SEND/ftp/non, repeat 1).activity: non: unknown activity: write none, if the host was idle",
        ),
        (
            r#""schema_version": "9.0.0""#,
            "table.json: schema_version: \"9.0.0\": results of version 1.0.0",
        ),
        (r#""schema_version": "3.0.0", "verb": "traffic""#, "table.json: verb: \"traffic\": only"),
    ] {
        let row = r#"{"case": "SEND", "application": "ftp", "activity": "non", "goodput_mbps": 1}"#;
        let text = format!("{{{document}, \"cells\": [{row}]}}");
        std::fs::write(folder.path().join("table.json"), text).unwrap();
        let output =
            btu().current_dir(folder.path()).args(["score", "table.json", "--json"]).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(wanted), "{}\n  misses: {wanted}", said(&output));
        assert!(output.stdout.is_empty(), "no document where there is no result");
    }
}

/// Half an hour is spent in vain on two CPUs: said once, on stderr, before anything else.
#[test]
fn an_official_run_on_few_cpus_is_cautioned_before_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    let cpus = btu_sys::cpu::allowed().unwrap().len();
    for args in
        [&["run", "--dry-run", "--official"][..], &["run", "--dry-run", "--official", "--json"]]
    {
        let (code, said) = told(folder.path(), args);
        assert_eq!(code, Some(0), "{said}");
        let cautioned = said.matches("an official result will probably not be ranked").count();
        assert_eq!(cautioned, usize::from(cpus < 4), "{args:?} on {cpus} CPUs: {said}");
    }
    let (code, said) = told(folder.path(), &["run", "--dry-run"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("not be ranked"), "{said}");
}

#[test]
fn times_of_options_have_minutes_and_hours() {
    let folder = tempfile::tempdir().unwrap();
    for (args, code, wanted) in [
        (&["method", "rfc9097", "--time", "1h"][..], Some(0), ""),
        (&["qos", "voice", "--time", "12min"], Some(0), ""),
        (&["qos", "voice", "--time", "13min"], Some(2), "--time 780s: write 50ms to 12 minutes"),
        (&["sweep", "--stall", "1d"], Some(2), "unknown unit \"d\"; write ns, us, ms, s, min or h"),
    ] {
        let args: Vec<&str> = [&["traffic"], args, &["--dry-run"]].concat();
        let (ended, said) = told(folder.path(), &args);
        assert_eq!(ended, code, "{args:?}: {said}");
        assert!(said.contains(wanted), "{args:?}: {said}");
    }
}

/// What no build has is not offered; who asks for it all the same hears what there is.
#[test]
fn a_network_that_no_build_has_is_not_offered() {
    let help = btu().args(["link", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("nat") && !help.contains("pasta"), "{help}");
}

#[test]
fn an_error_leaves_stdout_empty_with_json_too() {
    let folder = tempfile::tempdir().unwrap();
    for (args, code) in [
        (&["score", "no.json", "--json"][..], 2),
        (&["traffic", "no.ns", "--json"], 2),
        (&["run", "--cases", "SENT", "--json"], 2),
        (&["link", "--net", "pasta", "--json", "--", "true"], 3),
    ] {
        let output = btu().current_dir(folder.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
}

/// Nothing of a plan that is repeated, or of a measurement that is gone on with, is chosen anew without a word.
#[test]
fn traffic_that_is_repeated_or_gone_on_with_takes_no_option_that_it_would_not_follow() {
    let folder = tempfile::tempdir().unwrap();
    for [begun, more, value] in [
        ["--plan", "--rate", "1Mbit/s"],
        ["--plan", "--passes", "3"],
        ["--plan", "--seed", "9"],
        ["--plan", "--stall", "1s"],
        ["--plan", "--map", "a=test"],
        ["--resume", "--delay", "5ms"],
        ["--resume", "--out", "x"],
        ["--resume", "--note", "hello"],
        ["--resume", "--wire", "ip"],
    ] {
        let (code, said) = told(folder.path(), &["traffic", begun, "p", more, value]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("cannot be used with"), "{begun} {more}: {said}");
    }
}

#[test]
fn a_congestion_control_that_no_kernel_has_is_missing_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = "[[cluster]]\n[[cluster.test]]\npath = \"test -> active\"\n\
                    type = \"full(duration=1 s)\"\ntransport = \"tcp(congestion=nosuch)\"\n";
    std::fs::write(folder.path().join("a.toml"), scenario).unwrap();
    let (code, said) = told(folder.path(), &["traffic", "a.toml", "--out", "out", "--quiet"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("tcp(congestion=nosuch): this kernel has no such"), "{said}");
    assert!(said.contains("it lists ") && !folder.path().join("out").exists(), "{said}");
}

/// Paths may have any bytes, and so may the words of a command: of several such words the one is named that is no path.
#[test]
fn a_word_that_is_not_utf_8_is_named_with_its_place() {
    let words = |words: &[&[u8]]| {
        let output = btu().args(words.iter().map(|word| OsStr::from_bytes(word))).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), told)
    };
    let named = |words_given: &[&[u8]], wanted: &str| {
        let (code, told) = words(words_given);
        let tip = format!("{wanted} is not UTF-8, which only paths need not be: write it in UTF-8");
        assert!(code == Some(2) && told.contains(&tip), "{code:?} {told}");
    };
    named(&[b"list", b"a\xff"], "word 2, 'a\u{fffd}',");
    named(&[b"run", b"--out", b"d\xfe", b"--cases", b"S\xffND"], "word 5, 'S\u{fffd}ND',");
    named(&[b"run", b"--seed=\xff"], "word 2, '--seed=\u{fffd}',");
    named(&[b"list", b"\x1b[2J\xff"], "word 2, '\u{fffd}[2J\u{fffd}',");
    let (code, told) = words(&[b"report", b"\xff"]);
    assert!(code == Some(2) && told.contains("No such file") && !told.contains("UTF-8"), "{told}");
}

/// A file does not go with the result, which is gone on with and copied: known before anything is made.
#[test]
fn a_link_element_that_names_a_file_is_refused_by_every_measurement_of_traffic() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("line"), "1\n2\n5\n").unwrap();
    let scenario = "[[cluster]]\nname = \"c\"\n[[cluster.test]]\nname = \"t\"\npath = \"test -> active\"\n\
         transport = \"tcp\"\ntype = \"full(blocksize=16 KiB, duration=1 s)\"\n";
    let own = format!("{scenario}link = \"drop list line; delay 1ms\"\n");
    std::fs::write(folder.path().join("s.toml"), scenario).unwrap();
    std::fs::write(folder.path().join("own.toml"), own).unwrap();
    let plan = told_out(folder.path(), &["traffic", "s.toml", "--rate", "1Mbit/s", "--dry-run"]);
    let plan = plan.replace("\"rate 1Mbit/s", "\"trace line");
    std::fs::write(folder.path().join("plan.toml"), plan).unwrap();
    for (args, element) in [
        (&["sweep", "--trace", "line"][..], "trace line queue 100ms"),
        (&["method", "rfc2544", "--drop", "list line"], "drop list line"),
        (&["qos", "--up", "drop list line"], "drop list line"),
        (&["s.toml", "--chain", "trace line once"], "trace line once queue 100ms"),
        (&["own.toml"], "drop list line"),
        (&["--plan", "plan.toml"], "trace line queue"),
    ] {
        for more in [&["--out", "out"][..], &["--dry-run"]] {
            let (code, said) = told(folder.path(), &[&["traffic"], args, more].concat());
            assert_eq!(code, Some(2), "{args:?}: {said}");
            assert!(said.contains(&format!("link \"{element}")), "{said}");
            assert!(said.contains("keeps no file beside its plan"), "{said}");
            assert!(said.contains("btu link takes the file"), "{said}");
            assert!(!folder.path().join("out").exists(), "{args:?}");
        }
    }
}

/// Memory that runs out in the middle would end the program without a word of the limit.
#[test]
fn a_ping_pong_below_a_limit_of_address_space_names_it_and_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let below = |limit: &str, args: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v {limit} && exec \"$@\""), "sh"]);
        command.arg(btu().get_program()).arg("pingpong").args(args).current_dir(folder.path());
        let output = command.output().unwrap();
        (output.status.code(), said(&output))
    };
    let large = ["--on", "loopback", "--sizes", "1GiB"];
    for (limit, args) in [("2000000", &["--sizes", "64B"][..]), ("1000000", &large)] {
        let (code, said) = below(limit, args);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains(&format!("is {limit} KiB (ulimit -v), and ")), "{said}");
        assert!(said.contains("hint: raise it: ulimit -v unlimited"), "{said}");
    }
    let small = ["--on", "loopback", "--sizes", "64B", "--dry-run"];
    assert_eq!(below("1000000", &small).0, Some(0));
}

/// What `btu ARGS` printed.
fn told_out(folder: &Path, args: &[&str]) -> String {
    let output = btu().current_dir(folder).args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
