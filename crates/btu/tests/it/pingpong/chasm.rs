//! Check P3: the finder, end to end, on a chasm that is there by construction.
//!
//! A header of 16 bytes and the rest in two calls, with Nagle's algorithm and delayed
//! acknowledgements: every block of 17 bytes to less than a segment behind the header takes 44 ms. A
//! factor of more than a thousand, whatever else the machine does.

use tempfile::TempDir;

use crate::commands::run;
use crate::program::btu;
use crate::program::read_json;

/// Both edges to the byte, and the cause, without prior knowledge.
fn finds_the_chasm(mss: u64) {
    let folder = TempDir::new().unwrap();
    let set = format!("{mss}B");
    let mut command = btu();
    command.current_dir(folder.path()).args(["pingpong", "tcp", "--on", "loopback", "--quiet"]);
    command.args(["--header", "16B", "--nodelay", "off", "--mss", &set, "--end", "4096B"]);
    command.args(["--placement", "free", "--chasm-time", "1200s", "--reference", "off"]);
    let said = run(command.args(["--perturbation", "0B", "--out", "out"])).unwrap();
    let result = read_json(&folder.path().join("out/result.json"));
    let chasms = result["curves"][0]["chasms"].as_array().unwrap();
    let confirmed: Vec<_> = chasms.iter().filter(|one| one["finding"] == "confirmed").collect();
    assert_eq!(confirmed.len(), 1, "{chasms:#?}");
    let chasm = confirmed[0];
    // Time stamps take 12 bytes off the segment.
    let edges = [17, 16 + (mss - 12) - 1];
    assert_eq!([&chasm["from_bytes"], &chasm["to_bytes"]], edges, "{chasm:#}");
    assert_eq!(chasm["edges_sure"], true, "{chasm:#}");
    assert!(chasm["factor"].as_f64().unwrap() > 100.0, "{chasm:#}");
    let removed = chasm["removed_by"].as_array().unwrap();
    assert!(removed.contains(&"TCP_NODELAY".into()), "{chasm:#}");
    let half = (mss - 12) / 2;
    let moved = &chasm["moved_by"][0];
    assert_eq!(moved["factor"], format!("TCP_MAXSEG {half}"), "{chasm:#}");
    assert_eq!([&moved["from_bytes"], &moved["to_bytes"]], [17, 16 + (half - 12) - 1], "{chasm:#}");
    assert!(said.contains(&format!("between 17 and {} bytes, factor", edges[1])), "{said}");
}

#[test]
fn p3_two_writes_with_nagle_are_found_to_the_byte_and_explained() {
    finds_the_chasm(1460);
}

#[test]
fn p3_the_right_edge_moves_with_the_segment() {
    finds_the_chasm(500);
}
