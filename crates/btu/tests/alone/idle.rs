//! Beside activities that do nothing the score is that of the idle host.

use serde_json::Value;

use crate::alone;
use crate::commands::needs;
use crate::program::Cells;
use crate::program::lines;
use crate::program::plan_file;
use crate::program::read_json;
use crate::program::run_of;
use crate::program::said;

/// btu-method, section 9: the procedure itself costs nothing.
#[test]
fn beside_activities_that_do_nothing_btu_is_that_of_the_idle_host_within_its_interval() {
    needs!();
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let plan = Cells {
        cases: &["SEND", "RECV"],
        window: "40ms",
        alone: "40ms",
        passes: 9,
        more: Cells::WITHOUT_CAPTURES,
        ..Cells::SHORT
    };
    let ended = run_of(&plan_file(folder.path(), plan), "result")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    let result = read_json(&folder.path().join("result/result.json"));
    let figure = |name: &str| result[name].as_f64().unwrap();
    let (btu, idle) = (figure("btu_mbps"), figure("btu_idle_mbps"));
    let bounds = &result["btu_ci95_mbps"];
    let [low, high] = [0, 1].map(|place| bounds[place].as_f64().unwrap());
    // Both are estimates of the same, each as uncertain as the other: their ratio is within twice the
    // interval in 99.9 of 100 runs, and never far off.
    let half_width = (high / low).ln() / 2.0;
    let apart = (btu / idle).ln().abs();
    let agree = apart <= 2.0 * half_width.max(0.02) && apart < 0.3;
    assert!(agree, "{btu} [{low}, {high}], {idle}: {}", goodputs(&result));
    let cells = lines(&folder.path().join("result/samples.jsonl"));
    assert!(cells.iter().any(|line| line["activity"] == "idle"));
}

/// Each run, to see in which of them the difference lies.
fn goodputs(result: &Value) -> String {
    let cells = result["cells"].as_array().unwrap().iter();
    let told = cells.map(|run| {
        let [case, application, activity] =
            ["case", "application", "activity"].map(|key| run[key].as_str().unwrap_or_default());
        format!("{case}/{application}/{activity} {}: {}", run["repeat"], run["goodput_mbps"])
    });
    told.collect::<Vec<_>>().join("; ")
}
