//! Tests of experiments, by the tables of the paper.

use super::*;
use crate::file::analysis::analyse;
use crate::file::plan::Path;
use crate::file::round::KIB;
use crate::file::round::f64_of;
use crate::file::sample::TrialSample;
use crate::file::table::Pair;
use crate::file::table::Table;
use crate::file::testing::client;
use crate::file::testing::journal;
use crate::file::testing::nanos;
use crate::file::testing::sample;
use crate::file::testing::server;
use crate::sample::HostSample;

fn plan(name: &str) -> Plan {
    Plan::new(vec![name.to_owned()], 1)
}

/// Of the paper's protocol alone.
fn of_ftp(name: &str) -> Plan {
    Plan { protocols: vec!["ftp".to_owned()], ..plan(name) }
}

/// What an experiment finds where each trial is seen so.
fn found(plan: &Plan, see: impl Fn(&Trial) -> TrialSample) -> Findings {
    let samples = plan.trials().iter().map(see).collect();
    analyse(&journal(plan.clone(), samples)).experiments.remove(0).findings
}

/// A trial in which each direction reaches so many KB/s.
fn at_rate(trial: &Trial, kib_s: f64) -> TrialSample {
    let bytes = f64_of(trial.size_bytes) * f64::from(trial.count);
    let seconds = bytes / KIB / kib_s;
    let way = if trial.direction == Direction::Both { Direction::AToB } else { trial.direction };
    let mut seen = sample(trial, way, &vec![seconds; usize::try_from(trial.clients).unwrap()]);
    if trial.direction == Direction::Both {
        seen.clients.push(client(trial, 1, Direction::BToA, [0.0, seconds]));
    }
    seen
}

fn row(table: &Table, label: &str) -> Vec<Option<f64>> {
    let row = table.rows.iter().find(|row| row.label == label);
    let row = row.unwrap_or_else(|| panic!("no row {label} in {table:#?}"));
    row.cells.iter().map(|cell| cell.map(|cell| (cell.value * 100.0).round() / 100.0)).collect()
}

#[test]
fn every_experiment_has_trials_that_differ_and_a_table_of_them() {
    for experiment in EXPERIMENTS {
        let plan = plan(experiment.name());
        let trials = plan.trials();
        assert!(!trials.is_empty() && trials.len() < 100, "{}", experiment.name());
        assert_eq!(trials.len(), experiment.trials(&plan).len(), "{}", experiment.name());
        let findings = found(&plan, |trial| at_rate(trial, 1000.0));
        assert!(!findings.tables.is_empty(), "{}", experiment.name());
        for table in &findings.tables {
            assert!(
                table.rows.iter().all(|row| row.cells.len() == table.columns.len()),
                "{table:#?}"
            );
        }
        let nothing = experiment.findings(&plan, &[]);
        assert!(nothing.tables.iter().all(|table| table.rows.is_empty()), "{}", experiment.name());
    }
}

#[test]
fn a_baseline_has_a_row_for_each_host_and_way() {
    let findings = found(&plan("baseline"), |trial| at_rate(trial, 4100.0));
    let labels: Vec<&str> = findings.tables[0].rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels.len(), 12);
    assert_eq!(labels[..2], ["A loopback ftp get", "A loopback ftp put"]);
    let loopback = Plan { path: Path::Loopback, ..plan("baseline") };
    assert_eq!(found(&loopback, |trial| at_rate(trial, 1.0)).tables[0].rows.len(), 6);
}

/// CITI TR 92-2, table 2: 1400 KB/s one way and 1000 each way at once, which is 1.43 times as much, not more than twice.
#[test]
fn both_directions_of_the_papers_table_2_are_less_than_twice_one() {
    let plan = Plan { mtus_bytes: vec![Bytes::new(4144)], ..of_ftp("transfer") };
    let findings = found(&plan, |trial| match (trial.direction, trial.size_bytes == MB) {
        (Direction::Both, true) => at_rate(trial, 1000.0),
        (Direction::Both, false) => at_rate(trial, 940.0),
        _ if trial.clients == 2 => at_rate(trial, 510.0),
        _ => at_rate(trial, 1400.0),
    });
    let [table] = &findings.tables[..] else { panic!() };
    assert_eq!(row(table, "ftp 1 MB, MTU 4144"), [Some(1400.0), Some(1400.0), None, None]);
    let both = row(table, "ftp 1 MB, MTU 4144, bidirectional");
    assert_eq!(both, [Some(1000.0), Some(1000.0), Some(2000.0), Some(1.43)]);
    let long = row(table, "ftp 11 MB, MTU 4144, bidirectional");
    assert_eq!(long, [Some(940.0), Some(940.0), Some(1880.0), Some(1.34)]);
    let two = row(table, "ftp 1 MB, MTU 4144, two clients (each)");
    assert_eq!(two, [Some(510.0), None, Some(1020.0), Some(0.73)]);
    let ratios: Vec<String> =
        findings.pairs.iter().map(|pair| format!("{:.2}", ratio(pair))).collect();
    assert_eq!(ratios, ["1.43", "1.34"]);
    assert!(findings.remarks.is_empty(), "{:?}", findings.remarks);
}

fn ratio(pair: &Pair) -> f64 {
    pair.sum_over_unidirectional.unwrap().value
}

/// Every direction alone has 1000 KB/s in round 1 and 100 in round 2, both at once have 1500 and 150.
#[test]
fn a_ratio_is_of_what_ran_in_the_same_round() {
    let plan = Plan { sizes_bytes: vec![MB], ..of_ftp("transfer") };
    let see = |trial: &Trial, round: u32, kib_s: f64| {
        let kib_s = if trial.direction == Direction::Both { 0.75 * kib_s } else { kib_s };
        TrialSample { round, ..at_rate(trial, kib_s) }
    };
    let mut samples: Vec<TrialSample> =
        plan.trials().iter().flat_map(|one| [see(one, 1, 1000.0), see(one, 2, 100.0)]).collect();
    // A round that only one of them has says nothing.
    samples.push(see(&plan.trials()[0], 3, 1.0));
    let findings = analyse(&journal(plan, samples)).experiments.remove(0).findings;
    assert!(findings.pairs.iter().all(|pair| (ratio(pair) - 1.5).abs() < 1e-6), "{findings:#?}");
}

/// Two transfers have twice the threads of one, and so nearly twice the time of CPUs that are shared with others.
#[test]
fn a_ratio_is_not_available_where_other_programs_took_cpus_and_beyond_two_it_is_explained() {
    let plan =
        Plan { sizes_bytes: vec![MB], mtus_bytes: vec![Bytes::new(1500)], ..of_ftp("transfer") };
    let with = |foreign_s: f64| {
        found(&plan, |trial| {
            let host = HostSample {
                elapsed_ns: nanos(1.0),
                idle_ns: Some(nanos(0.0)),
                foreign_cpu_ns: Some(nanos(foreign_s)),
                ..HostSample::default()
            };
            TrialSample { host: Some(host), ..at_rate(trial, rate(trial)) }
        })
    };
    let (quiet, disturbed) = (with(0.1), with(0.5));
    assert!((ratio(&quiet.pairs[0]) - 3.0).abs() < 1e-6);
    assert!(quiet.remarks[0].starts_with("ftp 1 MB, MTU 1500: sum / unidirectional is 3.00: "));
    assert_eq!(disturbed.pairs[0].sum_over_unidirectional, None);
    assert!((disturbed.pairs[0].sum_kib_s - 3000.0).abs() < 0.01, "what passed stays");
    let told = "ftp 1 MB, MTU 1500: sum / unidirectional is not available: other programs used up to 25 % of the CPUs";
    assert!(disturbed.remarks[0].starts_with(told), "{:?}", disturbed.remarks);
}

/// Three times as much both ways as one way.
fn rate(trial: &Trial) -> f64 {
    if trial.direction == Direction::Both { 1500.0 } else { 1000.0 }
}

/// CITI TR 92-2, table 3, in milliseconds of one write.
const T3: [(u64, f64); 8] = [
    (1536, 5.7),
    (3072, 7.3),
    (4096, 7.3),
    (6144, 9.9),
    (12_288, 15.5),
    (24_576, 25.3),
    (49_152, 48.1),
    (98_304, 86.4),
];

/// In least squares of relative errors 4.35 ms, 1132 KB/s and 4.9 KB; of times, 4.76 ms, 1162 KB/s and 5.5 KB.
#[test]
fn the_papers_table_3_is_a_line_of_five_milliseconds_and_more_than_a_megabyte_in_a_second() {
    let plan = Plan {
        sizes_bytes: T3.iter().map(|(size, _)| Bytes::new(*size)).collect(),
        mtus_bytes: vec![Bytes::new(4144)],
        ..plan("rpc-sweep")
    };
    let findings = found(&plan, |trial| {
        let (_, ms) = T3.iter().find(|(size, _)| *size == trial.size_bytes.count()).unwrap();
        sample(trial, Direction::AToB, &[ms / 1e3 * f64::from(trial.count)])
    });
    let fit = &findings.fits[0];
    let found = [fit.t0_s * 1e3, fit.r_inf_kib_s, fit.half_size_kib];
    for (found, wanted) in found.into_iter().zip([4.3516, 1132.156, 4.9267]) {
        assert!((found / wanted - 1.0).abs() < 1e-4, "{fit:?}");
    }
    let small = row(&findings.tables[0], "1.5 KB x 1000");
    assert_eq!((small[1], small[2]), (Some(263.16), Some(1.0)));
    let told = "tcp-rpc, MTU 4144: as many packets each: 1.5 KB and 3 KB; 4 KB and 6 KB; from every other size to the next \
                the count changes.";
    assert_eq!(findings.remarks, [told]);
}

/// Blocks of 1 KB in 1 ms each, of 64 KB in 200 ms, of 1 MB in 10 s: a line through them begins below zero.
#[test]
fn a_line_that_no_block_can_have_is_told_and_not_drawn() {
    let sizes = [1 << 10, 64 << 10, 1 << 20];
    let plan = Plan {
        sizes_bytes: sizes.map(Bytes::new).to_vec(),
        mtus_bytes: vec![Bytes::new(4144)],
        ..plan("rpc-sweep")
    };
    let with = |ms: [f64; 3]| {
        found(&plan, |trial| {
            let at = sizes.iter().position(|size| *size == trial.size_bytes.count()).unwrap();
            sample(trial, Direction::AToB, &[ms[at] / 1e3 * f64::from(trial.count)])
        })
    };
    let (steep, falling) = (with([1.0, 200.0, 10_000.0]), with([30.0, 20.0, 10.0]));
    assert!(steep.fits.is_empty() && falling.fits.is_empty());
    assert!(steep.remarks[0].contains("no fitted line: it would give an empty block less than"));
    assert!(falling.remarks[0].contains("no fitted line: it would give larger blocks less time"));
}

/// CITI TR 92-2, table 4: 270 and 460 KB/s of 10 MB, 50 and 80 % of the CPU, 720 and 1200 calls.
#[test]
fn two_clients_of_the_papers_table_4_get_1_7_times_as_much_as_one() {
    let findings = found(&of_ftp("cold-read"), |trial| {
        let (each, cpu, calls) =
            if trial.clients == 1 { (270.0, 0.5, 720.0) } else { (230.0, 0.8, 1200.0) };
        let mut seen = at_rate(trial, each);
        let seconds = f64_of(trial.size_bytes) / KIB / each;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "calls of the paper"
        )]
        let calls = (calls * seconds) as u64;
        seen.servers.push(server(seconds, cpu * seconds, calls, trial.size_bytes.count()));
        seen
    });
    let ratio = findings.ratios.iter().find(|one| one.label.contains("10 MB")).unwrap();
    assert_eq!(ratio.label, "ftp 10 MB, 2:1 clients");
    let told =
        [ratio.rate, ratio.server_cpu, ratio.calls].map(|one| format!("{:.2}", one.unwrap()));
    assert_eq!(told, ["1.70", "1.60", "1.67"]);
    assert_eq!(ratio.host_cpu, None, "nobody watched the machine");
    let [delivered, costs, _] = &findings.tables[..] else { panic!() };
    assert_eq!(row(delivered, "total of 2")[3], Some(460.0));
    let cost = row(costs, "ftp 10 MB, 2 clients, cold");
    assert_eq!(cost[..2], [Some(80.0), Some(40.0)]);
    assert_eq!((cost[4], cost[6]), (Some(2.61), Some(0.5)));
}

#[test]
fn the_slowest_of_many_clients_is_named() {
    let findings = found(&of_ftp("client-load"), |trial| {
        let mut times = vec![1.0; 15];
        times[4] = 2.0;
        sample(trial, Direction::BToA, &times)
    });
    assert_eq!(
        findings.remarks,
        [
            "ftp get 1 MB, 15 at once: client 5 was the slowest over all rounds, with 2.00 times the median."
        ]
    );
    let [each, together] = &findings.tables[..] else { panic!() };
    assert_eq!(each.rows.len(), 16);
    assert_eq!(row(together, "ftp get 1 MB, 15 at once")[4], Some(2.0));
}
