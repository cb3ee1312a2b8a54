//! Links inside links.

use super::counted::fastest;
use super::need_namespaces;
use super::users;
use super::users::User;
use super::users::btu;
use super::users::expect_status;
use super::users::link;
use super::users::text;

/// Three links, one inside the other, each with these options, around a ping to the outermost end.
fn three_deep(user: User, options: &[&str]) -> f64 {
    let program = btu(user).get_program().to_os_string();
    let mut command = btu(user);
    for depth in 0..3 {
        if depth > 0 {
            command.arg(&program);
        }
        command.arg("link").args(options).arg("--");
    }
    command.args(["sh", "-c", "ping -c 20 -i 0.01 $BTU_LINK_FAR; echo depth $BTU_LINK_DEPTH"]);
    let output = text(&expect_status(&mut command, 0).stdout);
    assert!(output.contains("depth 3"), "{output}");
    assert!(output.contains("PING 198.19.201.1"), "the outermost far end is meant: {output}");
    fastest(&output)
}

/// Check E13.
#[test]
fn three_delays_of_ten_milliseconds_add_up_to_sixty() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    for user in users::users() {
        let delayed = three_deep(user, &["--quiet", "--delay", "10ms"]);
        // Delay is never undercut. Above, only gross errors count on a busy machine.
        assert!((60.0..120.0).contains(&delayed), "{delayed} ms in all");
        let floor = three_deep(user, &["--quiet"]);
        assert!(floor < 60.0, "{floor} ms without a delay");
    }
}

#[test]
fn ipv6_crosses_all_levels_and_is_counted_like_ipv4() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    if !std::path::Path::new("/proc/net/if_inet6").exists() {
        skip!("kernel lacks: IPv6");
    }
    for user in users::users() {
        let program = btu(user).get_program().to_os_string();
        let mut command = btu(user);
        command.args(["link", "--json", "--drop", "1@2/4", "--"]).arg(program);
        let script = "ping -n -c 8 -i 0.01 -W 1 $BTU_LINK_FAR6 >&2; true";
        command.args(["link", "--quiet", "--", "sh", "-c", script]);
        let output = expect_status(&mut command, 0);
        let said = text(&output.stderr);
        assert!(said.contains("PING 2001:2:0:1::1"), "the outermost far end is meant: {said}");
        let stats: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        // Of eight questions the 2nd and the 6th are dropped, and of the six answers likewise.
        assert_eq!((&stats["up"]["packets"], &stats["up"]["dropped"]), (&8.into(), &2.into()));
        assert_eq!((&stats["down"]["packets"], &stats["down"]["dropped"]), (&6.into(), &2.into()));
    }
}

/// IPv6 wants packets of 1280 bytes (RFC 8200, 5): a smaller link has IPv4 alone, whatever is in or around it.
#[test]
fn a_link_too_small_for_ipv6_carries_ipv4_at_every_depth() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    let script = "ping -n -q -c 1 -W 1 $BTU_LINK_FAR >&2 && echo ${BTU_LINK_FAR6:-none}";
    for user in users::users() {
        let small = ["--quiet", "--mtu", "576"];
        let output = expect_status(&mut link(user, &small, script), 0);
        assert_eq!(text(&output.stdout), "none\n");
        let program = btu(user).get_program().to_os_string();
        let mut command = btu(user);
        command.args(["link", "--quiet", "--"]).arg(&program).arg("link").args(small);
        command.args(["--", "sh", "-c", "echo ${BTU_LINK_FAR6:-none}"]);
        let output = expect_status(&mut command, 0);
        assert_eq!(text(&output.stdout), "none\n", "that of the link around is out of reach");
        let mut command = btu(user);
        command.args(["link", "--quiet", "--mtu", "1279", "--"]).arg(&program);
        command.args(["link", "--quiet", "--"]).arg(&program);
        command.args([
            "link",
            "--quiet",
            "--",
            "sh",
            "-c",
            "ping -n -q -c 1 -W 1 $BTU_LINK_FAR >&2",
        ]);
        expect_status(&mut command, 0);
    }
}

#[test]
fn a_second_link_of_one_level_is_refused_with_the_reason() {
    need_namespaces!();
    let program = btu(User::Same).get_program().to_string_lossy().into_owned();
    // The first one stays until the end of the outer link ends it.
    let script = format!(
        "exec 3< <({program} link --quiet -- sh -c 'echo up; exec sleep 600'); read up <&3; \
         {program} link -- true"
    );
    let stderr = text(&expect_status(&mut link(User::Same, &["--quiet"], &script), 3).stderr);
    assert!(stderr.contains("depth 2 is taken"), "{stderr}");
}

/// The device of an inner link is in the namespace around it, and has a name there.
#[test]
fn one_link_after_the_other_finds_its_level_free() {
    need_namespaces!();
    for user in users::users() {
        let program = btu(user).get_program().to_string_lossy().into_owned();
        let script = format!(
            "for i in {{1..10}}; do {program} link --quiet -- true || exit 1; \
             [ -e /proc/sys/net/ipv4/conf/btu2far ] && exit 2; done; exit 0"
        );
        expect_status(&mut link(user, &["--quiet"], &script), 0);
    }
}

/// Nobody takes away what a killed link had, until the kernel does.
#[test]
fn a_link_waits_for_what_a_killed_one_has_left() {
    need_namespaces!();
    for user in users::users() {
        let program = btu(user).get_program().to_string_lossy().into_owned();
        let script = format!(
            "for i in {{1..3}}; do exec 3< <(exec {program} link --quiet -- sh -c 'echo up; sleep 600'); \
             read up <&3; kill -9 $!; {program} link --quiet -- true || exit 1; done"
        );
        expect_status(&mut link(user, &["--quiet"], &script), 0);
    }
}

#[test]
fn the_level_of_another_network_is_not_believed() {
    need_namespaces!();
    let mut command = link(User::Same, &["--quiet"], "echo $BTU_LINK_DEPTH");
    let output = expect_status(command.env("BTU_LINK_DEPTH", "7"), 0);
    assert_eq!(text(&output.stdout), "1\n");
}

#[test]
fn an_inner_link_leaves_the_outside_to_the_outermost() {
    need_namespaces!();
    let program = btu(User::Same).get_program().to_string_lossy().into_owned();
    for (option, value) in [("--reach", " 127.0.0.1:80"), ("--net nat", "")] {
        let script = format!("{program} link {option}{value} -- true");
        let stderr = text(&expect_status(&mut link(User::Same, &["--quiet"], &script), 2).stderr);
        let wanted = format!("{option}: only the outermost link is joined to the outside");
        assert!(stderr.contains(&wanted), "{stderr}");
        assert!(stderr.contains("hint: give it to the enclosing btu link"), "{stderr}");
    }
}
