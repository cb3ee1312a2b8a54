//! Plans of traffic as text and back, and what is refused.

use super::*;
use crate::traffic::figures::capacity::Adjustment;

fn plan() -> Plan {
    let cell = |id: u32| Cell {
        id,
        group: Group::Period,
        label: format!("{id} ms"),
        x: f64::from(id),
        passes: (id == 3).then_some(1),
        sessions: 1,
        scenario: "[[cluster]]\nname = \"a\"\n".to_owned(),
        ..Cell::default()
    };
    let link = Link { up: vec!["delay 10ms".into()], down: vec![], wire: "ethernet".into() };
    Plan { passes: 3, link: Some(link), ..Plan::new(Study::Sweep, (1..=8).map(cell).collect(), 7) }
}

#[test]
fn a_plan_comes_back_from_its_text() {
    let plan = plan();
    let text = plan.to_toml();
    assert_eq!(Plan::stored("plan.toml", &text).as_ref(), Ok(&plan), "{text}");
    let course = Course { most_sessions: Some(64), ..Course::default() };
    let agents = [(Role::Active, "lab1".to_owned()), (Role::Passive, "lab 2".to_owned())];
    let apart = Plan { agents: agents.into(), course: Some(course), ..plan.clone() };
    let of_agents = apart.to_toml();
    assert_eq!(Plan::stored("plan.toml", &of_agents), Ok(apart), "{of_agents}");
    assert!(Plan::is_in(&text) && !Plan::is_in("verb = \"pingpong\""));
    let damaged = Plan::stored("plan.toml", &text.replace("seed = 7", "seed = \"x\"")).unwrap_err();
    assert!(damaged.to_string().starts_with("plan.toml: line 3: "), "{damaged}");
}

#[test]
fn a_time_beyond_the_longest_is_refused_with_its_line() {
    let with = |name: &str, time_ns| {
        let course = Course { name: name.to_owned(), time_ns, ..Course::default() };
        Plan { course: Some(course), ..plan() }.to_toml()
    };
    let probed = |probe| {
        let cell = Cell { probe: Some(probe), ..Cell::default() };
        Plan { cells: vec![cell], ..plan() }.to_toml()
    };
    let (hour, more) = (Nanos::from_secs(3600), Nanos::from_secs(3601));
    let search = |time_ns| {
        let (datagram_bytes, adjustment) = (Bytes::new(1222), Adjustment::C);
        probed(Probe::Capacity { time_ns, datagram_bytes, adjustment })
    };
    let trips = |interval_ns, intervals| probed(Probe::Responsiveness { interval_ns, intervals });
    for text in [with("rfc9097", hour), with(QOS, LONGEST_LOAD), search(hour), trips(hour, 1000)] {
        Plan::stored("plan.toml", &text).unwrap();
    }
    for (text, reason) in [
        (with("rfc9097", more), "3601000000000: write 0 to 3600000000000"),
        (with(QOS, hour), "course.time_ns: 3600000000000: write 0 to 720000000000"),
        (search(more), ": write 0 to 3600000000000"),
        (trips(more, 1), ": write 0 to 3600000000000"),
        (trips(hour, 1001), "1001: write 0 to 1000"),
    ] {
        let refused = Plan::stored("plan.toml", &text).unwrap_err().to_string();
        assert!(refused.starts_with("plan.toml: "), "{refused}");
        assert!(refused.contains(reason), "{refused}");
    }
}

#[test]
fn passes_beyond_what_an_option_takes_are_refused_with_their_place() {
    let own = |passes| Cell { id: 9, passes: Some(passes), ..Cell::default() };
    let with = |passes, own| Plan { passes, cells: vec![own], ..plan() }.to_toml();
    for legal in [with(1, own(1000)), with(1000, own(1))] {
        Plan::stored("plan.toml", &legal).unwrap();
    }
    for (text, reason) in [
        (with(0, own(1)), "passes: 0: write 1 to 1000"),
        (with(u32::MAX, own(1)), "passes: 4294967295: write 1 to 1000"),
        (with(1, own(1001)), "passes of cell 9: 1001: write 1 to 1000"),
        (with(1, own(0)), "passes of cell 9: 0: write 1 to 1000"),
    ] {
        let refused = Plan::stored("plan.toml", &text).unwrap_err();
        assert_eq!(refused.to_string(), format!("plan.toml: {reason}"));
    }
}

#[test]
fn every_pass_has_every_cell_in_an_order_of_its_own() {
    let plan = plan();
    let runs = plan.runs();
    assert_eq!(runs.len(), 7 * 3 + 1);
    let order =
        |pass| runs.iter().filter(|(p, _)| *p == pass).map(|(_, c)| c.id).collect::<Vec<_>>();
    assert_ne!(order(2), order(3));
    assert!(order(1).contains(&3) && !order(2).contains(&3));
    assert_eq!(plan.runs(), runs);
    let scenario = Plan { study: Study::Scenario, ..plan };
    assert!(scenario.runs()[..8].iter().map(|(_, cell)| cell.id).eq(1..=8));
}
