//! One file per format (check P9). NetPIPE's own was measured by `NPtcp` 3.7.2; the others are in the
//! form of their tools, with times of one made-up machine.

use proptest::prelude::*;

use super::*;

const FILES: &[(&str, &str)] = &[
    ("netpipe-3.7.2.out", include_str!("../../../testdata/pingpong/netpipe-3.7.2.out")),
    ("netpipe-5.out", include_str!("../../../testdata/pingpong/netpipe-5.out")),
    ("osu-latency-5.txt", include_str!("../../../testdata/pingpong/osu-latency-5.txt")),
    ("osu-latency-7.txt", include_str!("../../../testdata/pingpong/osu-latency-7.txt")),
    ("osu-bw.txt", include_str!("../../../testdata/pingpong/osu-bw.txt")),
    ("imb-4.txt", include_str!("../../../testdata/pingpong/imb-4.txt")),
    ("imb-2021.txt", include_str!("../../../testdata/pingpong/imb-2021.txt")),
    ("perftest-send.txt", include_str!("../../../testdata/pingpong/perftest-send.txt")),
];

fn file(name: &str) -> &'static str {
    FILES.iter().find(|(file, _)| *file == name).unwrap().1
}

#[track_caller]
fn read(name: &str) -> Imported {
    import(name, file(name)).unwrap()
}

#[track_caller]
fn refused(text: &str) -> String {
    import("a.txt", text).unwrap_err().to_string()
}

fn time_us(of: &Imported, size: u64) -> f64 {
    of.curve().unwrap().at(Bytes::new(size)).unwrap().time_us
}

#[test]
fn p9_every_file_is_read_in_its_format_with_its_provenance() {
    let formats: Vec<(&str, String, usize)> = FILES
        .iter()
        .map(|(name, _)| read(name))
        .map(|found| (found.format, found.tool, found.points.len()))
        .collect();
    let want = [
        ("NetPIPE 3 np.out", "NetPIPE 3 np.out", 85),
        ("NetPIPE 5 np.out", "NetPIPE 5 np.out", 17),
        ("OSU micro-benchmark", "OSU MPI Latency Test v5.6.2", 21),
        ("OSU micro-benchmark", "OSU MPI Latency Test v7.5", 21),
        ("OSU micro-benchmark", "OSU MPI Bandwidth Test v5.6.2", 21),
        ("Intel MPI Benchmarks", "Intel(R) MPI Benchmarks 4.1, MPI-1 part", 21),
        ("Intel MPI Benchmarks", "Intel(R) MPI Benchmarks 2021.3, MPI-1 part", 21),
        ("perftest latency", "Send Latency Test", 20),
    ];
    assert_eq!(formats, want.map(|(format, tool, points)| (format, tool.to_owned(), points)));
}

/// Every line in the columns that the tool itself prints: NetPIPE 5 by `%9d %9.3lf %9.3lf %9.3lf %7.2lf`
/// (its netpipe.c), the OSU tests in 10 and 18 places, IMB in four columns of 13.
#[test]
fn p9_every_file_has_the_columns_of_its_tool() {
    type Form = fn(&[f64]) -> String;
    fn netpipe(cells: &[f64]) -> String {
        let [bytes, rate, least, most, time] = cells else { panic!("{cells:?}") };
        format!("{bytes:9.0} {rate:9.3} {least:9.3} {most:9.3} {time:7.2}")
    }
    fn osu(cells: &[f64]) -> String {
        format!("{:<10.0}{:18.2}", cells[0], cells[1])
    }
    fn imb(cells: &[f64]) -> String {
        format!("{:13.0}{:13.0}{:13.2}{:13.2}", cells[0], cells[1], cells[2], cells[3])
    }
    let numbers = |line: &str| -> Vec<f64> {
        line.split_whitespace().map_while(|cell| cell.parse().ok()).collect()
    };
    let forms: [(&str, Form); 6] = [
        ("netpipe-5.out", netpipe),
        ("osu-latency-5.txt", osu),
        ("osu-latency-7.txt", osu),
        ("osu-bw.txt", osu),
        ("imb-4.txt", imb),
        ("imb-2021.txt", imb),
    ];
    for (name, form) in forms {
        let lines = file(name).lines().filter(|line| line.trim().starts_with(char::is_numeric));
        let mut count = 0;
        for line in lines {
            assert_eq!(form(&numbers(line)), line, "{name}");
            count += 1;
        }
        assert!(count >= 17, "{name}: {count} lines");
    }
}

/// With `--workload` a text follows the time; a slow block has a rate of no thousandth; several pairs
/// have the rates of all.
#[test]
fn p9_what_netpipe_5_adds_to_a_line_is_read_or_refused() {
    let text = "        1     0.006     0.005     0.006    1.42    12.34 GB/sec\n\
                \x20       2     0.000     0.000     0.000  123.45     3.00 GFlops\n";
    let found = import("np.out", text).unwrap();
    assert_eq!((found.format, found.points.len()), ("NetPIPE 5 np.out", 2));
    assert!((time_us(&found, 2) - 123.45).abs() < 1e-9);
    let pairs = "        1     0.012     0.010     0.012    1.42\n";
    assert!(refused(pairs).contains("disagrees"));
    let checked = format!("{:9} bytes {:6} times {:8} failures\n", 16, 100, 0);
    assert!(refused(&checked).contains("integrity run"));
}

/// np.out has hundredths of a microsecond.
#[test]
fn p9_every_time_survives_np_out() {
    for (name, _) in FILES.iter().filter(|(name, _)| *name != "osu-bw.txt") {
        let curve = read(name).curve().unwrap();
        let again = import("np.out", &export_netpipe3(&curve)).unwrap().curve().unwrap();
        assert_eq!(again.points.len(), curve.points.len(), "{name}");
        for (a, b) in again.points.iter().zip(&curve.points) {
            assert!(
                a.size == b.size && (a.time_us - b.time_us).abs() < 0.0051,
                "{name}: {a:?} {b:?}"
            );
        }
    }
}

#[test]
fn p9_our_np_out_is_netpipes_but_for_the_digits_of_the_rate() {
    let text = file("netpipe-3.7.2.out");
    let ours = export_netpipe3(&read("netpipe-3.7.2.out").curve().unwrap());
    for (ours, theirs) in ours.lines().zip(text.lines()) {
        let place = |line: &str| (line[..8].to_owned(), line[line.len() - 13..].to_owned());
        assert_eq!(place(ours), place(theirs));
    }
}

/// 4 B in 2.26 us: 1.69 in units of 2^20, 1.77 in units of 10^6.
#[test]
fn p9_old_and_new_imb_files_mean_the_same_times() {
    let (old, new) = (read("imb-4.txt"), read("imb-2021.txt"));
    assert_eq!(old.curve().unwrap().points, new.curve().unwrap().points);
    assert!((time_us(&old, 4) - 2.26).abs() < 1e-9);
    let row = |rate: &str| {
        format!(
            "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n4 1000 2.26 {rate}\n"
        )
    };
    assert!(import("a", &row("1.69")).is_ok() && import("a", &row("1.77")).is_ok());
    assert_eq!(refused(&row("2.00")), "a.txt:3: rate 2 disagrees with bytes / time = 1.770");
}

#[test]
fn a_bandwidth_test_gives_rates_and_no_times() {
    let found = read("osu-bw.txt");
    assert_eq!(found.curve(), None);
    let (size, rate) = found.throughput()[0];
    assert!(size == Bytes::new(1) && (rate - 5.0 * 8.0).abs() < 0.1, "{rate}");
}

/// The OSU and Intel benchmarks and NetPIPE 5 divide the time of all exchanges by their number; perftest
/// sorts them and takes the middle one (`t_typical`).
#[test]
fn every_format_says_which_statistic_its_times_are() {
    let of = |name: &str| read(name).statistic;
    for name in ["netpipe-5.out", "osu-latency-5.txt", "osu-latency-7.txt", "imb-2021.txt"] {
        assert_eq!(of(name), Some(Statistic::Mean), "{name}");
        assert_eq!(read(name).curve().unwrap().statistic, Statistic::Mean, "{name}");
    }
    assert_eq!(of("netpipe-3.7.2.out"), Some(Statistic::Netpipe));
    assert_eq!(of("perftest-send.txt"), Some(Statistic::Median));
    assert_eq!(of("osu-bw.txt"), None);
}

#[test]
fn sizes_in_several_formats_agree() {
    for name in ["osu-latency-5.txt", "osu-latency-7.txt", "perftest-send.txt", "netpipe-5.out"] {
        assert!((time_us(&read(name), 1024) - 1.50).abs() < 0.011, "{name}");
    }
}

#[test]
fn what_is_no_ping_pong_is_refused_with_its_reason() {
    assert!(refused("hello\n").starts_with("a.txt: not in a known format; known are Intel"));
    assert!(refused("").contains("not in a known format"));
    assert!(refused("  16 bytes   100 times   0 failures\n").contains("integrity run"));
    assert!(refused("1 0.876453 0.00000970\n").contains("disagrees"));
    for line in ["64 10 0.000064\n", "64 10 6.4e-5\n", "64 10 6.4E-05\n", "1 99999 1e-6\n"] {
        assert!(refused(line).contains("disagrees"), "{line}");
    }
    let rate = |time: &str| format!("64 {:.3} {time}\n", 64.0 * 8.0 / 6.4e-5 / 1_048_576.0);
    assert!(["0.000064", "6.4e-5", "64e-6"].iter().all(|time| import("a", &rate(time)).is_ok()));
    assert!(refused("1 0.876453 0.00000870\n1 0.876453 0.00000870\n").contains("twice"));
    assert!(
        refused("1 0.876453 0.00000870\n2 x 0.00000870\n").contains("a.txt:2: \"x\" is no rate")
    );
    let get = "# OSU MPI_Get latency Test v5.3\n# Size Latency (us)\n1 2.0\n";
    assert!(refused(get).contains("is no two-sided ping-pong"));
    let read = file("perftest-send.txt").replace("Send Latency", "RDMA_Read Latency");
    assert!(refused(&read).contains("whole round trips"));
    let allreduce = file("imb-4.txt").replace("Benchmarking PingPong", "Benchmarking Allreduce");
    assert!(refused(&allreduce).contains("no block \"# Benchmarking PingPong\""));
}

/// A copy that broke off: what is left of the last time may be a time, and not the one that was written.
#[test]
fn p9_a_file_that_was_cut_is_refused_or_told() {
    for (name, text) in FILES {
        assert!(read(name).remarks.iter().all(|remark| !remark.contains("cut")), "{name}");
        let rows: Vec<usize> =
            text.match_indices('\n').map(|(at, _)| at).filter(|at| *at > text.len() / 2).collect();
        for at in rows {
            for cut in [at - 1, at - 3, at - 9] {
                let Ok(found) = import(name, &text[..cut]) else { continue };
                let last = text[..cut].rsplit('\n').next().unwrap().trim_start();
                let is_row = last.starts_with(|first: char| first.is_ascii_digit());
                let told = found.remarks.iter().any(|remark| remark.contains("may be cut"));
                assert_eq!(told, is_row, "{name} at {cut}: {last:?}");
            }
        }
    }
}

fn mangled() -> impl Strategy<Value = String> {
    let cut =
        (0..FILES.len(), any::<prop::sample::Index>(), any::<prop::sample::Index>(), ".{0,12}");
    cut.prop_map(|(file, at, length, noise)| {
        let mut text: Vec<char> = FILES[file].1.chars().collect();
        let from = at.index(text.len());
        let to = (from + length.index(40)).min(text.len());
        text.splice(from..to, noise.chars());
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_text_panics_the_importers(text in "\\PC{0,200}", lines in "([#0-9. a-z\\[\\]-]{0,30}\n){0,8}") {
        let _ = import("a", &text);
        let _ = import("a", &lines);
        for format in FORMATS {
            let _ = (format.read)(&Rows { file: "a", text: &lines });
        }
    }

    #[test]
    fn no_damaged_file_panics_the_importers(text in mangled()) {
        if let Ok(found) = import("a", &text) {
            let good = found.curve().into_iter().flat_map(|curve| curve.points);
            prop_assert!(good.into_iter().all(|point| point.time_us > 0.0 && !point.size.is_empty()));
        }
    }
}

#[test]
fn what_could_not_be_found_out_in_time_is_left_out() {
    let text = include_str!("../../../testdata/pingpong/osu-latency-7.txt");
    assert_eq!(essence_within(0, "a", text), "");
    let found = essence_within(100 * text.len(), "a", text);
    assert_eq!(import("a", &found).unwrap(), import("a", text).unwrap());
}
