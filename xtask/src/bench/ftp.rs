//! Our FTP server beside vsftpd and our client beside curl, in complete blocks; and small files for themselves.

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde::Deserialize;

use super::Bench;
use super::options::Options;
use super::paired::Interval;
use super::paired::Shown;
use super::paired::Target;
use super::paired::median;
use super::private;
use crate::chore::Verdict;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "ftp",
    about: "our FTP server beside vsftpd, our client beside curl, small files below 10 ms; 1 min",
    own_options: &[],
    run,
};

/// Warm files of 1 MiB, our server's rate over that of vsftpd.
const SERVER: Target = Target::AtLeast(0.5);
/// A large file with its login, our client's time over that of curl: what blocks of either differ is in the interval.
const CLIENT: Target = Target::AtMost(1.0);
/// No spread explains a middle block of so many times curl's: beside vsftpd blocks on a busy machine differed by about twice
/// (0.63 to 1.39).
const CLIENT_FAR: f64 = 2.0;
/// A small file in a session that is there.
const SMALL_SECONDS: f64 = 0.010;

/// One line of the example: the middle one of some transfers.
#[derive(Deserialize)]
struct Measured {
    who: String,
    way: String,
    seconds: f64,
}

/// A row of the table.
#[derive(Debug)]
struct Row {
    what: String,
    found: String,
    must: String,
    shown: Shown,
}

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    if !options.inside {
        return private::enter_with(repo, "ftp_rates", BENCH.name, options);
    }
    private::prepare(repo)?;
    let blocks = (0..options.blocks).map(|number| block(repo, number));
    let blocks = blocks.collect::<Result<Vec<_>>>()?;
    println!("{} blocks, {}\n", options.blocks, private::CONGESTION);
    println!("| what | found | must | |\n|---|---|---|---|");
    let rows = judged(&blocks, options.seed)?;
    for Row { what, found, must, shown } in &rows {
        println!("| {what} | {found} | {must} | {shown} |");
    }
    let missed = rows.iter().filter(|row| row.shown == Shown::Missed).count();
    println!("\nftp: {missed} targets missed");
    Ok(Verdict::of(missed == 0))
}

/// Everything once; every second block in the other order, so that what the machine does meanwhile hits all.
fn block(repo: &Repo, number: u64) -> Result<Vec<Measured>> {
    let mut command = repo.command(repo.path("target/release/examples/ftp_rates"));
    if number % 2 == 1 {
        command.arg("turned");
    }
    let output = command.output().context("run the example ftp_rates")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("ftp_rates: {}: {}", output.status, said.trim());
    }
    print!("{said}");
    let lines = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Measured>();
    lines.collect::<Result<_, _>>().context("read what the example printed")
}

fn judged(blocks: &[Vec<Measured>], seed: u64) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for way in ["get", "put"] {
        let [ours, theirs] = ["server", "vsftpd"].map(|who| seconds(blocks, who, way));
        rows.extend(beside_vsftpd(way, &ours, &theirs, seed));
    }
    let [ours, theirs] = ["client", "curl"].map(|who| seconds(blocks, who, "get"));
    rows.extend(beside_curl(&ours, &theirs, seed));
    for way in ["get", "put"] {
        rows.push(small(way, &seconds(blocks, "small", way)).context("--blocks 0: no files")?);
    }
    Ok(rows)
}

/// Of each block.
fn seconds(blocks: &[Vec<Measured>], who: &str, way: &str) -> Vec<f64> {
    let all = blocks.iter().flatten().filter(|one| one.who == who && one.way == way);
    all.map(|one| one.seconds).collect()
}

/// `None` without vsftpd.
fn beside_vsftpd(way: &str, ours: &[f64], theirs: &[f64], seed: u64) -> Option<Row> {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(own, other)| other / own).collect();
    let interval = Interval::of(&ratios, seed)?;
    Some(Row {
        what: format!("{way} 1 MiB, rate of our server/vsftpd [95 %]"),
        found: interval.to_string(),
        must: SERVER.to_string(),
        shown: interval.against(SERVER),
    })
}

/// Block by block, since what the machine does meanwhile hits both. Few blocks have wide intervals, of which one slow block of
/// curl is a part: it is no excuse for a middle block that is far slower. `None` without curl.
fn beside_curl(ours: &[f64], theirs: &[f64], seed: u64) -> Option<Row> {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(own, other)| own / other).collect();
    let interval = Interval::of(&ratios, seed)?;
    let (own, other) = (median(ours)?, median(theirs)?);
    let is_far = interval.median > CLIENT_FAR;
    Some(Row {
        what: format!(
            "get 11 MB with login, time of our client/curl [95 %], {:.1} and {:.1} ms",
            own * 1e3,
            other * 1e3
        ),
        found: interval.to_string(),
        must: format!("{CLIENT}, the middle one <= {CLIENT_FAR:.2}"),
        shown: if is_far { Shown::Missed } else { interval.against(CLIENT) },
    })
}

fn small(way: &str, all: &[f64]) -> Option<Row> {
    let found = median(all)?;
    Some(Row {
        what: format!("{way} 1 KiB, ms"),
        found: format!("{:.3}", found * 1e3),
        must: format!("< {:.0}", SMALL_SECONDS * 1e3),
        shown: if found < SMALL_SECONDS { Shown::Met } else { Shown::Missed },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_can_be_missed() {
        let server = |own: f64| beside_vsftpd("get", &[own; 5], &[1.0; 5], 1).unwrap().shown;
        assert_eq!([server(1.9), server(2.1)], [Shown::Met, Shown::Missed]);
        let client = |own: [f64; 3]| beside_curl(&own, &[1.0, 1.1, 1.2], 1).unwrap().shown;
        assert_eq!(client([0.9, 1.1, 1.15]), Shown::Met);
        assert_eq!(client([0.9, 1.3, 1.3]), Shown::Not);
        assert_eq!(client([1.1, 1.15, 1.3]), Shown::Missed);
        assert_eq!(client([1.3, 1.3, 1.3]), Shown::Missed);
        assert_eq!(small("get", &[0.009]).unwrap().shown, Shown::Met);
        assert_eq!(small("get", &[0.040]).unwrap().shown, Shown::Missed);
    }

    /// However few blocks there are.
    #[test]
    fn one_slow_block_of_curl_excuses_no_client_that_is_four_times_slower() {
        for blocks in 3..12 {
            let mut curl = vec![1.0; blocks];
            curl[1] = 20.0;
            let shown = |own: f64| beside_curl(&vec![own; blocks], &curl, 1).unwrap().shown;
            assert_eq!([shown(4.0), shown(0.9)], [Shown::Missed, Shown::Met], "{blocks} blocks");
        }
    }

    #[test]
    fn what_is_not_installed_is_not_judged() {
        let one = |who: &str, way: &str| Measured {
            who: who.to_owned(),
            way: way.to_owned(),
            seconds: 0.001,
        };
        let blocks = [vec![one("server", "get"), one("small", "get"), one("small", "put")]];
        let rows = judged(&blocks, 1).unwrap();
        assert!(rows.len() == 2 && rows.iter().all(|row| row.what.contains("1 KiB")), "{rows:?}");
        assert!(judged(&[], 1).is_err());
    }
}
