//! Plans as options and files give them.

use super::*;
use crate::pingpong::configuration::Wait;
use crate::pingpong::configuration::Writes;
use crate::pingpong::sizes::Step;

fn plan() -> Plan {
    let two = Configuration {
        writes: Writes::HeaderFirst(Bytes::new(16)),
        nodelay: Some(false),
        wait: Wait::BusyPoll,
        max_segment_bytes: Some(Bytes::new(1460)),
        ..Configuration::new("tcp")
    };
    let search = ChasmSearch { time_ns: Nanos::from_secs(9), resolution_bytes: Bytes::new(4) };
    Plan { chasms: Some(search), ..Plan::new(vec![Configuration::new("udp"), two], 7) }
}

#[test]
fn a_plan_comes_back_from_its_text() {
    let sizes = Sizes::new(Bytes::new(9), Bytes::new(99), Bytes::ZERO, Step::Every(Bytes::new(5)));
    let listed = SizeChoice::Listed(vec![Bytes::new(8), Bytes::new(1400)]);
    for sizes in [SizeChoice::Grid(sizes.unwrap()), SizeChoice::Grid(Sizes::default()), listed] {
        let plan = Plan { sizes, near_cpus: Some("0-1".into()), ..plan() };
        let text = plan.to_toml();
        assert_eq!(Plan::stored("plan.toml", &text).as_ref(), Ok(&plan), "{text}");
        assert!(Plan::is_in(&text));
    }
    assert!(!Plan::is_in("edition = \"btu-26\""));
}

/// Plans were stored before there was a choice.
#[test]
fn a_plan_without_an_order_is_one_of_random_order() {
    let rising = Plan { order: Order::Rising, ..plan() };
    let text = rising.to_toml();
    assert_eq!(Plan::stored("plan.toml", &text).as_ref(), Ok(&rising), "{text}");
    let without =
        text.replace("order = \"rising\"\n", "").replace("block_time_ns = 1000000000\n", "");
    assert_eq!(without.lines().count() + 2, text.lines().count());
    assert_eq!(Plan::stored("plan.toml", &without), Ok(plan()));
}

#[test]
fn a_damaged_plan_names_the_line() {
    let text = plan().to_toml().replace("rounds = 10", "rounds = \"ten\"");
    let error = Plan::stored("plan.toml", &text).unwrap_err().to_string();
    assert!(error.starts_with("plan.toml: line 4: ") && error.contains("ten"), "{error}");
}

#[test]
fn what_no_option_could_have_asked_for_is_refused_with_its_place() {
    let listed = |size| SizeChoice::Listed(vec![Bytes::new(8), Bytes::new(size)]);
    for (plan, reason) in [
        (Plan { rounds: 0, ..plan() }, "rounds: 0: write 1 to 1000"),
        (Plan { rounds: 1001, ..plan() }, "rounds: 1001: write 1 to 1000"),
        (Plan { connections: 0, ..plan() }, "connections: 0: write 1 to 1000"),
        (Plan { sizes: listed(0), ..plan() }, "sizes.listed: 0: the smallest block is 1 byte"),
    ] {
        let refused = Plan::stored("plan.toml", &plan.to_toml()).unwrap_err();
        assert_eq!(refused.to_string(), format!("plan.toml: {reason}"));
    }
    let most = Plan { rounds: 1000, connections: 1000, sizes: listed(1), ..plan() };
    assert_eq!(Plan::stored("plan.toml", &most.to_toml()), Ok(most));
}

#[test]
fn a_curve_takes_its_share_of_time_for_the_sizes_that_it_carries() {
    let plan = plan();
    let [tcp, udp] = [ConfigurationId(1), ConfigurationId(2)];
    let sweep =
        plan.sweep(&[(tcp, Bytes::new(1 << 30)), (udp, Bytes::new(65_507))], Nanos::new(30));
    assert_eq!(sweep.budget, POINT_TIME * (124 + 79));
    let one = Plan { chasms: None, configurations: vec![Configuration::new("tcp")], ..plan };
    assert_eq!(one.estimate(), (POINT_TIME * 124, Nanos::ZERO));
}

/// What comes before, between and after the visits takes about half a second.
#[test]
fn p11_the_default_with_its_reference_leaves_a_second_of_31() {
    let plan = Plan { reference: true, ..Plan::new(vec![Configuration::new("tcp")], 1) };
    assert!(plan.estimate().0 <= Nanos::from_secs(30), "{:?}", plan.estimate());
}

#[test]
fn the_reference_has_the_buffers_of_the_first_configuration() {
    let mut plan = Plan { reference: true, ..plan() };
    plan.configurations[0].send_offset_bytes = Bytes::new(1);
    let (id, reference) = plan.numbered().pop().unwrap();
    assert_eq!((id, reference.transport.as_str()), (ConfigurationId(3), REFERENCE));
    assert_eq!(reference.send_offset_bytes, Bytes::new(1));
}
