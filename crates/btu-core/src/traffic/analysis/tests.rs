//! What runs come to together, and which of it is the utilisation of whom.

use super::*;
use crate::comparison::series::ByRound;
use crate::comparison::series::Series;
use crate::disclosure::Disclosure;
use crate::role::Role;
use crate::sample::HostSample;
use crate::sample::Outcome;
use crate::traffic::course::tests::flow;
use crate::traffic::figures::emodel::Rating;
use crate::traffic::figures::flow::BlockCounts;
use crate::traffic::figures::flow::Delays;
use crate::traffic::figures::flow::Figures;
use crate::traffic::figures::flow::Loss;
use crate::traffic::plan::Link;
use crate::traffic::plan::Plan;
use crate::traffic::plan::Study;
use crate::traffic::sample::ClusterSample;
use crate::traffic::sample::Line;
use crate::units::Bytes;
use crate::units::Nanos;

/// A cluster of one flow with this rate, from `began` on for so long, in milliseconds.
fn cluster(rate: f64, began: u64, lasts: u64) -> ClusterSample {
    let figures = Figures {
        blocks: BlockCounts { due: 1, sent: 1, ..BlockCounts::default() },
        arrival_rate_bit_s: rate,
        departure_rate_bit_s: rate,
        ..Figures::default()
    };
    ClusterSample {
        name: "c".into(),
        failed: None,
        flows: vec![flow(figures, Nanos::from_millis(lasts))],
        sender_cpu_ns: Nanos::ZERO,
        receiver_cpu_ns: Nanos::ZERO,
        sender_threads: 1,
        began_ns: Nanos::from_millis(began),
        // What a cluster of conversations said in results of earlier versions.
        elapsed_ns: Nanos::ZERO,
        clocks: Vec::new(),
        slowdowns: Vec::new(),
    }
}

fn run(pass: u32, clusters: Vec<ClusterSample>) -> RunSample {
    RunSample {
        cell: 1,
        pass,
        started_at: String::new(),
        clusters,
        probe: None,
        emulation: Vec::new(),
        host: HostSample::default(),
        flags: Vec::new(),
    }
}

fn journal(study: Study, group: Group, runs: Vec<RunSample>) -> Journal {
    let cell = |id| Cell { id, group, sessions: 1, ..Cell::default() };
    let lines = runs.into_iter().map(|run| Line::TrafficRun(Box::new(run))).collect();
    let plan = Plan::new(study, vec![cell(1), cell(2)], 1);
    Journal { plan, hosts: Disclosure::default(), lines, events: Vec::new() }
}

fn close(got: f64, want: f64) {
    assert!((got / want - 1.0).abs() <= 1e-9, "{got} for {want}");
}

/// All bits over the time in which anything ran: what ran at once adds up, and nothing counts longer than it lasted.
#[test]
fn rates_of_clusters_add_up_where_they_ran_at_once_for_as_long_as_they_did() {
    let rate = |clusters: Vec<ClusterSample>| Totals::of(&run(1, clusters)).departure;
    let two = |began| rate(vec![cluster(6.0, 0, 1000), cluster(6.0, began, 1000)]);
    for (began, want) in [(0, 12.0), (500, 8.0), (1000, 6.0), (5000, 6.0)] {
        close(two(began), want);
    }
    // 6 of a line: 1 all the time, and beside it 5 for a sixth of it and 5 for another sixth.
    let series =
        vec![cluster(1.0, 0, 60_000), cluster(5.0, 0, 10_000), cluster(5.0, 10_500, 10_000)];
    close(rate(series), 1.0 + 10.0 / 6.0);
    // In whatever order they ended.
    for order in [[2.0, 3.0], [3.0, 2.0]] {
        close(rate(order.map(|one| cluster(one, 0, 10_000)).into()), 5.0);
    }
    // A test that begins later in its cluster.
    let mut late = cluster(4.0, 0, 1000);
    late.flows.push(FlowSample { start_ns: Nanos::from_millis(3000), ..late.flows[0].clone() });
    close(rate(vec![late]), 4.0);
    assert!(rate(Vec::new()).abs() < f64::EPSILON);
}

/// W of several flows is that of all bytes that came; one that sent nothing takes nothing from it.
#[test]
fn delays_are_weighted_by_what_was_not_lost() {
    let with = |arrived, lost, delay| {
        let mut one = cluster(1.0, 0, 1000);
        let figures = &mut one.flows[0].figures;
        (figures.arrived_bytes, figures.lost_bytes) = (Bytes::new(arrived), Bytes::new(lost));
        figures.window_delay_s = delay;
        one
    };
    let of = |clusters| Totals::of(&run(1, clusters)).window_delay;
    let both = || vec![with(100, 50, Some(4.0)), with(150, 0, Some(2.0))];
    close(of(both()).unwrap(), 2.5);
    let silent = [both(), vec![with(0, 0, None)]].concat();
    close(of(silent).unwrap(), 2.5);
    assert_eq!(of([both(), vec![with(1, 0, None)]].concat()), None);
}

/// Of four calls one was dead: it has no delay, and is the worst all the same. One that never rang is none.
#[test]
fn a_call_that_lost_everything_is_the_worst() {
    let call = |sent, received| {
        let mut one = cluster(1.0, 0, 1000);
        let lost_share = if sent > received { 1.0 } else { 0.0 };
        let loss = Loss { sent, received, lost_share, ..Loss::default() };
        one.flows[0].figures.loss = Some(loss);
        one.flows[0].figures.delay = (received > 0).then(Delays::default);
        one
    };
    let worst = |clusters| Totals::of(&run(1, clusters)).worst_call;
    let alive = || vec![call(50, 50), call(50, 50), call(50, 50)];
    assert!(worst(alive()).unwrap().r > 90.0);
    let dead = worst([alive(), vec![call(50, 0)]].concat());
    assert_eq!(dead, Some(Rating::NOTHING_HEARD));
    assert!(worst([alive(), vec![call(0, 0)]].concat()).unwrap().r > 90.0);
    assert_eq!(worst(vec![call(0, 0)]), None);
    let all_dead = analyse(&journal(Study::Qos, Group::Class, vec![run(1, vec![call(9, 0)])]));
    assert_eq!(all_dead.cells[0].worst_call(), Some(Rating::NOTHING_HEARD));
}

/// A cell says of each figure what all its passes say, and not the first or the last of them.
#[test]
fn every_figure_of_a_cell_is_that_of_all_its_passes() {
    let pass = |number, drained: f64| {
        let mut one = cluster(1e6, 0, 1000);
        one.sender_cpu_ns = Nanos::from_millis(10);
        let flow = &mut one.flows[0];
        flow.figures.arrived_bytes = Bytes::new(1000);
        flow.figures.delivered_bytes = Bytes::new(1000);
        flow.figures.drained_delay_s = Some(drained);
        flow.acknowledged_bytes =
            Some(Bytes::new(crate::traffic::figures::flow::rounded(1000.0 * drained)));
        run(number, vec![one])
    };
    let runs = vec![pass(1, 1.0), pass(2, 2.0), pass(3, 4.0)];
    let found = analyse(&journal(Study::Scenario, Group::Scenario, runs)).cells.remove(0);
    for (figure, want) in [
        (found.drained_delay, 2.0),
        (found.transmitted, 16_000.0),
        (found.sender_cpu_s_per_gb, 1e4),
        (found.fairness, 1.0),
    ] {
        let figure = figure.unwrap();
        close(figure.value, want);
        assert_eq!(figure.passes, 3);
    }
}

/// A pass in which something could not be run has no rate: 0 bit/s would be a statement about the path.
#[test]
fn a_run_that_could_not_be_made_is_no_part_of_the_rates_of_its_cell() {
    let failed = || ClusterSample {
        failed: Some("connect: refused".into()),
        flows: Vec::new(),
        ..cluster(0.0, 0, 1000)
    };
    let mut silenced = cluster(0.0, 0, 1000);
    silenced.flows[0].outcome = Outcome::Failed { reason: "lab1: lost".into() };
    // It ended early, and what it had until then counts.
    let mut early = cluster(2e6, 0, 1000);
    early.flows[0].outcome = Outcome::Failed { reason: "send: reset".into() };
    early.flows[0].figures.arrived_bytes = Bytes::new(1000);
    let rates = |clusters: Vec<ClusterSample>| {
        let runs = vec![
            run(1, vec![cluster(4e6, 0, 1000)]),
            run(2, clusters),
            run(3, vec![cluster(1e6, 0, 1000)]),
        ];
        let found = analyse(&journal(Study::Scenario, Group::Scenario, runs)).cells.remove(0);
        [found.arrival, found.departure].map(|rate| {
            let rate = rate.unwrap();
            (rate.value, rate.passes)
        })
    };
    for clusters in [vec![failed()], vec![cluster(3e6, 0, 1000), failed()], vec![silenced], vec![]]
    {
        for (value, passes) in rates(clusters) {
            close(value, 2e6);
            assert_eq!(passes, 2);
        }
    }
    for (value, passes) in rates(vec![early]) {
        close(value, 2e6);
        assert_eq!(passes, 3);
    }
}

/// The geometric mean of 1 %, 4 % and 1 % is 1.6 %, and would be another mean as soon as one pass lost nothing. A cell
/// of one connection and the connection say one share.
#[test]
fn shares_that_were_lost_have_an_arithmetic_mean_everywhere() {
    let pass = |number, lost_share: f64| {
        let mut one = cluster(1e6, 0, 1000);
        let received = crate::traffic::figures::flow::rounded(1e3 * (1.0 - lost_share));
        let loss = Loss { sent: 1000, received, lost_share, ..Loss::default() };
        one.flows[0].figures.loss = Some(loss);
        run(number, vec![one])
    };
    let runs = vec![pass(1, 0.01), pass(2, 0.04), pass(3, 0.01)];
    let journal = journal(Study::Scenario, Group::Scenario, runs);
    let all = connections(&journal);
    let of_connection = all[0].share(|flow| Some(flow.figures.loss?.lost_share)).unwrap();
    let cell = analyse(&journal).cells.remove(0);
    let losses: Vec<f64> = cell.runs.iter().filter_map(|run| run.loss).collect();
    let of_cell = Estimate::of_shares(&losses).unwrap();
    for found in [of_connection, of_cell] {
        close(found.value, 0.02);
        assert_eq!(found.passes, 3);
        assert!(found.interval.is_some_and(|of| of.low.abs() < f64::EPSILON && of.contains(0.02)));
    }
    assert_eq!(
        Estimate::of_shares(&[0.0, 1.0, 1.0]).unwrap().interval.unwrap().high.to_bits(),
        1.0_f64.to_bits()
    );
}

/// Neither is it a point of the law of sessions, nor of the knee.
#[test]
fn a_run_that_could_not_be_made_is_no_point_of_a_curve() {
    let part = Totals { arrival: 1.0, departure: 1.0, is_partial: true, ..Totals::default() };
    assert_eq!(part.loaded(1), None);
    let whole = Totals { is_partial: false, ..part };
    assert_eq!(whole.loaded(7).map(|point| point.cell), Some(7));
}

fn full(rate: f64, began: u64) -> ClusterSample {
    let mut one = cluster(rate, began, 1000);
    one.flows[0].traffic = "full(duration=1 s)".into();
    one.flows[0].transport = "tcp".into();
    one
}

/// `run = { serial = ["full", "vbr"] }`: the one says what the other is a share of.
#[test]
fn a_full_stream_that_runs_alone_in_a_scenario_is_mu() {
    let analysed = |clusters: Vec<ClusterSample>| {
        let journal = journal(Study::Scenario, Group::Scenario, vec![run(1, clusters)]);
        (analyse(&journal), journal)
    };
    let rho = |clusters: Vec<ClusterSample>| {
        let (analysis, journal) = analysed(clusters);
        let rho = |flow| analysis.rho_of(&journal, 1, flow);
        let flows = journal.runs().flat_map(RunSample::flows_by_cluster);
        let found: Vec<Option<f64>> = flows.map(rho).collect();
        (analysis.mu.map(|mu| mu.value), found)
    };
    let (mu, found) = rho(vec![full(8e6, 0), cluster(2e6, 1500, 1000)]);
    close(mu.unwrap(), 8e6);
    assert_eq!(found[0], None, "it is no share of itself");
    close(found[1].unwrap(), 0.25);
    // Beside others it gets what they leave; datagrams say what a flood leaves.
    assert_eq!(rho(vec![full(8e6, 0), cluster(2e6, 500, 1000)]), (None, vec![None, None]));
    let mut flood = full(8e6, 0);
    flood.flows[0].transport = "udp".into();
    assert_eq!(rho(vec![flood, cluster(2e6, 1500, 1000)]).0, None);
    // One that fell over says nothing.
    let mut broken = full(8e6, 0);
    broken.flows[0].outcome = Outcome::Failed { reason: "x".into() };
    assert_eq!(rho(vec![broken]).0, None);
}

/// What a stream gets one way says nothing of the other way, nor of another link.
#[test]
fn each_way_and_each_link_has_a_mu_of_its_own() {
    let back = |mut one: ClusterSample| {
        (one.flows[0].from, one.flows[0].to) = (Role::Active, Role::Test);
        one
    };
    let clusters = vec![
        full(8e6, 0),
        back(full(4e6, 2000)),
        cluster(2e6, 4000, 1000),
        back(cluster(2e6, 6000, 1000)),
    ];
    let mut journal = journal(Study::Scenario, Group::Scenario, vec![run(1, clusters)]);
    let rho = |journal: &Journal, cell| -> Vec<Option<f64>> {
        let analysis = analyse(journal);
        assert_eq!(analysis.mu, None, "which of both?");
        journal
            .runs()
            .flat_map(RunSample::flows_by_cluster)
            .map(|flow| analysis.rho_of(journal, cell, flow))
            .collect()
    };
    let found = rho(&journal, 1);
    assert_eq!(found[..2], [None; 2]);
    close(found[2].unwrap(), 0.25);
    close(found[3].unwrap(), 0.5);
    journal.plan.cells[1].link = Some(Link::default());
    assert_eq!(rho(&journal, 2), [None; 4]);
}

/// As geometric means are.
fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| (share * 1e5).round() / 1e3)
}

/// `full` over `tcp(window=4096)`, then over `quic`: neither is a repeat of the other, and a burst is a share of what a
/// stream over its own transport got.
#[test]
fn each_transport_and_each_setting_has_a_mu_of_its_own() {
    let over = |name: &str, transport: &str, mut one: ClusterSample| {
        name.clone_into(&mut one.name);
        transport.clone_into(&mut one.flows[0].transport);
        one
    };
    let clusters = vec![
        over("narrow", "tcp", full(1e6, 0)),
        over("wide", "tcp", full(8e6, 2000)),
        over("young", "quic", full(4e6, 4000)),
        over("voice", "udp", cluster(2e6, 6000, 1000)),
        over("web", "tcp", cluster(2e6, 8000, 1000)),
        over("few", "tcp", cluster(0.5e6, 10_000, 1000)),
        over("page", "quic", cluster(2e6, 12_000, 1000)),
    ];
    let mut journal = journal(Study::Scenario, Group::Scenario, vec![run(1, clusters)]);
    let named = [
        ("narrow", "tcp(window=4096)"),
        ("wide", "tcp"),
        ("young", "quic"),
        ("voice", "udp"),
        ("web", "tcp"),
        ("few", "tcp(window=4096)"),
        ("page", "quic"),
    ];
    let told = named.map(|(name, transport)| {
        let test = format!("[[cluster.test]]\nname = \"flow\"\ntransport = \"{transport}\"\n");
        format!("[[cluster]]\nname = \"{name}\"\n{test}")
    });
    journal.plan.cells[0].scenario = told.concat();
    let analysis = analyse(&journal);
    assert_eq!(analysis.mu, None, "which of three?");
    let flows = journal.runs().flat_map(RunSample::flows_by_cluster);
    let found = flows.skip(3).map(|flow| percent(analysis.rho_of(&journal, 1, flow)));
    assert_eq!(found.collect::<Vec<_>>(), [None, Some(25.0), Some(50.0), Some(50.0)]);
}

/// A cell over a link of its own is no share of what the plan's link carries, nor is a full stream of itself.
#[test]
fn a_cell_is_a_share_of_what_its_own_way_carries() {
    let at = |cell, clusters| RunSample { cell, ..run(1, clusters) };
    let rho = |second: Vec<ClusterSample>, link: Option<Link>| {
        let runs = vec![at(1, vec![full(8e6, 0)]), at(2, second)];
        let mut journal = journal(Study::Sweep, Group::Capacity, runs);
        journal.plan.cells[1].group = Group::Time;
        journal.plan.cells[1].link = link;
        let cells = analyse(&journal).cells;
        [Group::Capacity, Group::Time].map(|group| {
            cells.iter().find(|cell| cell.cell.group == group).and_then(|cell| percent(cell.rho))
        })
    };
    let bursts = || vec![cluster(2e6, 0, 1000)];
    assert_eq!(rho(bursts(), None), [None, Some(25.0)]);
    assert_eq!(rho(bursts(), Some(Link::default())), [None; 2]);
    assert_eq!(rho(vec![cluster(2e6, 0, 1000), full(8e6, 0)], None), [None; 2]);
}

#[test]
fn what_a_cell_and_its_flows_are_compared_by_has_a_value_of_each_pass() {
    let runs = vec![run(1, vec![cluster(1e6, 0, 1000)]), run(2, vec![cluster(2e6, 0, 1000)])];
    let journal = journal(Study::Scenario, Group::Scenario, runs);
    let found = ByRound::of_traffic(&journal, &analyse(&journal)).series;
    let rounds = |kind: &str| {
        let is_it = |one: &&Series| {
            one.figure.starts_with(kind) && one.figure.strip_suffix(".rate").is_some()
        };
        let all: Vec<_> = found.iter().filter(is_it).map(|one| one.rounds.clone()).collect();
        all
    };
    assert_eq!(rounds("cell.scenario/-/"), [[1e6, 2e6]]);
    assert_eq!(rounds("flow.scenario/-//c/"), [[1e6, 2e6]]);
}
