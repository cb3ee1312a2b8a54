//! Repeats that are far from the others: what they are blamed on, and what not.

use super::*;

#[test]
fn an_outlier_is_marked_with_its_likely_cause_and_stays() {
    let mut journal = repeats(&[100, 101, 102, 103]);
    let mut slow = run(&journal.plan, CELL, 5, 20, 0.0);
    slow.host.steal_ns = Some(Nanos::from_millis(400));
    journal.records.push(slow.into());
    let found = analyse(&journal);
    let part = "20.000 Mb/s is more than 3 interquartile ranges outside its repeats (median \
                101.000 Mb/s); 40.0 % of the window stolen by the hypervisor (1 of 5 passes)";
    assert_said(&found, "outlier", part);
    assert_eq!(found.cells[0].n, 5);
}

/// Each of them had others beside it.
#[test]
fn a_fast_outlier_is_not_blamed_on_what_slows_runs() {
    let mut journal = repeats(&[]);
    for (pass, mbps) in (1..).zip([100, 101, 102, 103, 400]) {
        let mut sample = run(&journal.plan, CELL, pass, mbps, 0.0);
        sample.host.foreign_cpu_ns = Some(Nanos::from_millis(800));
        journal.records.push(sample.into());
    }
    assert_said(&analyse(&journal), "outlier", "(median 102.000 Mb/s); no cause seen");
}

/// A cell that always has others beside it is not slow once for that.
#[test]
fn an_outlier_is_blamed_on_what_its_repeats_have_not() {
    let beside = |last_ms: u64| {
        let mut journal = repeats(&[]);
        for (pass, mbps) in (1..).zip([100, 101, 102, 103, 50]) {
            let mut sample = run(&journal.plan, CELL, pass, mbps, 0.0);
            let taken = Nanos::from_millis(if mbps == 50 { last_ms } else { 300 });
            sample.host.foreign_cpu_ns = Some(taken);
            journal.records.push(sample.into());
        }
        analyse(&journal)
    };
    assert_said(&beside(310), "outlier", "no cause seen");
    assert_said(&beside(700), "outlier", "70.0 % of a CPU used by other programs (usually 30.0 %)");
}

/// 110 segments of 10 000 sent again, as many dropped: the pattern did that, in every repeat.
#[test]
fn an_outlier_is_not_blamed_on_drops_that_were_asked_for() {
    let said_of = |dropped: u64| {
        let mut journal = five_applications(&[Case::TwoSendDropped]);
        for (pass, mbps) in (1..).zip([100, 101, 102, 103, 20]) {
            let mut sample = run(&journal.plan, "2SEND+DR/telnet/none", pass, mbps, 0.0);
            for one in &mut sample.comm.as_mut().unwrap().connections {
                let info = one.sender.tcp_info.as_mut().unwrap();
                (info.data_segs_out, info.total_retrans) = (Some(5000), Some(55));
            }
            let pattern_drops = Some(dropped);
            let up = DirectionSample { dropped, pattern_drops, packets: 10_110, ..direction("up") };
            sample.emulation = vec![up];
            journal.records.push(sample.into());
        }
        said(&analyse(&journal), "outlier").unwrap()
    };
    assert!(said_of(110).contains("; no cause seen"), "{}", said_of(110));
    assert!(said_of(50).contains("; 110 retransmissions (50 drops were asked for)"));
}
