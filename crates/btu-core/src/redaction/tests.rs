//! What names a person, a place or a machine goes, and nothing else.

use super::*;

fn disclosure() -> Disclosure {
    let mut disclosure = Disclosure::default();
    let host = disclosure.hosts.entry("test".to_owned()).or_default();
    let facts = [
        ("host_name", "lab7"),
        ("product_serial", "S3C-12"),
        ("boot_command_line", "root=UUID=0a1b2c3d-0001-0002-0003-0a1b2c3d4e5f ip=192.0.2.7 quiet"),
        ("kernel_build", "Linux version 6.18 (builder@forge) on lab7"),
        ("kernel", "6.18.44"),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), Fact::known(value)));
    host.insert("system".to_owned(), facts.into());
    disclosure.marks = vec!["SPECint=76.9@spec.org".to_owned()];
    disclosure
}

#[test]
fn names_addresses_serials_and_ids_are_gone_and_figures_stay() {
    let mut redactor = Redactor::new([7; 32], &disclosure());
    let found = serde_json::to_string(&redactor.disclosure(disclosure())).unwrap();
    for secret in ["lab7", "S3C-12", "0a1b2c3d-0001", "192.0.2.7", "builder@forge"] {
        assert!(!found.contains(secret), "{secret}: {found}");
    }
    for kept in ["6.18.44", "quiet", "SPECint=76.9@spec.org", "root=UUID=uuid-"] {
        assert!(found.contains(kept), "{kept}: {found}");
    }
    assert_eq!(
        redactor.told(),
        ["1 account", "1 address", "1 host name", "1 serial number", "1 unique id"]
    );
}

#[test]
fn a_second_time_nothing_changes_and_the_same_thing_has_the_same_alias() {
    let once = Redactor::new([7; 32], &disclosure()).disclosure(disclosure());
    let mut again = Redactor::new([8; 32], &once);
    assert_eq!(again.disclosure(once.clone()), once);
    assert!(again.told().is_empty());
    let same = Redactor::new([7; 32], &disclosure()).disclosure(disclosure());
    let other = Redactor::new([9; 32], &disclosure()).disclosure(disclosure());
    assert!(same == once && other != once);
}

#[test]
fn a_line_without_names_stays_as_it_is() {
    let mut redactor = Redactor::new([7; 32], &disclosure());
    assert_eq!(
        redactor.line(r#"{"role":"lab7","bytes":12.50,"at":"2026-11-22T01:33:27.719Z"}"#),
        None
    );
    let told = r#"{"detail":"lab7: connect 192.0.2.7:80","bytes":12}"#;
    let changed = redactor.line(told).unwrap();
    assert!(changed.contains(r#""bytes":12"#) && !changed.contains("192.0.2.7"), "{changed}");
    assert!(changed.contains("host-") && changed.contains(":80"), "{changed}");
}

#[test]
fn what_people_named_is_gone_wherever_it_stands() {
    let mut disclosure = disclosure();
    let work = "/srv/anna/My Work/io";
    disclosure.placement.insert("io_directory".to_owned(), Fact::known(work));
    let mounts = serde_json::json!([
        "/dev/vda / ext4 rw",
        r"/dev/sdb /mnt/Anna\040Backup ext4 rw,data=ordered",
        "/dev/mapper/luks-home-anna /srv/anna xfs rw",
        "filer:/export/anna /data nfs4 rw",
        "/dev/vda /run/netns ext4 rw",
    ]);
    let disk = disclosure.hosts.entry("test".to_owned()).or_default().entry("disk".to_owned());
    disk.or_default().insert("mounts".to_owned(), Fact::known(mounts));
    let mut redactor = Redactor::new([7; 32], &disclosure);
    let redacted = redactor.disclosure(disclosure);
    let mut found = serde_json::to_string(&redacted).unwrap();
    for line in [
        serde_json::json!({ "detail": format!("io: write {work}/btu-1 stopped") }),
        serde_json::json!({ "detail": "lab7", "reason": "lab7", "failures": ["lab7"] }),
        serde_json::json!({ "detail": "open /mnt/Anna Backup/x: full", "directory": "../anna" }),
    ] {
        found += &redactor.line(&line.to_string()).unwrap();
    }
    for secret in ["anna", "Anna", "My Work", "Backup", "filer", "lab7"] {
        assert!(!found.contains(secret), "{secret}: {found}");
    }
    for kept in [
        "/dev/vda / ext4",
        " /data nfs4",
        "/run/netns",
        "/dev/mapper/luks-home-volume-",
        "/btu-1 stopped",
    ] {
        assert!(found.contains(kept), "{kept}: {found}");
    }
    let mut again = Redactor::new([8; 32], &redacted);
    assert_eq!(again.disclosure(redacted.clone()), redacted);
    assert!(again.told().is_empty(), "{:?}", again.told());
}

/// What everyday hosts disclose: LVM and LUKS volumes, USB adapters, agents by name.
fn lab() -> Disclosure {
    let mut disclosure = disclosure();
    let facts = |facts: &[(&str, &str)]| {
        facts.iter().map(|(name, value)| ((*name).to_owned(), Fact::known(*value))).collect()
    };
    let active = disclosure.hosts.entry("active".to_owned()).or_default();
    active.insert("system".to_owned(), facts(&[("host_name", "box9.example.org")]));
    active.insert(
        "agent".to_owned(),
        facts(&[("address", "lab1.example.org:7411"), ("identity", "abcd-lab7-2345")]),
    );
    active.insert("tool".to_owned(), facts(&[("target", "x86_64-lab7-linux")]));
    active.insert(
        "disk".to_owned(),
        facts(&[
            ("mounts", "/dev/mapper/lab7--vg-root / ext4 rw"),
            ("boot", "root=/dev/mapper/luks-0a1b2c3d-0001-0002-0003-0a1b2c3d4e5f"),
        ]),
    );
    active.insert(
        "nic".to_owned(),
        facts(&[
            ("enx001b44113ab7.mtu", "1500"),
            ("devices", "enx001b44113ab7"),
            ("boot", "BOOTIF=01-00-1b-44-11-3a-b7 ifname=eth0:00:1b:44:11:3a:b7"),
        ]),
    );
    disclosure.placement = facts(&[
        ("agent_active", "LAB1"),
        ("agent_test", "active"),
        ("policy_active", "max_rate in the policy of agent lab1: 1 Mbit/s per connection"),
        ("volume", "vg_box9-swap"),
    ]);
    disclosure
}

#[test]
fn no_name_stays_within_a_word_a_key_or_another_form_of_it() {
    let mut redactor = Redactor::new([7; 32], &lab()).knowing(["bench-2"]);
    let mut found = serde_json::to_string(&redactor.disclosure(lab())).unwrap();
    for told in [
        "agent lab1.example.org wants data at 2001:db8::7: nothing is sent, see 2001:db8::/64",
        "the last time it was 192.0.2.7. Then box9 and lab8.example.org and bench-2 were lost",
    ] {
        let line = serde_json::json!({ "detail": told }).to_string();
        found += &redactor.line(&line).unwrap();
    }
    for secret in [
        "lab1",
        "LAB1",
        "box9",
        "lab8",
        "bench-2",
        "example.org",
        "lab7--vg",
        "001b44",
        "00-1b",
        "00:1b",
        "2001:db8",
        "192.0.2",
        "0a1b2c3d-0001",
    ] {
        assert!(!found.contains(secret), "{secret}: {found}");
    }
    for kept in [
        "--vg-root / ext4",
        "/dev/mapper/luks-uuid-",
        "BOOTIF=01-mac-",
        "/64",
        ":7411",
        r#""agent_test":{"value":"active"}"#,
        "x86_64-lab7-linux",
        "abcd-lab7-2345",
    ] {
        assert!(found.contains(kept), "{kept}: {found}");
    }
    // The hardware address stands there in three forms.
    assert!(redactor.told().contains(&"1 hardware address".to_owned()), "{:?}", redactor.told());
}

#[test]
fn a_name_has_its_alias_in_facts_sentences_and_plans() {
    let mut redactor = Redactor::new([7; 32], &lab());
    let alias = redactor.agent("lab1");
    let disclosed = redactor.disclosure(lab());
    assert_eq!(disclosed.placement["agent_active"], Fact::known(alias.as_str()));
    let told = redactor.line(r#"{"detail":"agent lab1: gone"}"#).unwrap();
    assert!(told.contains(&format!("agent {alias}: gone")), "{told}");
    let address = disclosed.hosts["active"]["agent"]["address"].clone();
    let full = redactor.agent("lab1.example.org");
    assert_eq!(address, Fact::known(format!("{full}:7411")));
    // Where nothing but the option says that it is a name.
    let short = redactor.agent("x:7411");
    assert!(short.starts_with("host-") && short.ends_with(":7411"), "{short}");
    for nobody in ["passive", "localhost:7411", "127.0.0.1:7411", &alias, &short] {
        assert_eq!(redactor.agent(nobody), nobody);
    }
}

#[test]
fn what_was_redacted_within_words_is_not_redacted_again() {
    let once = Redactor::new([7; 32], &lab()).disclosure(lab());
    let mut again = Redactor::new([8; 32], &once);
    assert_eq!(again.disclosure(once.clone()), once);
    assert!(again.told().is_empty(), "{:?}", again.told());
}

/// People write into the files of other tools what they like.
#[test]
fn of_an_imported_file_its_points_stay() {
    let comment = "# on lab9.corp.example by anna\n# between lab9 and lab10\n";
    let osu = include_str!("../../testdata/pingpong/osu-latency-7.txt");
    let rdma = include_str!("../../testdata/pingpong/perftest-send.txt");
    for text in [format!("{comment}{osu}"), format!("{rdma}{comment}")] {
        let file = "/srv/anna-secret/osu.txt".to_owned();
        let before = import::import("a", &text).unwrap();
        let line = serde_json::to_string(&Line::PingPongFile { file, text }).unwrap();
        let mut redactor = Redactor::new([7; 32], &lab());
        let once = redactor.line(&line).unwrap();
        for name in ["lab9", "lab10", "anna", "secret", "srv"] {
            assert!(!once.contains(name), "{once}");
        }
        let Line::PingPongFile { text, .. } = serde_json::from_str(&once).unwrap() else {
            panic!()
        };
        assert_eq!(import::import("a", &text).unwrap(), before);
        let told = ["1 path", "comments of 1 imported file"].map(str::to_owned);
        assert_eq!(redactor.told(), told);
        assert_eq!(Redactor::new([8; 32], &lab()).line(&once), None);
    }
}

/// What cannot be read any more, as after a later version of the program, may be anything.
#[test]
fn of_an_imported_file_that_says_nothing_nothing_stays_and_that_is_told() {
    let (file, text) = ("a".to_owned(), "by anna\n".to_owned());
    let line = serde_json::to_string(&Line::PingPongFile { file, text }).unwrap();
    let mut redactor = Redactor::new([7; 32], &lab());
    assert!(!redactor.line(&line).unwrap().contains("anna"));
    let told = "all of 1 imported file: what points need of it could not be found out";
    assert_eq!(redactor.told(), [told]);
}

proptest::proptest! {
    /// Whatever stands beside what: pieces of one alias and its surroundings make nothing new.
    #[test]
    fn a_text_is_redacted_once(
        parts in proptest::collection::vec(0_usize..29, 0..12),
        between in proptest::sample::select(vec!["", " ", "-", ":", "/", "=", ".", "--"]),
    ) {
        let known = [
            "lab7", "box9.example.org", "lab8.example.org", "192.0.2.7", "2001:db8::7", "luks", "by-id",
            "uuid", "uuid=1234-ABCD", "00:1b:44:11:3a:b7", "01", "enx001b44113ab7", "/home/anna",
            "anna@forge", "0a1b2c3d-0001-0002-0003-0a1b2c3d4e5f", "3600508b400105e2100009000004900f",
            "7411", "ab", "@", "::", "~anna/x", "/dev/mapper/luks", "home-anna", "eui.0025385b71b01234",
            "0x5000c500a1b2c3d4", "iqn.2001-04.com.x:y", "btmac=001b44113ab7", "0002:c903:00a1:b2c3", "a/b",
        ];
        let text: Vec<&str> = parts.iter().map(|part| known[*part]).collect();
        let mut redactor = Redactor::new([7; 32], &lab());
        let once = redactor.words(&text.join(between));
        proptest::prop_assert_eq!(redactor.words(&once), once);
    }
}

/// What an error says of a file is a word like any other; elsewhere such words stay.
#[test]
fn a_server_of_others_loses_its_name_its_user_and_its_paths() {
    let target: Target = "ftp://alice@nas.example.org:2121/pub/get".parse().unwrap();
    let names = [target.host.as_str()];
    let redactor = Redactor::new([7; 32], &Disclosure::default()).knowing(names);
    let mut redactor = redactor.knowing_operands(target.directories.clone());
    let told = redactor.target(&target).to_string();
    for word in ["alice", "nas", "example", "/pub", "get"] {
        assert!(!told.contains(word), "{word} in {told}");
    }
    assert!(told.starts_with("ftp://account-") && told.contains(":2121/path-"), "{told}");
    assert_eq!(redactor.target(&told.parse().unwrap()).to_string(), told);
    let line =
        r#"{"operation":"get","failure":"ftp CWD get: the server nas.example.org answers 550"}"#;
    let after = redactor.line(line).unwrap();
    assert!(after.contains(r#""operation":"get""#) && after.contains("CWD path-"), "{after}");
    assert!(!after.contains("nas"), "{after}");
}
