//! Plans are complete, legal and bounded, or say what is not.

use super::*;
use crate::placement::Placement;
use crate::run::calls::ReadCall;
use crate::run::calls::WriteCall;

const WORDS: Vocabulary<'_> = Vocabulary { activities: &["cpu", "ftp", "idle", "io"] };

fn resolve(choices: &Choices<'_>) -> Result<Plan, String> {
    Plan::resolve(choices, &WORDS, 7).map_err(|error| error.to_string())
}

fn own(text: &str) -> Result<Plan, String> {
    resolve(&Choices { plan: Some(("night.toml", text)), ..Choices::default() })
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn what_selects_nothing_of_a_plan_is_refused() {
    let text = "[matrix]\ncases = [\"SEND\"]\n";
    let cases = ["RECV".to_owned()];
    let plan = Some(("night.toml", text));
    let error = resolve(&Choices { plan, cases: Some(&cases), ..Choices::default() });
    let error = error.unwrap_err();
    let told = "command line: --cases = \"RECV\": not in the matrix of night.toml; write SEND";
    assert_eq!(error, told);
}

/// As in a file: the user means something else than what would run.
#[test]
fn what_the_command_line_names_twice_is_refused() {
    let (cases, names) = (texts(&["SEND", "RECV", "SEND"]), texts(&["telnet", "telnet"]));
    let activities = texts(&["cpu", "io", "cpu"]);
    let none = Choices::default();
    for (choices, said) in [
        (Choices { cases: Some(&cases), ..none.clone() }, "--cases = \"SEND\""),
        (Choices { applications: Some(&names), ..none.clone() }, "--applications = \"telnet\""),
        (Choices { activities: Some(&activities), ..none.clone() }, "--activities = \"cpu\""),
    ] {
        let told = format!("command line: {said}: named twice; leave one out");
        assert_eq!(resolve(&choices), Err(told));
    }
}

#[test]
fn an_empty_plan_is_refused_instead_of_running_the_edition_s() {
    for text in ["", "# nothing yet\n", "[time]\n\n[matrix]\n"] {
        let error = own(text).unwrap_err();
        assert!(error.starts_with("night.toml: the plan is empty; write what"), "{error}");
    }
    assert_eq!(own("edition = \"btu-26\"").unwrap().preset, "quick");
    assert_eq!(own("seed = 5").unwrap().seed, 5);
    assert_eq!(own("seed = 0").unwrap().seed, 0, "a seed like any other");
}

#[test]
fn values_beyond_what_a_run_can_do_are_refused_with_the_bound() {
    for (text, said) in [
        (
            "[link]\ndelay = \"1000s\"",
            "night.toml:2:9: link.delay = \"1000s\": write a time from 0ns to 2s",
        ),
        ("[time]\nwindow = \"1ns\"", "time.window = \"1ns\": write a time from 1ms to 3600s"),
        ("[time]\nwindow = \"9000000000s\"", "write a time from 1ms to 3600s"),
        ("[time]\namount = \"0B\"", "time.amount = \"0B\": write a size from 1B to 1TB"),
        ("[time]\namount = \"16000000TB\"", "write a size from 1B to 1TB"),
        ("[time]\nlead_in = \"70s\"", "time.lead_in = \"70s\": write a time from 0ns to 30s"),
        ("[time]\nalone = \"0ns\"", "time.alone = \"0ns\": write a time from 1ns to 3600s"),
        ("[time]\nrepeat_allowance = \"9e9s\"", "unknown unit \"e9s\""),
        ("[time]\nrepeat_allowance = \"9000000000s\"", "write a time from 0ns to 2592000s"),
        ("[passes]\nbudget = \"9000000000s\"", "write a time from 1ns to 2592000s"),
        (
            "[passes]\nhalf_width = \"200%\"",
            "night.toml:2:14: passes.half_width = \"200%\": write a share from 0% to 100%",
        ),
        ("[passes]\nmin = 0", "passes.min = 0: write a number from 1 to 10000"),
        ("[passes]\nmax = 4000000000", "passes.max = 4000000000: write a number from 1 to 10000"),
        (
            "[sockets]\nblack_box_window_clamp = \"5GiB\"",
            "sockets.black_box_window_clamp = \"5GiB\": write a size from 2KiB to 512MiB",
        ),
        (
            "[sockets]\nblack_box_buffer = \"0B\"",
            "sockets.black_box_buffer = \"0B\": write a size from 4KiB to 512MiB",
        ),
        (
            "[comm]\nwrite = \"zc\"",
            "night.toml:2:9: comm.write = \"zc\": write plain, nodelay, batched, sendfile",
        ),
        (
            "[comm]\ntest_read = \"sink\"",
            "comm.test_read = \"sink\": what the host under test spends on each read is what is judged",
        ),
        (
            "[comm]\nblack_box_read = \"2GiB\"",
            "\"2GiB\": write message, lowat, sink or a size from 1B to 1GiB",
        ),
        (
            "[sockets]\nblack_box_window_clamp = \"4KiB\"\n[comm]\nblack_box_read = \"lowat\"",
            "raises the window that sockets.black_box_window_clamp sets; leave one of them out",
        ),
        (
            "[activity]\ncpu_threads = \"100000\"",
            "activity.cpu_threads = \"100000\": write a number from 1 to 4096",
        ),
        ("[activity]\ncpu_threads = \"many\"", "cpu_threads = \"many\": write a number from 1"),
        ("[activity]\nio_file = \"0B\"", "write a size from 1B to 16GiB"),
        ("[activity]\nftp_transfer = \"900GB\"", "write a size from 1B to 16GiB"),
        ("[passes]\nmin = -1", "min: invalid value: integer `-1`, expected a whole number from 0"),
        (
            "[matrix]\ncases = \"SEND\"",
            "cases: invalid type: string \"SEND\", expected a list [...]",
        ),
    ] {
        let error = own(text).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn an_application_of_one_s_own_is_told_what_it_takes() {
    for (text, said) in [
        (
            "[matrix]\napplications = [{ name = \"mine\", message = \"3B\", nodelay = true }]",
            "unknown field `nodelay`, expected `name` or `message`",
        ),
        ("[matrix]\napplications = [{ name = \"mine\" }]", "missing field `message`"),
        (
            "[matrix]\napplications = [5]",
            "expected the name of an application, or { name = \"mine\", message = \"300B\" }",
        ),
        (
            "[matrix]\napplications = []",
            "matrix.applications is missing; list at least one, such as telnet, ",
        ),
    ] {
        let error = own(text).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_stored_plan_without_its_matrix_names_what_is_missing_and_no_list_of_nothing() {
    let error = Plan::stored("plan.toml", "").unwrap_err().to_string();
    assert_eq!(error, "plan.toml: matrix.applications is missing; list at least one");
}

#[test]
fn other_calls_than_the_edition_s_make_a_plan_of_the_user_s_own_that_is_read_back() {
    let text = "[comm]\nwrite = \"sendfile\"\ntest_read = \"1MiB\"\nblack_box_read = \"lowat\"";
    let plan = own(text).unwrap();
    let size = ReadCall::Size(Bytes::new(1 << 20));
    let black_box_read = ReadCall::LowWater;
    assert_eq!(plan.comm, Calls { write: WriteCall::Sendfile, test_read: size, black_box_read });
    assert_eq!(plan.preset, "custom");
    assert_eq!(Plan::stored("plan.toml", &plan.to_toml()), Ok(plan));
    let same = own("[comm]\nwrite = \"plain\"\nblack_box_read = \"message\"").unwrap();
    assert!(same.comm.is_default() && same.preset == "quick" && !same.to_toml().contains("[comm]"));
}

#[test]
fn another_placement_than_the_edition_s_makes_a_plan_of_the_user_s_own_that_is_read_back() {
    for placement in [Placement::Same, Placement::Free] {
        let plan = own(&format!("[comm]\nplacement = \"{placement}\"")).unwrap();
        assert_eq!((plan.placement, plan.preset.as_str()), (placement, "custom"));
        let text = plan.to_toml();
        assert!(text.contains("[comm]\nplacement = ") && !text.contains("test_read"), "{text}");
        assert_eq!(Plan::stored("plan.toml", &text), Ok(plan));
    }
    let same = own("[comm]\nplacement = \"split\"").unwrap();
    assert!(same.placement.is_split() && same.preset == "quick");
    assert!(!same.to_toml().contains("[comm]"));
}

#[test]
fn a_placement_that_real_hosts_cannot_have_is_refused() {
    let on = |testbed_class, word| {
        let text = format!("[comm]\nplacement = \"{word}\"");
        let plan = Some(("night.toml", text.as_str()));
        let found = resolve(&Choices { testbed_class, plan, ..Choices::default() });
        found.map(|plan| plan.placement)
    };
    let told = on(Some(TestbedClass::Lab), "same").unwrap_err();
    let why = "night.toml:2:13: comm.placement = \"same\": two hosts have no CPU in common; write split or free";
    assert_eq!(told, why);
    assert_eq!(on(Some(TestbedClass::Lab), "free"), Ok(Placement::Free));
    assert_eq!(on(None, "same"), Ok(Placement::Same));
    let told = on(None, "near").unwrap_err();
    assert_eq!(told, "night.toml:2:13: comm.placement = \"near\": write split, same, free");
}

#[test]
fn a_plan_of_legal_values_that_would_take_years_is_refused_with_what_to_change() {
    let years = "[passes]\nmin = 10000\nmax = 10000\n[time]\nwindow = \"3600s\"";
    let slow = "[link]\nrate = \"rate 1bit/s\"\n[time]\namount = \"1TB\"";
    for text in [years, slow] {
        let error = own(text).unwrap_err();
        assert!(error.starts_with("night.toml: the plan takes "), "{error}");
        assert!(error.contains("30 is the most; lower passes.min"), "{error}");
    }
    let month = own("[passes]\nmin = 100\nmax = 10000\nbudget = \"2592000s\"").unwrap();
    assert!(month.estimate() < month.estimate_max());
}

#[test]
fn every_preset_of_every_edition_is_legal_and_complete() {
    let names =
        [("btu-26", false, "quick"), ("btu-26", true, "official"), ("btu-96", false, "faithful")];
    for (edition, official, preset) in names {
        let choices = Choices { edition: Some(edition), official, ..Choices::default() };
        let plan = resolve(&choices).unwrap();
        assert_eq!((plan.preset.as_str(), plan.partial), (preset, Some(false)));
        assert_eq!((plan.cases.len(), plan.applications.len(), plan.activities.len()), (6, 5, 3));
    }
}

//= maly1996#4.2 eq. 2
#[test]
fn the_application_classes_are_the_paper_s_in_every_edition() {
    let classes =
        [("telnet", 100), ("ftp", 1024), ("audio", 1250), ("netscape", 4096), ("video", 65_536)];
    for edition in ["btu-26", "btu-96"] {
        let plan = resolve(&Choices { edition: Some(edition), ..Choices::default() }).unwrap();
        let applications = plan.applications.iter();
        let found: Vec<_> =
            applications.map(|a| (a.name.as_str(), a.message_bytes.count())).collect();
        assert_eq!(found, classes);
    }
}

#[test]
fn the_canonical_text_repeats_the_plan() {
    for edition in ["btu-26", "btu-96"] {
        let plan = resolve(&Choices { edition: Some(edition), ..Choices::default() }).unwrap();
        assert_eq!(own(&plan.to_toml()), Ok(plan));
    }
    let partial = Choices { cases: Some(&["RECV".to_owned()]), ..Choices::default() };
    let partial = resolve(&partial).unwrap();
    assert_eq!(partial.partial, Some(true));
    assert_eq!(own(&partial.to_toml()), Ok(partial));
}

#[test]
fn a_changed_figure_makes_a_plan_custom() {
    let plan = own("[time]\nwindow = \"250ms\"").unwrap();
    assert_eq!(
        (plan.preset.as_str(), plan.amount),
        ("custom", Amount::Window(Nanos::from_millis(250)))
    );
    let again = own(&plan.to_toml()).unwrap();
    assert_eq!(again, plan);
    assert_eq!(own("[time]\nwindow = \"60ms\"").unwrap().preset, "quick");
}

#[test]
fn an_own_application_is_measured_but_custom() {
    let plan = own("[matrix]\napplications = [\"video\", { name = \"rpc\", message = \"300B\" }]")
        .unwrap();
    let names: Vec<&str> = plan.applications.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["rpc", "video"]);
    assert_eq!(plan.partial, Some(true));
}

/// As it is started, and as it is read from its result.
#[track_caller]
fn assert_kind(plan: &Plan, preset: &str, partial: bool) {
    for plan in [plan, &own(&plan.to_toml()).unwrap()] {
        assert_eq!((plan.preset.as_str(), plan.partial), (preset, Some(partial)));
    }
}

#[test]
fn a_matrix_with_more_than_the_edition_s_is_custom() {
    let more = "[matrix]\napplications = [\"telnet\", \"ftp\", \"audio\", \"netscape\", \"video\", \
                { name = \"rpc\", message = \"300B\" }]";
    for text in [more.to_owned(), format!("preset = \"official\"\n{more}")] {
        assert_kind(&own(&text).unwrap(), "custom", false);
    }
    let activities = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let choices = Choices { official: true, activities: Some(&names), ..Choices::default() };
        resolve(&choices).unwrap()
    };
    assert_kind(&activities(&["cpu", "ftp", "io", "idle"]), "custom", false);
    assert_kind(&activities(&["cpu", "ftp", "idle"]), "custom", true);
    assert_kind(&activities(&["cpu", "ftp"]), "official", true);
    assert_kind(&activities(&["io", "cpu", "ftp"]), "official", false);
}

#[test]
fn errors_name_place_key_value_and_legal_values() {
    let cases = [
        (
            "[time]\nwindow = \"120\"",
            "night.toml:2:10: time.window = \"120\": \"120\" has no unit; write ns, us, ms, s, min or h",
        ),
        (
            "[matrix]\ncases = [\"SEND\", \"SND\"]",
            "night.toml:2:18: matrix.cases = \"SND\": unknown case \"SND\"; write SEND, RECV, SEND+DL, SEND_RECV, 2RECV+DL or 2SEND+DR",
        ),
        (
            "[matrix]\ncases = [\"SEND\", \"RECV\", \"SEND\"]",
            "night.toml:2:26: matrix.cases = \"SEND\": named twice; leave one out",
        ),
        (
            "[matrix]\nactivities = [\"cpu\", \"ftp\", \"io\", \"cpu\"]",
            "night.toml:2:35: matrix.activities = \"cpu\": named twice; leave one out",
        ),
        (
            "[matrix]\napplications = [\"telnet\", { name = \"telnet\", message = \"300B\" }]",
            "night.toml:2:27: matrix.applications = \"telnet\": named twice; leave one out",
        ),
        (
            "[matrix]\napplications = [{ name = \"\", message = \"300B\" }]",
            "night.toml:2:17: matrix.applications = \"\": a name has 1 to 64 bytes, none of them / or a control",
        ),
        (
            "[matrix]\napplications = [{ name = \"a/b\", message = \"300B\" }]",
            "night.toml:2:17: matrix.applications = \"a/b\": a name has 1 to 64 bytes, none of them / or a control",
        ),
        (
            "[matrix]\nactivities = [\"gpu\"]",
            "night.toml:2:15: matrix.activities = \"gpu\": unknown activity; write cpu, ftp, idle, io",
        ),
        (
            "edition = \"btu-27\"",
            "night.toml:1:11: edition = \"btu-27\": unknown edition; write btu-26 or btu-96",
        ),
        (
            "preset = \"fast\"",
            "night.toml:1:10: preset = \"fast\": unknown preset; write official or quick",
        ),
        ("[passes]\nmin = 4\nmax = 2", "night.toml: passes: min = 4 is more than max = 2"),
        (
            "[time]\nwindow = \"1s\"\namount = \"4MB\"",
            "night.toml:3:10: time.amount = \"4MB\": window is given, too; leave one of them out",
        ),
        (
            "testbed_class = \"moon\"",
            "night.toml:1:17: testbed_class = \"moon\": unknown testbed class; write local, lab, cloud, wan",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(own(text), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn an_unknown_key_is_named_with_the_legal_ones() {
    let error = own("[time]\nwindwo = \"1s\"").unwrap_err();
    assert!(
        error.starts_with("night.toml:2:1: unknown field `windwo`, expected one of"),
        "{error}"
    );
}

#[test]
fn the_command_line_restricts_and_contradictions_are_named() {
    let unknown = Choices { cases: Some(&["SND".to_owned()]), ..Choices::default() };
    assert!(
        resolve(&unknown)
            .unwrap_err()
            .starts_with("command line: --cases = \"SND\": unknown name; write SEND,")
    );
    let faithful = Choices { edition: Some("btu-96"), official: true, ..Choices::default() };
    assert_eq!(
        resolve(&faithful).unwrap_err(),
        "--official: edition btu-96 has one preset, faithful; leave --official out"
    );
    let both = Choices {
        edition: Some("btu-96"),
        plan: Some(("p.toml", "edition = \"btu-26\"")),
        ..Choices::default()
    };
    assert_eq!(
        resolve(&both).unwrap_err(),
        "--edition btu-96 contradicts p.toml:1:11: edition = \"btu-26\"; leave one of them out"
    );
}

/// What is wrong is named, and what is written in its place is what was meant.
#[test]
fn a_rate_without_its_name_or_unit_is_told_which_it_lacks() {
    for (rate, wanted) in [
        ("20Mbit/s", "begins with its name; write \"rate 20Mbit/s queue 100ms\""),
        ("20Mbit/s queue 5pkt", "begins with its name; write \"rate 20Mbit/s queue 5pkt\""),
        ("20Mbit queue 100ms", "unknown unit \"Mbit\""),
        ("rate 20Mbit queue 100ms", "unknown unit \"Mbit\""),
    ] {
        let told = own(&format!("[link]\nrate = \"{rate}\"")).unwrap_err();
        assert!(
            told.starts_with("night.toml:2:8: link.rate = ") && told.contains(wanted),
            "{told}"
        );
    }
}

/// A plan of a cloud says so wherever it is repeated; one of this machine is no plan of other hosts yet.
#[test]
fn the_class_of_a_testbed_is_what_is_said_first_of_all() {
    let class = |option, file: &str, real_hosts| {
        let text = format!("seed = 1\n{file}");
        let plan = Some(("p.toml", text.as_str()));
        let choices = Choices { testbed_class: option, real_hosts, plan, ..Choices::default() };
        let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
        let resolved = Plan::resolve(&choices, &words, 1);
        resolved.map(|plan| plan.testbed_class).map_err(|error| error.to_string())
    };
    let (local, cloud) = ("testbed_class = \"local\"", "testbed_class = \"cloud\"");
    let legal = [
        (None, "", false, TestbedClass::Local),
        (None, "", true, TestbedClass::Lab),
        (None, local, true, TestbedClass::Lab),
        (None, cloud, true, TestbedClass::Cloud),
        (Some(TestbedClass::Wan), "", true, TestbedClass::Wan),
        (Some(TestbedClass::Wan), local, true, TestbedClass::Wan),
        (Some(TestbedClass::Cloud), cloud, true, TestbedClass::Cloud),
    ];
    for (option, file, real_hosts, wanted) in legal {
        assert_eq!(class(option, file, real_hosts), Ok(wanted), "{option:?} {file}");
    }
    assert_eq!(
        class(Some(TestbedClass::Wan), cloud, true).unwrap_err(),
        "--testbed-class wan contradicts p.toml:2:17: testbed_class = \"cloud\"; leave one of them out"
    );
}

#[test]
fn a_plan_for_other_figures_is_refused() {
    let error = own("edition_hash = \"00\"").unwrap_err();
    assert!(
        error.starts_with("night.toml:1:16: edition_hash = \"00\": this program's btu-26 is "),
        "{error}"
    );
}
