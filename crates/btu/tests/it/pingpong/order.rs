//! Check P7, as far as a busy machine can hold it: what a path must cost shows in its fastest exchange.

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::read_json;

/// The bench asks for medians and for ratios. Here each fastest exchange of hundreds is the path
/// itself: two ends that spin on shared memory make no system call, raw frames pass no TCP, and TCP
/// hands 64 KiB over in one piece where raw frames are cut at the MTU.
#[test]
fn p7_shared_memory_raw_frames_and_tcp_cost_what_they_must() {
    needs!();
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skip!("too few CPUs: two ends that spin need two");
    }
    let folder = TempDir::new().unwrap();
    let mut command = btu();
    command.current_dir(folder.path()).args([
        "pingpong",
        "shm",
        "raw",
        "tcp",
        "--wait",
        "block,spin",
    ]);
    command.args(["--sizes", "8B,64KiB", "--chasms", "off", "--rounds", "10", "--out", "out"]);
    run(command.args(["--point-time", "300ms"])).unwrap();
    let result = read_json(&folder.path().join("out/result.json"));
    let fastest = |label: &str, bytes: u64| -> f64 {
        let curves = result["curves"].as_array().unwrap();
        let curve = curves.iter().find(|curve| curve["label"] == label).unwrap();
        let points = curve["points"].as_array().unwrap();
        let point = points.iter().find(|point| point["bytes"] == bytes);
        point.map_or(&Value::Null, |point| &point["min_us"]).as_f64().unwrap()
    };
    let small = ["shm spin", "raw spin", "tcp spin"].map(|label| fastest(label, 8));
    assert!(small[0] < small[1] && small[1] < small[2], "{small:?}");
    let large = ["tcp block", "raw block"].map(|label| fastest(label, 65_536));
    assert!(large[0] < large[1], "{large:?}");
}
