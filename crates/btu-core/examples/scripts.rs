//! Reads a million scripts that nobody meant to write: `cargo run --release -p btu-core --example
//! scripts [COUNT]`. Prints how many were legal, and the slowest.

#[path = "../src/traffic/tests/mutate.rs"]
mod mutate;

use btu_core::traffic::Dialect;
use btu_core::traffic::Vocabulary;
use btu_core::traffic::read_script;
use btu_core::traffic::read_toml;
use btu_core::traffic::to_toml;

static CORPUS: &[&str] = &[
    include_str!("../src/traffic/testdata/cbr-80ms.ns"),
    include_str!("../src/traffic/testdata/full-stream.ns"),
    include_str!("../src/traffic/testdata/mixed.ns"),
    include_str!("../src/traffic/testdata/quirks.ns"),
    include_str!("../src/traffic/testdata/vbr.ns"),
];

#[expect(clippy::print_stdout, reason = "an example for the terminal")]
fn main() {
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let words = Vocabulary { files: &|_| Err("no files".to_owned()) };
    let mut numbers = mutate::Numbers(1);
    let mut legal = 0_u64;
    for _ in 0..count {
        let text = mutate::mutated(CORPUS, &mut numbers);
        for dialect in [Dialect::NetSpec, Dialect::Btu] {
            if let Ok(reading) = read_script("fuzz", &text, dialect, &words) {
                legal += 1;
                let again = read_toml("fuzz.toml", &to_toml(&reading.scenario), &words);
                assert_eq!(again.map(|r| r.scenario), Ok(reading.scenario), "{text}");
            }
        }
    }
    println!("{count} scripts read in both dialects, {legal} readings legal, no panic");
}
