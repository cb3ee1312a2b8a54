//! The policy of an agent: every limit at its value, beyond it, at nothing and at absurd values.

use btu_control::Identity;
use btu_control::message::LinkOrder;
use btu_control::message::Reservation;
use btu_control::message::Which;
use btu_control::policy::Policy;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::agents::preparation;

fn policy(text: &str) -> Policy {
    Policy::parse("policy.toml", text).unwrap()
}

fn reservation(longest_s: u64, flows: u32, activities: &[&str]) -> Reservation {
    Reservation {
        plan: String::new(),
        longest_run_ns: Nanos::from_secs(longest_s),
        silence_ns: Nanos::ZERO,
        flows,
        activities: activities.iter().map(|name| (*name).to_owned()).collect(),
        emulation: false,
    }
}

#[test]
fn each_limit_holds_at_its_value_and_not_beyond() {
    let text = "[[class]]\nmax_run = \"20s\"\nmax_flows = 2\nactivities = []\nemulation = false\n\
                max_bytes_per_day = \"1MB\"\n";
    let policy = policy(text);
    let grant = &policy.classes[0];
    for (longest_s, flows, allowed) in
        [(20, 2, true), (0, 0, true), (21, 2, false), (20, 3, false), (u64::MAX >> 31, 2, false)]
    {
        let refused = grant.refuses(&reservation(longest_s, flows, &[]));
        assert_eq!(refused.is_none(), allowed, "{longest_s} {flows}: {refused:?}");
    }
    let ftp = grant.refuses(&reservation(1, 1, &["ftp"])).unwrap();
    assert_eq!(ftp, "policy: the activity ftp is not allowed here");
    let order = preparation(Which::default());
    assert_eq!(grant.refuses_run(&order, Bytes::new(999_999)), None);
    let spent = grant.refuses_run(&order, Bytes::new(1_000_000)).unwrap();
    assert!(spent.contains("max_bytes_per_day"), "{spent}");
    let link = Some(LinkOrder { up: Vec::new(), down: Vec::new(), seed: 1 });
    let emulated = btu_control::message::Preparation { link, ..order.clone() };
    assert!(grant.refuses_run(&emulated, Bytes::ZERO).unwrap().contains("emulation"));
    let long = btu_control::message::Preparation { lease_ns: Nanos::from_secs(21), ..order };
    assert!(grant.refuses_run(&long, Bytes::ZERO).unwrap().contains("max_run = 20s"));
}

#[test]
fn a_class_wants_both_the_identity_and_the_network() {
    let [own, other] = [(), ()].map(|()| Identity::ephemeral().unwrap().id());
    let text = format!(
        "[[class]]\npeers = [\"id:{own}\", \"10.0.4.0/24\", \"fd00::/8\"]\nmax_flows = 1\n\
         [[class]]\npeers = [\"127.0.0.1\"]\nmax_flows = 2\n"
    );
    let policy = policy(&text);
    let flows = |peer, from: &str| policy.grant(peer, from.parse().unwrap()).map(|g| g.max_flows);
    assert_eq!(flows(own, "10.0.4.255"), Some(1));
    assert_eq!(flows(own, "::ffff:10.0.4.9"), Some(1));
    assert_eq!(flows(own, "fd00::7"), Some(1));
    assert_eq!(flows(own, "10.0.5.1"), None);
    assert_eq!(flows(other, "10.0.4.9"), None);
    assert_eq!(flows(other, "127.0.0.1"), Some(2));
    assert_eq!(
        Policy::default().grant(other, "192.0.2.1".parse().unwrap()).map(|g| g.max_flows),
        Some(64)
    );
}

#[test]
fn what_is_not_legal_is_named_with_what_is() {
    let cases = [
        ("lissen = []", "policy.toml:1:1: unknown field `lissen`"),
        ("[[class]]\nmax_rum = \"1s\"", "policy.toml:2:1: unknown field `max_rum`"),
        ("[[class]]\nmax_run = \"1\"", "max_run = \"1\": \"1\" has no unit"),
        ("shared = 0", "shared = 0: write a number from 1 to 64"),
        ("listen = [\"lab\"]", "listen = \"lab\": write an address and a port"),
        ("[[class]]\npeers = [\"lab\"]", "peers = \"lab\": write id:"),
        ("[[class]]\npeers = [\"10.0.0.0/33\"]", "peers = \"10.0.0.0/33\": write id:"),
        ("[[class]]\ndata_ports = [80, 90]", "data_ports = [80, 90]: write [first, last]"),
        ("[[class]]\ndata_ports = [9000, 8000]", "data_ports = [9000, 8000]: write"),
        ("[front]\ndevice = \"eth0\"\naddress = \"x\"", "front.address = \"x\": write 10.0.4.8/24"),
    ];
    for (text, message) in cases {
        let error = Policy::parse("policy.toml", text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}
