//! Where a plan has the data threads run, and that they did.

use serde_json::Value;

use crate::commands::needs;
use crate::program::Cells;
use crate::program::of_kind;
use crate::program::plan_file;
use crate::program::read_json;
use crate::program::run_of;
use crate::program::said;
use crate::quick;

const CASES: [&str; 2] = ["SEND_RECV", "2RECV+DL"];

/// The connections of a run by such a placement, and in which way the CPUs of the hosts were separate; `Err` where the machine
/// is too busy for its link.
fn connections(placement: &str) -> Result<(Vec<Value>, String), String> {
    let dir = tempfile::tempdir().unwrap();
    let cells = Cells { cases: &CASES, more: Cells::WITHOUT_CAPTURES, ..Cells::SHORT };
    let plan = plan_file(dir.path(), format!("{cells}\n[comm]\nplacement = \"{placement}\"\n"));
    let out = dir.path().join("out");
    let ran = run_of(&plan, &out).output().unwrap();
    if quick::is_late(&ran) {
        return Err(said(&ran));
    }
    // A busy machine may be late.
    assert!(matches!(ran.status.code(), Some(0 | 6)), "{}", said(&ran));
    let cells = of_kind(&out, "cell").into_iter();
    let all =
        cells.flat_map(|cell| cell["comm"]["connections"].as_array().cloned().unwrap_or_default());
    let separate = &read_json(&out.join("hosts.json"))["placement"]["cpus_separate"]["value"];
    Ok((all.collect(), separate.as_str().unwrap().to_owned()))
}

#[test]
fn both_ends_of_a_connection_share_a_cpu_where_the_plan_says_so_and_no_other_way() {
    needs!();
    if btu_sys::cpu::allowed().unwrap().len() < 2 {
        skip!("too few CPUs: on one, all roles share it anyway");
    }
    let seen: Result<Vec<_>, _> = ["same", "split", "free"].map(connections).into_iter().collect();
    let [same, split, free] = match seen {
        Ok(seen) => <[_; 3]>::try_from(seen).unwrap(),
        Err(busy) => skip!("machine too busy: {busy}"),
    };
    for (placement, (connections, separate), shared) in
        [("same", same, true), ("split", split, false)]
    {
        assert!(connections.len() >= 4, "{connections:#?}");
        for one in connections {
            let [sender, receiver] = ["sender", "receiver"].map(|end| &one[end]);
            assert_eq!(sender["cpus"] == receiver["cpus"], shared, "{placement}: {one}");
            assert!(sender["hold"].is_null() && receiver["hold"].is_null(), "{placement}: {one}");
        }
        assert_eq!(separate == "no: the black boxes are on the test host's CPUs", shared);
    }
    assert!(free.0.iter().all(|one| one["sender"]["hold"] == "free"), "{free:#?}");
}
