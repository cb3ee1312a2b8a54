//! Calls and a placement that a plan names are made at the black boxes, too.

use std::fmt::Display;

use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::of_kind;

/// Some cells by other calls, and placed otherwise, than the edition's.
fn plan() -> impl Display {
    let cells = Cells { cases: &["SEND", "RECV"], applications: &["netscape"], ..Cells::SHORT };
    format!(
        "{cells}\n[comm]\nwrite = \"sendfile\"\ntest_read = \"8KiB\"\nblack_box_read = \"lowat\"\nplacement = \"free\"\n"
    )
}

#[test]
fn a_black_box_writes_and_reads_by_the_calls_of_the_plan() {
    isolated("agent::calls::a_black_box_writes_and_reads_by_the_calls_of_the_plan", || {
        let hosts = Hosts::new();
        let _agent = hosts.lab1(&[]);
        let run = hosts.run(plan(), "result", &["--active", "lab1"]).output().unwrap();
        // A busy machine may need longer than the cap of a cell.
        assert!(matches!(run.status.code(), Some(0 | 6)), "{}", said(&run));
        let cells = of_kind(&hosts.path("result"), "cell");
        let begun = |case| {
            let mut cells = cells.iter().filter(|cell| cell["case"] == case);
            cells.any(|cell| cell["comm"]["bytes"].as_u64() > Some(0))
        };
        assert!(begun("SEND") && begun("RECV"), "{}", said(&run));
        for cell in cells {
            let connection = &cell["comm"]["connections"][0];
            let (sender, receiver) = (&connection["sender"], &connection["receiver"]);
            assert!([sender, receiver].iter().all(|end| end["write_call"] == "sendfile"), "{cell}");
            assert!([sender, receiver].iter().all(|end| end["hold"] == "free"), "{cell}");
            let (bytes, low) = match cell["case"].as_str() {
                Some("SEND") => (256 << 10, Some(128 << 10)),
                _ => (8 << 10, None),
            };
            assert_eq!(
                (receiver["call_bytes"].as_u64(), receiver["options"]["low_water_bytes"].as_u64()),
                (Some(bytes), low)
            );
            assert_eq!(sender["call_bytes"], 4096);
            // An agent's worker may make no files.
            if sender["role"] != "test" {
                assert_eq!(sender["message_file"], "memory");
            }
            assert!(sender["message_file"].is_string() && receiver["message_file"].is_null());
        }
    });
}
