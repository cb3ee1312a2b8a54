//! An agent whose owner asks for the kernel's own emulator.

use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::btu;
use crate::program::of_kind;
use crate::program::read_json;

const POLICY: &str =
    "[front]\ndevice = \"lan\"\naddress = \"10.77.0.9/24\"\nmechanism = \"netem\"\n";

const PLAN: Cells<'_> =
    Cells { cases: &["SEND", "SEND+DL", "2SEND+DR"], window: "60ms", passes: 2, ..Cells::SHORT };

/// What netem cannot do is left out where the kernel has it, and everything impaired where it has not;
/// the reason is told, and stands in the result. Nothing is emulated by anything else instead.
#[test]
fn netem_emulates_what_it_can_and_what_is_left_out_has_a_reason() {
    let name = "agent::netem::netem_emulates_what_it_can_and_what_is_left_out_has_a_reason";
    isolated(name, || {
        let hosts = Hosts::new();
        let agents = [0, 1].map(|number| {
            let policy = POLICY.replace("10.77.0.9", &format!("10.77.{number}.9"));
            hosts.agent(number, &[&policy])
        });
        hosts.pair(&agents[0], "lab1");
        hosts.pair(&agents[1], "lab2");
        let options = ["--active", "lab1", "--passive", "lab2"];
        let run = hosts.run(PLAN, "result", &options).output().unwrap();
        let said = said(&run);
        // A busy machine may need longer than the cap of a cell.
        assert!(matches!(run.status.code(), Some(0 | 6)), "{said}");
        let dir = hosts.path("result");
        let emulator = read_json(&dir.join("hosts.json"))["placement"]["emulator_active"].clone();
        let cells = of_kind(&dir, "cell");
        let first = cells.iter().filter(|cell| cell["attempt"] == 1);
        let is = |case: &str| first.clone().filter(|cell| cell["case"] == case).count();
        assert_eq!((is("SEND"), is("2SEND+DR")), (2 * 2, 0));
        if let Some(reason) = emulator["reason"].as_str() {
            assert!(reason.contains("the kernel has no sch_netem"), "{reason}");
            assert!(said.contains("SEND+DL, 2SEND+DR are left out"), "{said}");
            assert_eq!(is("SEND+DL"), 0);
            skip!("kernel lacks: sch_netem: only its refusal was tested");
        }
        assert_eq!(emulator["value"], "10.77.0.9 by netem");
        assert!(said.contains("netem does not do exactly \"drop 1@200,3@400/400\""), "{said}");
        assert!(said.contains("mechanism = \"relay\""), "{said}");
        assert_eq!(is("SEND+DL"), 2 * 2);
        for seen in cells.iter().flat_map(|cell| cell["emulation"].as_array().unwrap()) {
            assert_eq!((&seen["backend"], &seen["overflow"]), (&"netem".into(), &0.into()));
        }
    });
}

#[test]
fn a_link_by_netem_refuses_what_it_cannot_do() {
    let link = |options: &[&str]| {
        let mut command = btu();
        command.args(["link", "--backend", "netem"]).args(options).args(["--", "true"]);
        let done = command.output().unwrap();
        (done.status.code(), said(&done))
    };
    isolated("agent::netem::a_link_by_netem_refuses_what_it_cannot_do", || {
        let (code, told) = link(&["--drop", "1@2/4"]);
        if told.contains("the kernel has no sch_netem") {
            assert_eq!(code, Some(3), "{told}");
            assert!(told.contains("modprobe sch_netem"), "{told}");
            skip!("kernel lacks: sch_netem: only its refusal was tested");
        }
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains("netem does not do exactly \"drop 1@2/4\""), "{told}");
        assert_eq!(link(&["--delay", "1ms"]).0, Some(0));
    });
}
