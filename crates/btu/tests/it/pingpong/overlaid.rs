//! Curves from elsewhere, and ours for others.

use tempfile::TempDir;

use super::short;
use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::read_json;

/// What `NetPIPE` 3.7.2 wrote, with the latencies of loopback.
const NP_OUT: &str = include_str!("../../../../btu-core/testdata/pingpong/netpipe-3.7.2.out");

/// Check P12: units, where each curve comes from, and how it may differ.
#[test]
fn p12_curves_of_netpipe_and_of_another_result_lie_over_ours_with_their_warnings() {
    needs!();
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("np.out"), NP_OUT).unwrap();
    let sizes = ["--end", "4KiB", "--chasms", "off"];
    run(&mut short(folder.path(), &[&["unix"], &sizes[..]].concat())).unwrap();
    std::fs::rename(folder.path().join("out"), folder.path().join("before")).unwrap();
    let args =
        [&["tcp", "--wait", "block", "--import", "np.out", "--import", "before"], &sizes[..]];
    let said = run(&mut short(folder.path(), &args.concat())).unwrap();
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "np.out differs: the times of NetPIPE 3 np.out are",
        "np.out differs: the file does not say over which path it went, how its ends waited",
        "unix of before differs: transport unix against tcp of tcp",
    ] {
        assert!(flat.contains(words), "no \"{words}\" in\n{said}");
    }
    let result = read_json(&folder.path().join("out/result.json"));
    let overlaid = result["overlaid"].as_array().unwrap();
    assert_eq!(overlaid.len(), 2);
    assert!(overlaid[0]["provenance"].as_str().unwrap().contains("NetPIPE 3"));
    assert!(overlaid[1]["provenance"].as_str().unwrap().starts_with("before, "));
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    let page_text = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Mb/s (10^6 bit/s)",
        "T in us, one way",
        "block in bytes",
        "np.out, NetPIPE 3 np.out<",
        ">before, ",
        "np.out differs: the times of NetPIPE 3 np.out are",
        "np.out differs: the file does not say over which path it went, how its ends waited",
        "unix of before differs: transport unix against tcp of tcp",
        "np.out beside tcp: no verdict, as not both have intervals; one lies within those of the other",
        "unix of before beside tcp: ",
    ] {
        assert!(page_text.contains(words), "no \"{words}\" in the page");
    }
    let pairs = result["comparisons"].as_array().unwrap();
    assert_eq!(pairs.len(), 2, "{pairs:?}");
    assert!(pairs[0]["verdict"].is_null() && pairs[0]["verdict_reason"].is_string(), "{pairs:?}");
    assert_eq!(
        (&pairs[1]["first"], &pairs[1]["second"]),
        (&"tcp".into(), &"unix of before".into())
    );
    // A busy machine may have intervals that are too wide to tell.
    let told = pairs[1]["sentence"].as_str().unwrap();
    let verdict = ["no_difference", "different"].iter().any(|word| pairs[1]["verdict"] == *word);
    assert!(verdict != told.contains("the intervals are too wide to tell"), "{told}");
    std::fs::remove_dir_all(folder.path().join("before")).unwrap();
    std::fs::remove_file(folder.path().join("np.out")).unwrap();
    let again =
        btu().current_dir(folder.path()).args(["report", "out", "--format", "html"]).output();
    assert_eq!(String::from_utf8(again.unwrap().stdout).unwrap(), page);
}

#[test]
fn our_np_out_is_read_again_with_the_same_times() {
    needs!();
    let folder = TempDir::new().unwrap();
    let sizes = ["--end", "4KiB", "--chasms", "off"];
    run(&mut short(folder.path(), &[&["unix", "--export", "np.out"], &sizes[..]].concat()))
        .unwrap();
    std::fs::rename(folder.path().join("out"), folder.path().join("before")).unwrap();
    run(&mut short(folder.path(), &[&["unix", "--import", "np.out"], &sizes[..]].concat()))
        .unwrap();
    let ours = read_json(&folder.path().join("before/result.json"));
    let read = read_json(&folder.path().join("out/result.json"));
    let points = ours["curves"][0]["points"].as_array().unwrap();
    let imported = read["overlaid"][0]["throughput"].as_array().unwrap();
    assert_eq!(points.len(), imported.len());
    for (point, row) in points.iter().zip(imported) {
        assert_eq!(point["bytes"], row[0]);
        let (ours, theirs) = (point["rate_mbps"].as_f64().unwrap(), row[1].as_f64().unwrap());
        assert!((theirs / ours - 1.0).abs() < 0.02, "{point} {row}");
    }
}

#[test]
fn several_curves_are_exported_to_a_file_each() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["unix", "shm", "--sizes", "8B,64B", "--chasms", "off", "--export", "np.out"];
    run(&mut short(folder.path(), &args)).unwrap();
    for name in ["np.out.unix", "np.out.shm"] {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(text.lines().count(), 2, "{name}: {text}");
    }
}
