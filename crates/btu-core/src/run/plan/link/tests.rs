//! What a plan may say of its link, and what becomes of it.

use super::*;
use crate::run::plan::Amount;
use crate::run::plan::Choices;
use crate::run::plan::Vocabulary;

fn own(text: &str) -> Result<Plan, String> {
    let choices = Choices { plan: Some(("night.toml", text)), ..Choices::default() };
    let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
    Plan::resolve(&choices, &words, 7).map_err(|error| error.to_string())
}

fn chains(plan: &Plan, case: Case) -> [Vec<String>; 2] {
    [Direction::Send, Direction::Receive].map(|way| plan.chain(case, way))
}

/// Acknowledgements lost by a counter of their own, data by bursts, and the hold of the paper.
const LISTS: &str = r#"
[link]
delay = { up = ["hold 3@400/400 10ms", "delay 1ms"], down = ["delay 20ms"] }
rate = { down = ["rate 20Mbit/s"] }
[link.drop]
up = ["drop ge 1% 30%"]
down = ["drop 1@100/100"]
"#;

#[test]
fn each_direction_of_a_case_has_the_elements_that_the_plan_lists_in_the_fixed_order() {
    let plan = own(LISTS).unwrap();
    let line = "rate 20Mbit/s queue 100ms";
    assert_eq!(chains(&plan, Case::Send), [vec![], vec![line.to_owned()]]);
    assert_eq!(
        chains(&plan, Case::SendDelayed).map(|texts| texts.join("; ")),
        ["delay 1ms; hold 3@400/400 10ms".to_owned(), format!("{line}; delay 20ms")]
    );
    let drops = chains(&plan, Case::TwoSendDropped).map(|texts| texts.join("; "));
    assert_eq!(drops, ["drop ge 1% 30% 100% 0%".to_owned(), format!("drop 1@100/100; {line}")]);
}

#[test]
fn a_plan_with_lists_is_custom_and_its_canonical_text_repeats_it() {
    let dotted = "link.drop.down = [\"drop 1%\"]\nlink.delay = \"jitter exp(1ms)\"";
    for text in [LISTS, dotted] {
        let plan = own(text).unwrap();
        assert_eq!(plan.preset, "custom");
        let again = own(&plan.to_toml()).unwrap();
        assert_eq!(again, plan, "{}", plan.to_toml());
        assert_eq!(Plan::stored("plan.toml", &plan.to_toml()), Ok(plan));
    }
}

#[test]
fn an_element_acts_where_the_usual_text_of_its_key_does() {
    let text = "[link]\ndelay = \"hold 3@400/400 10ms\"\ndrop = \"drop ge 1% 30%\"";
    let plan = own(text).unwrap();
    let hold = vec!["hold 3@400/400 10ms".to_owned()];
    assert_eq!(chains(&plan, Case::TwoRecvDelayed), [hold.clone(), hold]);
    let loss = vec!["drop ge 1% 30% 100% 0%".to_owned()];
    assert_eq!(chains(&plan, Case::TwoSendDropped), [loss, vec![]]);
}

/// However it is written: what is measured is the same, and so is the text of the plan.
#[test]
fn lists_that_say_what_the_edition_says_change_nothing() {
    let edition = own("edition = \"btu-26\"").unwrap();
    for text in [
        "[link]\ndelay = { down = [\"delay 5ms\"], up = [\"delay 5ms\"] }",
        "[link]\ndelay = \"delay 5ms\"",
        "[link]\ndrop = { up = [\"drop 3@400,1@200/400\"] }",
    ] {
        assert_eq!(own(text).unwrap(), edition, "{text}");
    }
    let toml = edition.to_toml();
    let link = "[link]\ndelay = \"5ms\"\ndrop = \"1@200,3@400/400\"\n";
    assert!(toml.contains(link), "{toml}");
}

#[test]
fn what_is_told_of_a_link_is_its_usual_text_or_both_directions() {
    let edition = own("edition = \"btu-96\"").unwrap().link;
    assert_eq!(edition.delay_told(), "10ms");
    assert_eq!(edition.drop_told(), "1@200,3@400/400");
    assert_eq!(edition.rate_told().unwrap(), "rate 10Mbit/s queue 100ms shared ether");
    let listed = own(LISTS).unwrap().link;
    assert_eq!(listed.delay_told(), "up delay 1ms, hold 3@400/400 10ms; down delay 20ms");
    assert_eq!(listed.rate_told().unwrap(), "up nothing; down rate 20Mbit/s queue 100ms");
    assert_eq!(own("seed = 1").unwrap().link.rate_told(), None);
}

#[test]
fn an_error_of_an_element_names_its_place_and_the_legal_texts() {
    let errors = [
        (
            "[link]\ndrop = { up = [\"drop 1%\", \"dorp 1%\"] }",
            "night.toml:2:27: link.drop.up = \"dorp 1%\": link element \"dorp 1%\": no such element; the elements are ",
        ),
        (
            "[link]\ndelay = { up = [\"hold 3@400/400\"] }",
            "night.toml:2:17: link.delay.up = \"hold 3@400/400\": link element \"hold 3@400/400\", character 15: the time or followers is missing; write hold k@n",
        ),
        (
            "[link.drop]\ndown = [\"drop ge 1% 130%\"]",
            "night.toml:2:9: link.drop.down = \"drop ge 1% 130%\": link element \"drop ge 1% 130%\", character 12: ",
        ),
        (
            "[link]\ndelay = \"jitter 5ms\"",
            "night.toml:2:9: link.delay = \"jitter 5ms\": link element \"jitter 5ms\", character 8: ",
        ),
        (
            "[link]\ndelay = \"5\"",
            "night.toml:2:9: link.delay = \"5\": \"5\" has no unit; write ns, us, ms, s, min or h",
        ),
        (
            "[link]\ndrop = { up = [], down = [] }",
            "night.toml: link.drop is missing; list at least one element, up or down",
        ),
        (
            "[link]\ndrop = { across = [] }",
            "night.toml:2:10: unknown field `across`, expected `up` or `down`",
        ),
        (
            "[link]\ndelay = 5",
            "night.toml:2:9: delay: invalid type: integer `5`, expected a text, or lists of link elements { up = [...], down = [...] }",
        ),
        (
            "[link]\ndrop = { up = \"drop 1%\" }",
            "night.toml:2:15: up: invalid type: string \"drop 1%\", expected a list [...]",
        ),
    ];
    refused(&errors);
}

#[test]
fn what_a_direction_may_have_is_bounded() {
    let errors = [
        (
            "[link]\ndelay = { down = [\"delay 1500ms\", \"delay 501ms\"] }",
            "night.toml:2:35: link.delay.down = \"delay 501ms\": packets of a direction may wait 2001ms in all; 2s is the most",
        ),
        (
            "[link]\ndelay = \"hold 1@1/1 1h\"",
            "night.toml:2:9: link.delay = \"hold 1@1/1 1h\": packets of a direction may wait 3600s in all; 2s is the most",
        ),
        (
            "[link]\ndelay = { up = [\"jitter exp(500ms)\"] }",
            "night.toml:2:17: link.delay.up = \"jitter exp(500ms)\": packets of a direction may wait 2302585",
        ),
        (
            "[link]\nrate = { up = [\"rate 1Mbit/s shared a\"], down = [\"rate 1Mbit/s shared b\"] }",
            "night.toml:2:16: link.rate.up = \"rate 1Mbit/s shared a\": a shared line is that of all cells and both ways",
        ),
        (
            "[link]\ndrop = \"rate 1Mbit/s shared a\"",
            "night.toml:2:8: link.drop = \"rate 1Mbit/s shared a\": a shared line is that of all cells and both ways",
        ),
        (
            "[link]\nrate = { up = [\"delay 5ms\"] }",
            "night.toml:2:16: link.rate.up = \"delay 5ms\": write \"rate 10Mbit/s queue 100ms\"",
        ),
        (
            "[link]\nrate = \"rate 5Mbit/s\"\ndrop = { up = [\"rate 1Mbit/s\"] }",
            "night.toml:3:16: link.drop.up = \"rate 1Mbit/s\": a direction has one line: give one of them",
        ),
    ];
    refused(&errors);
}

/// Each text is refused with a message that begins so.
fn refused(errors: &[(&str, &str)]) {
    let found = errors.iter().map(|(text, beginning)| (own(text).unwrap_err(), beginning));
    let others: Vec<_> = found.filter(|(error, wanted)| !error.starts_with(*wanted)).collect();
    assert!(others.is_empty(), "{others:#?}");
}

/// The files would be missing wherever the plan is repeated.
#[test]
fn an_element_with_a_file_is_refused() {
    for element in ["trace up.trace", "drop list losses"] {
        let error = own(&format!("[link]\ndrop = {{ up = [\"{element}\"] }}")).unwrap_err();
        assert!(error.contains("only btu link takes elements with one"), "{error}");
    }
}

/// 60 ms and 128 KiB at the slowest line in a direction with data; 200 kB at 1 Mbit/s take 1.6 s.
#[test]
fn a_line_is_reckoned_with_where_data_pass_it() {
    let time = |more: &str, case: &str, drop: &str| {
        let matrix = format!("[matrix]\ncases = [\"{case}\"]\napplications = [\"telnet\"]\n");
        let plan = own(&format!("{matrix}{more}[link]\ndrop = {drop}")).unwrap();
        assert!(matches!(plan.amount, Amount::Window(_)) == more.is_empty());
        let cells = plan.pass_time().millis() - plan.alone_window.millis() * 3.0;
        cells / 4.0 - plan.lead_in.millis() - 40.0
    };
    let (up, down) = ("{ up = [\"rate 1Mbit/s\"] }", "{ down = [\"rate 1Mbit/s\"] }");
    assert!((time("", "2SEND+DR", up) - 1108.6).abs() < 1.0, "{}", time("", "2SEND+DR", up));
    assert!((time("", "2SEND+DR", down) - 60.0).abs() < 1.0);
    assert!((time("", "SEND", up) - 60.0).abs() < 1.0);
    let fixed = "[time]\namount = \"200kB\"\n";
    assert!((time(fixed, "2SEND+DR", up) - 1600.0).abs() < 1.0);
}

#[test]
fn a_case_is_emulated_where_either_direction_has_an_element() {
    let plan = own("[link]\ndrop = { down = [\"drop 1%\"] }").unwrap();
    assert!(plan.is_emulated(Case::TwoSendDropped) && !plan.is_emulated(Case::Send));
    let alone = Plan { cases: vec![Case::TwoSendDropped], ..plan };
    assert!(alone.emulates());
}
