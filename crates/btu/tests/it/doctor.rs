//! `btu doctor` on this machine, and on one that was made poor.

use btu_sys::namespace;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;
use btu_sys::xdp;
use btu_sys::xdp::XdpSocket;
use serde_json::Value;

use crate::link::users;
use crate::link::users::User;
use crate::link::users::btu;
use crate::link::users::expect_status;
use crate::link::users::text;

fn document(user: User) -> Value {
    let output = btu(user).args(["doctor", "--json"]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

#[test]
fn every_line_that_is_not_well_has_a_cause_and_a_remedy() {
    for user in users::users() {
        let document = document(user);
        let checks = document["checks"].as_array().unwrap();
        assert!(checks.len() > 20, "{document}");
        for check in checks {
            let well = check["status"] == "ok";
            assert_eq!(check["cause"].is_null(), well, "{check}");
            assert_eq!(check["remedy"].is_null(), well, "{check}");
        }
    }
}

#[test]
fn a_machine_with_namespaces_calibrates_a_link() {
    if let Some(reason) = users::no_namespaces() {
        skip!("no user namespaces: {reason}");
    }
    for user in users::users() {
        let document = document(user);
        assert_eq!(document["able"], true, "{document:#}");
        let calibration = &document["calibration"];
        assert_eq!(calibration["counted"][0], 10_000, "{calibration}");
        assert_eq!(calibration["counted"][2], 98, "{calibration}");
        if calibration["unasked_loss"] == 0 {
            assert_eq!(calibration["counted"][1], 98, "{calibration}");
        }
        assert!(calibration["bulk_bit_s"].as_u64().is_some_and(|rate| rate > 1_000_000));
        assert!(document["arrival"]["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20));
    }
}

#[test]
fn a_machine_that_forbids_user_namespaces_is_told_so_with_the_remedy() {
    let mut command = users::without_user_namespaces(&["doctor"]);
    let output = command.output().unwrap();
    if text(&output.stderr).contains("unshare:") {
        skip!("no user namespaces: {}", text(&output.stderr).trim());
    }
    let output = expect_status(&mut command, 3);
    let shown = text(&output.stdout);
    assert!(shown.ends_with("do not work on this machine; remedies above\n"), "{shown}");
    let told = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("MISSING user and network namespaces"), "{told}");
    assert!(told.contains("forbidden by user.max_user_namespaces=0"), "{told}");
    assert!(told.contains("sysctl user.max_user_namespaces=15000"), "{told}");
    let refused = expect_status(&mut users::without_user_namespaces(&["link", "--", "true"]), 3);
    let told = text(&refused.stderr);
    assert!(told.contains("forbidden by user.max_user_namespaces=0"), "{told}");
    assert!(told.contains("hint: as root: sysctl user.max_user_namespaces=15000"), "{told}");
}

/// Check P10, its last part: a program on a link of this network, held by a process that is not the doctor.
#[test]
fn p10_a_real_program_on_a_link_is_named_with_what_to_do() {
    if let Err(refusal) = xdp::permitted() {
        let kind = if namespace::is_privileged() { "kernel lacks" } else { "not root" };
        skip!("{kind}: {refusal}");
    }
    let network = NetNs::create().unwrap();
    let mut netlink = Netlink::open(&network).unwrap();
    let link = netlink.link("lo").unwrap().index;
    netlink.set_up(link).unwrap();
    let hold = || {
        let mut socket = XdpSocket::open(link, 0x88b5).unwrap();
        socket.attach().unwrap();
        socket
    };
    let socket = network.inside(hold).unwrap();
    let ask = || crate::program::btu().args(["doctor", "--json"]).output().unwrap();
    let output = network.inside(ask).unwrap();
    drop(socket);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = document["checks"].as_array().unwrap();
    let told = checks.iter().find(|check| check["name"] == "xdp-programs").unwrap();
    let found = told["found"].as_str().unwrap();
    assert!(found.starts_with(&format!("lo: {} (number ", xdp::PROGRAM_NAME)), "{told}");
    assert_eq!(told["status"], "limited", "{told}");
    assert!(told["remedy"].as_str().unwrap().contains("bpftool link detach"), "{told}");
}
