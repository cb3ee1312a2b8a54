//! Scripts, scenarios and distributions as a user writes them.

mod figures;
mod laws;
mod models;
mod mutate;
mod receipts;

use super::*;
use crate::units::Bytes;
use crate::units::Nanos;

const WORDS: Vocabulary<'_> = Vocabulary { files: &|_| Err("no files in tests".to_owned()) };

/// Every script of the corpus with its name.
static SCRIPTS: &[(&str, &str)] = &[
    ("cbr-80ms.ns", include_str!("testdata/cbr-80ms.ns")),
    ("full-stream.ns", include_str!("testdata/full-stream.ns")),
    ("mixed.ns", include_str!("testdata/mixed.ns")),
    ("quirks.ns", include_str!("testdata/quirks.ns")),
    ("vbr.ns", include_str!("testdata/vbr.ns")),
];

fn script(name: &str) -> Reading {
    let (_, text) = SCRIPTS.iter().find(|(file, _)| *file == name).expect("a script");
    read_script(name, text, Dialect::NetSpec, &WORDS).expect("a legal script")
}

fn only_test(reading: &Reading) -> Test {
    reading.scenario.clusters()[0].tests[0].clone()
}

#[test]
fn t1_every_script_gives_the_plan_of_its_converted_form() {
    for (name, _) in SCRIPTS {
        let given = script(name).scenario;
        let text = to_toml(&given);
        let again = read_toml("converted.toml", &text, &WORDS).map_err(|e| e.to_string());
        assert_eq!(again.map(|reading| reading.scenario), Ok(given), "{name}:\n{text}");
    }
}

#[test]
fn netspec_counts_sizes_in_bytes_periods_in_microseconds_durations_in_seconds() {
    let test = only_test(&script("cbr-80ms.ns"));
    assert_eq!(test.traffic.to_string(), "burstq(blocksize=12500 B, period=80 ms, duration=10 s)");
    assert_eq!(test.protocol.window, Some(Bytes::new(65_536)));
    assert_eq!(
        (test.from.to_string(), test.to.to_string()),
        ("quadra:42003".into(), "vasari:42003".into())
    );
}

#[test]
fn bounds_of_netspec_are_clamps() {
    let test = only_test(&script("vbr.ns"));
    let said = test.traffic.to_string();
    assert!(said.contains("clamp(exp(256258 B), lo=8 B, hi=1048586 B)"), "{said}");
    assert!(said.contains("period=uniform(20 ms, 200 ms)"), "{said}");
}

#[test]
fn scripts_in_the_wild_are_read_with_a_warning() {
    let reading = script("quirks.ns");
    let test = only_test(&reading);
    assert_eq!(test.to.port, Some(42_009));
    assert_eq!(reading.warnings.len(), 1, "{:?}", reading.warnings);
    assert!(reading.warnings[0].cause.contains("42009 wins"));
    assert_eq!(reading.scenario.hosts, ["quadra", "vasari"]);
}

/// A word takes what NetSpec gives it; what does nothing here says so.
#[test]
fn an_argument_that_changes_nothing_is_told() {
    let script = |size: &str| {
        let text = format!(
            "cluster {{ test a {{ type = burstq (blocksize={size}, period=40000, duration=1); \
             own = a:1; peer = b:2; }} }}"
        );
        read_script("x.ns", &text, Dialect::NetSpec, &WORDS).expect("a legal script")
    };
    let given = script("videoMPEGFrameSize(scenelengthmean=30)");
    let said = |warning: &Problem| warning.cause.contains("scenelengthmean changes nothing");
    assert!(given.warnings.iter().any(said), "{:?}", given.warnings);
    assert_eq!(given.scenario, script("videoMPEGFrameSize(scenelengthmean=3)").scenario);
}

#[test]
fn blocks_nest() {
    let reading = script("mixed.ns");
    let Block::Serial(children, Keep::No) = &reading.scenario.run else { panic!("serial") };
    assert!(matches!(&children[0], Block::Parallel(two) if two.len() == 2));
    assert!(matches!(&children[1], Block::Cluster(one) if one.tests.len() == 1));
    assert_eq!(reading.warnings, [], "its words draw what NetSpec's draw");
}

/// The words of NetSpec whose table of tcplib is at hand draw from it, here and where the scenario was written down.
#[test]
fn words_of_netspec_draw_from_the_tables_of_tcplib() {
    let script = |part: &str, word: &str| {
        let parts = ["blocksize=100", "repeats=1", "period=40000"];
        let parts = parts.map(|usual| if usual.starts_with(part) { word } else { usual });
        let text = format!(
            "cluster {{ test a {{ type = burstq ({}, duration=1); own = a:1; peer = b:2; }} }}",
            parts.join(", ")
        );
        read_script("x.ns", &text, Dialect::NetSpec, &WORDS).expect("a legal script")
    };
    for (part, word, mean, median) in [
        ("blocksize", "blocksize=ftpItemSize", 39_861.0, 509.0),
        ("repeats", "repeats=ftpNOfItems", 7.81, 4.0),
        ("period", "period=telnetPacketInterarrival", 1.0919e9, 0.2364e9),
    ] {
        let reading = script(part, word);
        let fits = |warning: &Problem| warning.cause.contains("not verified");
        assert!(!reading.warnings.iter().any(fits), "{word}: {:?}", reading.warnings);
        let law = only_test(&reading).traffic.variate(part).law().clone();
        assert!((law.mean().unwrap() / mean - 1.0).abs() < 0.01, "{word}: {law:?}");
        assert!((law.quantile(0.5) / median - 1.0).abs() < 0.01, "{word}: {law:?}");
        let text = to_toml(&reading.scenario);
        let again = read_toml("x.toml", &text, &WORDS).map_err(|error| error.to_string());
        assert_eq!(again.map(|again| again.scenario), Ok(reading.scenario), "{text}");
    }
    let other = "full(blocksize=table(\\\"tcplib files\\\", linear))";
    assert!(sent(&[other], "").unwrap_err().contains("write table(\"tcplib files\", step)"));
}

#[test]
fn values_that_mean_nothing_to_a_model_are_refused_with_those_that_do() {
    let parameters = MODELS.iter().flat_map(|model| {
        let of_model = model.shape.parameters.iter();
        of_model.filter_map(|one| Some((model.name(), one, one.range?)))
    });
    let mut tried = 0;
    for (model, parameter, (least, most)) in parameters {
        let (name, quantity) = (parameter.name, parameter.quantity().unwrap());
        // The longest segments need a longer buffer than the default.
        let more = if name == "segment" { ", buffer=1 h" } else { "" };
        let read = |value: f64| {
            let text = format!("{model}({name}={}{more})", quantity.write(value));
            sent(&[&text], "")
        };
        assert_eq!((read(least), read(most)), (Ok(()), Ok(())), "{model} {name}");
        for beyond in [least / 2.0, most * 2.0] {
            let refused = read(beyond).unwrap_err();
            let [found, least, most] = [beyond, least, most].map(|value| quantity.write(value));
            let legal = format!("{name} = {found}; write {least} to {most}");
            assert!(refused.contains("s.toml:4:") && refused.contains(&legal), "{refused}");
        }
        tried += 1;
    }
    assert_eq!(tried, 29, "every parameter that a model bounds");
}

/// Reads one cluster of tests that send this, with these lines of a matrix.
fn sent(types: &[&str], matrix: &str) -> Result<(), String> {
    let one = |text: &&str| format!("[[cluster.test]]\npath = \"a -> b\"\ntype = \"{text}\"\n");
    let all: String = types.iter().map(one).collect();
    let text = format!("[[cluster]]\n{all}[matrix]\n{matrix}");
    read_toml("s.toml", &text, &WORDS).map(drop).map_err(|error| error.to_string())
}

#[test]
fn what_a_model_would_have_to_change_is_refused() {
    for (text, cause) in [
        ("rpc(flows=2.5)", "s.toml:4:19: flows = 2.5; write a whole number"),
        ("rpc(flows=uniform(1, 9))", "flows: write a number; it holds for the whole test"),
        ("rpc(load=0)", "load = 0; write 0.001 to 10"),
        ("www-3gpp(flows=0)", "flows = 0; write 1 to 10000"),
        ("dash(segment=0 s)", "segment = 0 ns; write 100 ms to 60 s"),
        ("dash(buffer=7 s)", "s.toml:4:21: buffer = 7 s; write 8 s or more: 2 times segment"),
        ("dash(segment=20 s)", "s.toml:4:9: buffer = 30 s; write 40 s or more: 2 times segment"),
        (
            "rpc(workload=w5, between=step)",
            "s.toml:4:34: between = step; write linear with workload = w5: most sizes",
        ),
        ("self-similar(period=0 s)", "period must be above 0"),
        ("incast(interval=0 s)", "interval = 0 ns; write 1 us to 86400 s"),
    ] {
        let refused = sent(&[text], "").unwrap_err();
        assert!(refused.contains(cause), "{text}: {refused}");
    }
}

#[test]
fn values_of_a_matrix_suit_each_test_that_they_are_for_and_each_other() {
    let both = ["rpc(flows=8)", "www-3gpp(flows=8)"];
    assert_eq!(sent(&both, "\"c1.flows\" = [\"1\", \"10000\"]\n"), Ok(()));
    let refused = sent(&both, "\"c1.flows\" = [\"1\", \"20000\"]\n").unwrap_err();
    assert!(refused.contains("s.toml:9:21: flows = 20000; write 1 to 10000"), "{refused}");
    let video = |segments| {
        sent(&["dash(abr=bola)"], &format!("\"c1.buffer\" = [\"90 s\", \"30 s\"]\n{segments}"))
    };
    assert_eq!(video("\"c1.segment\" = [\"2 s\", \"15 s\"]\n"), Ok(()));
    let refused = video("\"c1.segment\" = [\"20 s\", \"2 s\"]\n").unwrap_err();
    let cause = "two values of the matrix: buffer = 30 s; write 40 s or more: 2 times segment";
    assert!(refused.contains("s.toml:6:2:") && refused.contains(cause), "{refused}");
    let sizes = |workloads: &str, between| {
        let matrix = format!("\"c1.workload\" = [{workloads}]\n\"c1.between\" = [{between}]\n");
        sent(&["rpc(flows=8)"], &matrix)
    };
    let both = "\"step\", \"linear\"";
    assert_eq!(sizes("\"websearch\", \"hadoop\"", both), Ok(()));
    assert_eq!(sizes("\"w3\", \"hadoop\"", "\"linear\""), Ok(()));
    for workloads in ["\"w3\", \"hadoop\"", "\"hadoop\", \"w3\""] {
        let refused = sizes(workloads, both).unwrap_err();
        let cause = "two values of the matrix: between = step; write linear with workload = w3";
        assert!(refused.contains(cause), "{refused}");
    }
}

#[test]
fn the_exponential_sizes_of_the_seed_have_the_mean_of_clamping_not_of_truncating() {
    let mean = |text| variate(text, Quantity::Bytes, Dialect::Btu).unwrap().mean().round();
    assert_eq!(mean("clamp(exp(256258 B), 8 B, 1048586 B)").to_string(), "251977");
    assert_eq!(mean("truncate(exp(256258 B), 8 B, 1048586 B)").to_string(), "238449");
}

#[test]
fn a_burst_train_is_an_absolute_schedule_of_its_periods() {
    let test = only_test(&script("cbr-80ms.ns"));
    let Some(Train::Open(train)) = test.traffic.train(&test.streams("c1", 1)) else { panic!() };
    let due: Vec<Nanos> = Timeline::new(train).take(3).map(|(at, _)| at).collect();
    assert_eq!(due, [0, 80, 160].map(Nanos::from_millis));
}

#[test]
fn t1_scripts_that_nobody_meant_are_read_or_refused_and_convert_to_equal_plans() {
    let corpus: Vec<&str> = SCRIPTS.iter().map(|(_, text)| *text).collect();
    let mut numbers = mutate::Numbers(7);
    let mut legal = 0;
    for _ in 0..scripts() {
        let text = mutate::mutated(&corpus, &mut numbers);
        match read_script("fuzz.ns", &text, Dialect::NetSpec, &WORDS) {
            Ok(reading) => {
                legal += 1;
                let again = read_toml("fuzz.toml", &to_toml(&reading.scenario), &WORDS);
                assert_eq!(again.map(|r| r.scenario), Ok(reading.scenario), "{text}");
            }
            Err(error) => assert!(!error.problems.is_empty(), "{text}"),
        }
    }
    assert!(legal > 100, "{legal}");
}

/// How many: some thousand, or as many as the bench says.
#[expect(clippy::disallowed_methods, reason = "a bench of a million asks this test for them")]
fn scripts() -> u32 {
    std::env::var("BTU_SCRIPTS").map_or(10_000, |number| number.parse().unwrap())
}

/// Found among a million scripts: what stands before `=` in a block and is no name must be skipped.
#[test]
fn a_setting_without_a_name_is_refused_and_not_waited_for() {
    for stray in ["= = 1;", "\"x\" = 1;", "; = 1;", "( = 1;", "{ = 1; }"] {
        let text = format!("cluster {{ {stray} }}");
        let error = read_script("x.ns", &text, Dialect::NetSpec, &WORDS).unwrap_err();
        assert!(!error.problems.is_empty(), "{text}");
    }
}

#[test]
fn t1_all_errors_are_told_with_line_and_column() {
    let text = "cluster {\n  test a { type = burst (blocksize=1, period=5);\n    own = a:1; \
                peer = b:70000; foo = 3; }\n  corba b { x = 1; }\n  test b { type = sync; }\n}\n";
    let error = read_script("x.ns", text, Dialect::NetSpec, &WORDS).unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 4, "{error}");
    assert!(lines[0].starts_with("x.ns:3:25: \"70000\" is no port; write 1 to 65535"), "{error}");
    assert!(lines[1].contains("x.ns:3:32: unknown setting \"foo\"; write one of type"), "{error}");
    assert!(lines[2].contains("x.ns:4:3: not supported: corba"), "{error}");
    assert!(lines[3].contains("x.ns:5:19: unknown type \"sync\"; write full, burst"), "{error}");
}

#[test]
fn a_unit_that_is_none_is_told_with_those_that_are() {
    for (size, unit) in [("10 KB", "KB"), ("10KB", "KB"), ("10 EB", "EB")] {
        let text = format!(
            "[[cluster]]\n[[cluster.test]]\npath = \"a -> b\"\ntype = \"burstq(blocksize={size}, \
             period=20 ms, duration=1 s)\"\n"
        );
        let said = read_toml("x.toml", &text, &WORDS).unwrap_err().to_string();
        let wanted = format!("unknown unit \"{unit}\"; write one of B, kB, KiB");
        assert!(said.starts_with("x.toml:4:") && said.contains(&wanted), "{size}: {said}");
    }
}

#[test]
fn a_name_that_another_one_has_is_told_where_it_is_given_again() {
    let one =
        |at: u16| format!("test a {{ name = x; type = full(); own = a:{at}; peer = b:{at}; }}\n");
    let text = format!("cluster {{\n{}{} }}", one(1), one(2));
    let said = read_script("x.ns", &text, Dialect::NetSpec, &WORDS).unwrap_err().to_string();
    assert_eq!(said, "x.ns:3:10: two tests are named \"x\"; give each its own name");
    let cluster =
        "[[cluster]]\nname = \"c\"\n[[cluster.test]]\npath = \"a -> b\"\ntype = \"full()\"\n";
    let said = read_toml("x.toml", &[cluster, cluster].concat(), &WORDS).unwrap_err().to_string();
    assert!(said.starts_with("x.toml:7:"), "{said}");
    assert!(said.ends_with("two clusters are named \"c\"; give each its own name"), "{said}");
}

#[test]
fn nesting_and_size_have_bounds() {
    let deep = format!("{}{}", "serial {".repeat(40), "}".repeat(40));
    let calls = format!("cluster {{ test a {{ type = {} }} }}", "exp(".repeat(50_000));
    let large = " ".repeat((1 << 20) + 1);
    for (text, part) in [(deep, "nested deeper than 32"), (calls, "deeper"), (large, "1 MiB")] {
        let error = read_script("x.ns", &text, Dialect::NetSpec, &WORDS).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

const MATRIX: &str = r#"
seed = 7
run = { serial = ["full", { parallel = ["voice", "vbr"] }], keep = true }
[[cluster]]
name = "full"
[[cluster.test]]
path = "test -> active"
type = "full(duration=2 s)"
[[cluster]]
name = "voice"
[[cluster.test]]
path = "test -> passive:5004"
type = "voice-onoff(codec=g729)"
transport = "udp"
drain = "500 ms"
[[cluster]]
name = "vbr"
[[cluster.test]]
name = "one"
path = "test -> active"
type = "burstq(blocksize=clamp(exp(256258 B), 8 B, 1048586 B), period=uniform(20 ms, 200 ms))"
link = "rate 10Mbit/s"
[matrix]
"vbr.duration" = ["10 s", "30 s"]
"voice.test.codec" = ["g711", "g729"]
"#;

#[test]
fn a_matrix_replaces_arguments_and_every_combination_runs() {
    let reading = read_toml("m.toml", MATRIX, &WORDS).map_err(|e| e.to_string()).unwrap();
    let variants = reading.scenario.variants();
    let values: Vec<String> = variants.iter().map(|variant| variant.values.join(", ")).collect();
    assert_eq!(values.len(), 4);
    assert_eq!(values[1], "vbr.duration = 10 s, voice.test.codec = g729");
    let text = variants[3].scenario.clusters()[2].tests[0].traffic.to_string();
    assert!(text.contains("duration=30 s"), "{text}");
    let again = read_toml("again.toml", &to_toml(&reading.scenario), &WORDS).unwrap();
    assert_eq!(again.scenario, reading.scenario);
}

/// By whatever they are called, and wherever their names stand as words of something else.
#[test]
fn each_test_is_found_where_it_is_written() {
    let toml = "# quadra\n[[cluster]]\n[[cluster.test]]\npath = \"quadra -> b\"\ntype = \"full()\"\n\
                  [[cluster.test]]\npath = \"quadra -> b\"\ntype = \"full()\"\n\n\
                [[cluster]]\nname = 'B'\n  [[ cluster . test ]]\npath = 'b -> quadra'\ntype = 'full()'\n";
    let inline = "cluster = [{ name = \"x\", test = [\n  { path = \"a -> b\", type = \"full()\" },\n \
                  { path = \"a -> b\", type = \"full()\", name = \"last\" }] }]\n";
    let script = "/* quadra */ cluster {\n  test quadra { type = full (duration=1); \
                  protocol = tcp; own = quadra:1; peer = test:2; }\n  test test { type = sink; \
                  protocol = tcp; own = test:2; peer = quadra:1; }\n test quadra { type = full (duration=1); \
                  protocol = tcp; own = quadra:3; peer = test:4; }\n}\n";
    let read = |text| read_toml("a.toml", text, &WORDS).map_err(|e| e.to_string()).unwrap();
    let (toml, inline) = (read(toml), read(inline));
    let script = read_script("a.ns", script, Dialect::NetSpec, &WORDS);
    let script = script.map_err(|e| e.to_string()).unwrap();
    for (reading, cluster, test, place) in [
        (&toml, "c1", "quadra", Some("3:1")),
        (&toml, "c1", "quadra-2", Some("6:1")),
        (&toml, "b", "b", Some("12:3")),
        (&toml, "b", "quadra", None),
        (&inline, "x", "a", Some("2:3")),
        (&inline, "x", "last", Some("3:2")),
        (&script, "c1", "quadra", Some("2:3")),
        (&script, "c1", "quadra-2", Some("4:2")),
    ] {
        let found = reading.place_of(cluster, test).map(|place| place.to_string());
        assert_eq!(found.as_deref(), place, "{cluster} {test}");
    }
}

#[test]
fn what_is_wrong_in_toml_has_its_place_too() {
    let said = |from: &str, to: &str| {
        let text = MATRIX.replace(from, to);
        read_toml("m.toml", &text, &WORDS).expect_err("illegal").to_string()
    };
    for (from, to, part) in [
        ("20 ms, 200", "20, 200", "m.toml:21:79: 20 has no unit"),
        ("\"full\", {", "\"fool\", {", "m.toml:3:7: run: no cluster is named \"fool\""),
        ("vbr.duration", "vbr.speed", "no test has a parameter \"vbr.speed\""),
        ("test -> active", "test active", "write path = \"FROM -> TO\", each HOST"),
        ("\"udp\"", "\"sctp\"", "unknown protocol \"sctp\"; write one of tcp, udp, quic"),
        ("drain", "drian", "unknown field `drian`"),
    ] {
        assert!(said(from, to).contains(part), "{}", said(from, to));
    }
}

/// The text of a block of the page that is marked with this language and holds this text.
fn example<'p>(page: &'p str, language: &str, holds: &str) -> &'p str {
    let blocks = page.split("```").skip(1).step_by(2).filter_map(|b| b.strip_prefix(language));
    blocks.into_iter().find(|block| block.contains(holds)).expect("an example")
}

#[test]
fn the_examples_of_the_page_are_legal() {
    let page = include_str!("../../../../docs/scenarios.md");
    let text = example(page, "text\n", "cluster {");
    let read = read_script("page.ns", text, Dialect::NetSpec, &WORDS);
    assert_eq!(read.map(|reading| reading.warnings.len()).map_err(|e| e.to_string()), Ok(0));
    let text = example(page, "toml\n", "[matrix]");
    let read = read_toml("page.toml", text, &WORDS).map_err(|e| e.to_string());
    assert_eq!(read.map(|reading| reading.scenario.variants().len()), Ok(4));
}

/// Each transport has options of its own, and values that it can keep.
#[test]
fn options_of_a_transport_are_those_that_it_has() {
    let words = Vocabulary { files: &|_| Err(String::new()) };
    let read = |transport: &str| {
        let text = format!(
            "[[cluster]]\nname = \"c\"\n[[cluster.test]]\npath = \"test -> active\"\n\
             type = \"full(duration=1 s)\"\ntransport = \"{transport}\"\n"
        );
        read_toml("a.toml", &text, &words).map(|read| read.scenario)
    };
    let scenario = read("quic(window=64 KiB, congestion=reno)").unwrap();
    let protocol = &scenario.clusters()[0].tests[0].protocol;
    assert_eq!(protocol.to_string(), "quic(window=64 KiB, congestion=reno)");
    for (transport, cause) in [
        ("quic(mss=1400 B)", "a.toml:6:19: quic has no option \"mss\"; write window or congestion"),
        (
            "quic(congestion=vegas)",
            "a.toml:6:30: quic has no congestion control \"vegas\"; write one of cubic, reno, bbr",
        ),
        ("quic(window=1 B)", "a.toml:6:26: a size must be from 4KiB to 512MiB here"),
        ("tcp(window=100 GB)", "a.toml:6:25: a size must be from 4KiB to 512MiB here"),
        ("tcp(mss=10 B)", "a.toml:6:22: a size must be from 88B to 32767B here"),
        ("tcp(65536)", "a.toml:6:18: write window, nodelay, congestion or mss as NAME=VALUE"),
        ("udp(window=64 KiB)", "a.toml:6:18: udp has no option \"window\"; write udp alone"),
    ] {
        let said = read(transport).unwrap_err().to_string();
        assert!(said.contains(cause), "{said}");
    }
}
