//! Receipts as a user asks for them, in every form of a scenario, and what is refused with its place.

use super::*;

/// One sender and its sink in the block language.
fn blocks(kind: &str, protocol: &str, setting: &str) -> String {
    format!(
        "cluster {{\n test a {{ type = {kind}; protocol = {protocol}; {setting}\n   own = a:1; peer = b:2; }}\n \
         test b {{ type = sink; protocol = {protocol}; own = b:2; peer = a:1; }}\n}}\n"
    )
}

fn toml(kind: &str, rest: &str) -> String {
    format!("[[cluster]]\n[[cluster.test]]\npath = \"a -> b\"\ntype = \"{kind}\"\n{rest}\n")
}

/// Reads text of a form.
fn read(ending: &str, text: &str) -> Result<Reading, String> {
    let read = match ending {
        "ns" => read_script("s.ns", text, Dialect::NetSpec, &WORDS),
        "btu" => read_script("s.btu", text, Dialect::Btu, &WORDS),
        _ => read_toml("s.toml", text, &WORDS),
    };
    read.map_err(|error| error.to_string())
}

const NS: &str = "burstq (blocksize=1000, period=10000, duration=1)";
const BTU: &str = "burstq(blocksize=1000 B, period=10 ms, duration=1 s)";

#[test]
fn every_form_asks_for_receipts_and_means_the_same() {
    for (word, wanted) in [("yes", true), ("on", true), ("no", false), ("off", false), ("", false)]
    {
        let setting = if word.is_empty() { String::new() } else { format!("receipts = {word};") };
        let key = if word.is_empty() { String::new() } else { format!("receipts = \"{word}\"") };
        let path = format!("{key}\ntransport = \"udp\"\n");
        let [ns, btu] = [("ns", NS), ("btu", BTU)]
            .map(|(ending, kind)| read(ending, &blocks(kind, "udp()", &setting)).unwrap().scenario);
        let toml = read("toml", &toml(BTU, &path).replace("a -> b", "a:1 -> b:2")).unwrap();
        assert_eq!(only_test(&toml).has_receipts, wanted, "{word}");
        assert_eq!((&ns, &btu), (&toml.scenario, &toml.scenario), "{word}");
        let written = to_toml(&ns);
        assert_eq!(written.contains("receipts = \"yes\""), wanted, "{written}");
        assert_eq!(read("toml", &written).unwrap().scenario, ns, "{written}");
    }
}

#[test]
fn what_can_have_no_receipts_is_refused_with_its_place_and_what_to_write() {
    for (kind, protocol, cause) in [
        ("full(duration=1 s)", "tcp", "receipts: full writes back to back, and none of it is due"),
        ("telnet(duration=1 s)", "tcp", "receipts: telnet waits for answers"),
        ("web-h3(duration=1 s)", "quic", "receipts: web-h3 waits for answers"),
        ("webrtc(duration=1 s)", "udp", "receipts: webrtc follows the reports of its receiver"),
        (
            "burst(blocksize=exp(1 kB), period=10 ms, duration=1 s)",
            "udp",
            "receipts of datagrams: with blocks of several sizes nobody knows which of them was missed; write burstq, or tcp",
        ),
        (
            "burst(blocksize=100 kB, period=10 ms, duration=1 s, overrun=interrupt)",
            "udp",
            "receipts of datagrams: nobody knows how many an interrupted block has",
        ),
    ] {
        let text = blocks(kind, protocol, "receipts = yes;");
        let column = text.lines().nth(1).unwrap().find("yes").unwrap() + 1;
        let said = read("btu", &text).unwrap_err();
        assert!(said.starts_with(&format!("s.btu:2:{column}: {cause}")), "{column} {said}");
        let rest = format!("transport = \"{protocol}\"\nreceipts = \"yes\"");
        let said = read("toml", &toml(kind, &rest)).unwrap_err();
        assert!(said.contains(cause) && said.contains("s.toml:6:13: "), "{said}");
        assert!(said.contains("; write ") || said.contains("; leave "), "no remedy: {said}");
        // Nobody is refused who does not want them.
        read("toml", &toml(kind, &rest.replace("yes", "no"))).unwrap();
    }
    let at_sink = blocks(BTU, "tcp", "").replace("type = sink;", "type = sink; receipts = yes;");
    let said = read("btu", &at_sink).unwrap_err();
    assert!(
        said.contains(
            "s.btu:4:35: receipts: a sink sends no blocks; write it in the test of its sender"
        ),
        "{said}"
    );
    let said = read("toml", &toml(BTU, "receipts = \"sometimes\"")).unwrap_err();
    assert!(said.contains("s.toml:5:13: receipts = sometimes; write yes or no"), "{said}");
}

#[test]
fn whatever_has_a_schedule_can_have_receipts() {
    for (kind, protocol) in [
        (BTU, "tcp"),
        ("burstq(blocksize=exp(9 kB), period=10 ms, duration=1 s)", "udp"),
        ("burst(blocksize=exp(9 kB), period=10 ms, duration=1 s)", "quic"),
        ("burst(blocksize=9 kB, period=10 ms, duration=1 s, overrun=interrupt)", "tcp"),
        ("burst(blocksize=9 kB, period=10 ms, duration=1 s, overrun=interrupt)", "udp"),
        ("burst(blocksize=900 kB, period=10 ms, duration=1 s)", "udp"),
        ("voice-cbr(duration=1 s)", "udp"),
        ("mobile-game(duration=1 s)", "udp"),
    ] {
        let rest = format!("transport = \"{protocol}\"\nreceipts = \"yes\"");
        let reading = read("toml", &toml(kind, &rest)).unwrap();
        assert!(only_test(&reading).has_receipts, "{kind}");
    }
}

/// An interrupted block has one datagram or several, as `buffer` says.
#[test]
fn values_of_a_matrix_that_leave_no_receipts_are_refused_with_its_place() {
    let kind = "burst(blocksize=9 kB, period=10 ms, duration=1 s, overrun=interrupt)";
    let matrix = |values| {
        let rest = format!(
            "transport = \"udp\"\nreceipts = \"yes\"\n[matrix]\n\"c1.duration\" = [\"1 s\", \"2 s\"]\n\"c1.buffer\" = [{values}]"
        );
        read("toml", &toml(kind, &rest)).map(|reading| reading.scenario.variants().len())
    };
    assert_eq!(matrix("\"9 kB\", \"10 kB\""), Ok(4));
    let refused = matrix("\"9 kB\", \"1 kB\"").unwrap_err();
    let cause = "nobody knows how many an interrupted block has";
    assert!(refused.contains("s.toml:9:2: ") && refused.contains(cause), "{refused}");
}
