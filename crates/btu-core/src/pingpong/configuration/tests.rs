//! What a configuration may be, and how two of them differ.

use super::*;

#[test]
fn only_a_ping_pong_is_halved() {
    let times = [Mode::PingPong, Mode::Streaming, Mode::Bidirectional]
        .map(|mode| mode.time_us(40_000.0, 2));
    assert!(times.iter().zip([10.0, 20.0, 20.0]).all(|(a, b)| (a - b).abs() < 1e-12));
}

/// 1000 B in 10 us: 8000 bit in 1e-5 s; a bidirectional exchange moves twice as much.
#[test]
fn a_rate_counts_what_both_ends_received() {
    let rate = |mode: Mode| mode.rate_mbps(Bytes::new(1000), 10.0);
    assert!((rate(Mode::PingPong) - 800.0).abs() < 1e-9);
    assert!((rate(Mode::Bidirectional) - 1600.0).abs() < 1e-9);
}

#[test]
fn a_configuration_that_comes_again_is_numbered() {
    let tcp = || Configuration::new("tcp");
    let found = labels(&[tcp(), tcp(), Configuration::new("unix"), tcp()]);
    assert_eq!(found, ["tcp", "tcp (2)", "unix", "tcp (3)"]);
}

#[test]
fn differences_name_the_setting_and_both_values() {
    let tcp = Configuration::new("tcp");
    let other = Configuration { wait: Wait::Spin, nodelay: None, ..Configuration::new("tcp") };
    let found = tcp.differences(&other);
    assert_eq!(found, ["wait block against spin", "TCP_NODELAY true against as the system has it"]);
    assert!(tcp.differences(&tcp).is_empty());
}

/// A socket of one host has no segments, memory no buffers of a socket; neither passes a link.
#[test]
fn a_setting_that_a_transport_lacks_is_named_left_out_and_not_reported_as_set() {
    use Setting::*;
    let asked = |transport: &str, lacks: &[Setting]| Configuration {
        nodelay: Some(false),
        quick_ack: Some(true),
        send_buffer_bytes: Some(Bytes::new(4_096)),
        max_segment_bytes: Some(Bytes::new(536)),
        mtu_bytes: Some(Bytes::new(1_280)),
        nature: Nature { lacks: lacks.to_vec(), ..Nature::default() },
        ..Configuration::new(transport)
    };
    let of_unix = [MaxSegment, Mtu, Nodelay, Offload, QuickAck];
    assert_eq!(asked("tcp", &[]).not_applicable(), []);
    assert_eq!(asked("uring", &[QuickAck]).not_applicable(), [QuickAck]);
    let unix = asked("unix", &of_unix);
    assert_eq!(unix.not_applicable(), [Nodelay, QuickAck, MaxSegment, Mtu], "no offload was asked");
    assert_eq!(asked("tcp", &[]).applicable(), asked("tcp", &[]));
    let shm = asked("shm", &Setting::ALL).applicable();
    assert_eq!(
        Configuration { nature: Nature::default(), ..shm.clone() },
        Configuration::new("shm")
    );
    let of = |configuration: &Configuration, name: &str| {
        configuration.settings().into_iter().find(|(known, _)| *known == name).unwrap().1
    };
    let unix = unix.applicable();
    assert_eq!(of(&unix, "TCP_NODELAY"), "not applicable");
    assert_eq!(of(&unix, "SO_SNDBUF"), "4KiB");
    assert_eq!(of(&asked("tcp", &[]), "TCP_NODELAY"), "false");
    let names = labels(&[Configuration::new("tcp"), unix.clone(), shm]);
    assert_eq!(names[0], "tcp SO_SNDBUF as the system has it");
    assert_eq!(names[2], "shm");
    let differing = asked("tcp", &[]).differences(&unix).join("; ");
    assert_eq!(differing, "transport tcp against unix");
}

/// Each is the name of a setting: one that was written otherwise would silently be none.
#[test]
fn every_setting_that_can_be_lacking_is_one_of_a_configuration() {
    let known = Configuration::new("tcp").settings();
    for setting in Setting::ALL {
        assert!(known.iter().any(|(name, _)| *name == setting.name()), "{setting}");
    }
}

#[test]
fn a_check_of_contents_names_what_it_would_leave_out() {
    let tcp = Configuration::new("tcp");
    let two = Configuration {
        mode: Mode::Streaming,
        writes: Writes::HeaderFirst(Bytes::new(16)),
        ..tcp.clone()
    };
    assert_eq!(two.left_out_by_verify(), None);
    assert_eq!(Configuration { verify: true, ..tcp }.left_out_by_verify(), None);
    let left = Configuration { verify: true, ..two }.left_out_by_verify();
    assert_eq!(left.as_deref(), Some("mode streaming and header 16B"));
}

#[test]
fn a_configuration_comes_back_from_its_line() {
    let two = Configuration {
        writes: Writes::HeaderFirst(Bytes::new(16)),
        wait: Wait::BusyPoll,
        ..Configuration::new("tcp")
    };
    let line = serde_json::to_string(&two).unwrap();
    assert!(!line.contains("nature"), "{line}");
    let memory = Configuration { nature: Nature::of_copies(), ..two.clone() };
    let again = serde_json::to_string(&memory).unwrap();
    assert_eq!(serde_json::from_str::<Configuration>(&again).unwrap(), memory);
    assert!(line.contains("\"wait\":\"busy-poll\"") && line.contains("\"header-first\":16"));
    assert_eq!(serde_json::from_str::<Configuration>(&line).unwrap(), two);
}
