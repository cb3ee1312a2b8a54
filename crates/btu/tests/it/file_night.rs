//! A file service measured at the slots of a night, as its users see it.

use tempfile::TempDir;

use crate::commands::run;
use crate::program::btu;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::said;

/// Slots of a second: on a busy machine some are missed, and each is made or missed once.
#[test]
fn every_slot_of_a_night_is_made_or_missed_once() {
    let folder = TempDir::new_in("/var/tmp").unwrap();
    let args = ["file", "client-load", "--path", "loopback", "--clients", "2", "--sizes", "1KiB"];
    let slots = ["--protocols", "ftp", "--every", "1s", "--rounds", "4", "--io-dir", "."];
    let mut night = btu();
    night.current_dir(folder.path()).args(args).args(slots).args(["--out", "out"]);
    let told = run(&mut night).unwrap();
    let out = folder.path().join("out");
    let made = of_kind(&out, "file_trial").into_iter().map(|one| one["round"].as_u64());
    let missed = of_kind(&out, "file_slot_missed").into_iter().map(|one| one["slot"].as_u64());
    let mut all: Vec<_> = made.chain(missed).flatten().collect();
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3, 4], "{told}");
    assert_eq!(of_kind(&out, "file_night").len(), 1);
    assert_eq!(read_json(&out.join("result.json"))["complete"], true);
    let report = run(btu().arg("report").arg(&out).args(["--format", "text"])).unwrap();
    assert!(report.contains("Slot by slot"), "{report}");
}

#[test]
fn a_night_is_as_many_slots_as_are_due_before_its_end() {
    let plan = |args: &[&str]| {
        let output = btu().args(["file", "client-load", "--dry-run"]).args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &said(&output)
    };
    let night = ["--every", "30min", "--from", "22:00", "--until", "06:00"];
    let told = plan(&night);
    for word in ["rounds = 16", "warm_rounds = 0", "from = \"22:00\""] {
        assert!(told.contains(word), "no {word} in\n{told}");
    }
    assert!(plan(&["--from", "22:00"]).contains("--every <TIME>"));
    assert!(plan(&["--every", "30min", "--warm", "1"]).contains("cannot be used with"));
    assert!(plan(&["--every", "30min", "--from", "25:00"]).contains("write 22:00, UTC"));
}
