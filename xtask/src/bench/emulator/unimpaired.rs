//! A path without impairment costs nothing: bulk over a veth pair beside an idle emulator, and
//! without one; and the emulator has seen nothing of it.

use std::path::PathBuf;
use std::process::Child;
use std::process::Stdio;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use super::Options;
use super::figure;
use super::file;
use super::read_json;
use crate::bench::pair::Pair;
use crate::bench::paired::Chance;
use crate::bench::paired::Interval;
use crate::repo::Repo;

const MESSAGE: u64 = 65536;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Idle,
    Nothing,
}

/// Paired blocks in random order. An interval wholly below 1 is a cost.
pub(super) fn idle_against_absent(repo: &Repo, options: &Options) -> Result<bool> {
    let pair = Pair::veth(repo)?;
    let mut chance = Chance(options.seed);
    let (mut ratios, mut seen) = (Vec::new(), 0.0);
    for block in 0..=options.blocks {
        let mut sides = [Beside::Idle, Beside::Nothing];
        chance.shuffle(&mut sides);
        let mut rates = [0.0; 2];
        for beside in sides {
            let idle = (beside == Beside::Idle).then(|| Idle::start(repo)).transpose()?;
            let rate = pair.goodput(repo, MESSAGE, options.seconds)?;
            if let Some(idle) = idle {
                seen += idle.end()?;
            }
            rates[usize::from(beside == Beside::Nothing)] = rate;
        }
        // The first block warms up.
        if block > 0 {
            ratios.push(rates[0] / rates[1]);
        }
    }
    let interval = Interval::of(&ratios, options.seed).context("no block was measured")?;
    let costs = interval.high < 1.0;
    println!(
        "  {} blocks of {} s: ratio idle / absent {interval}",
        options.blocks, options.seconds
    );
    println!("  1.00 not above the interval: {}; packets in the emulator: {seen}", !costs);
    Ok(!costs && seen == 0.0)
}

/// A link with a delay that nobody uses.
struct Idle {
    link: Child,
    account: PathBuf,
}

impl Idle {
    /// Returns once its command runs: the link works then.
    fn start(repo: &Repo) -> Result<Self> {
        let account = file(repo, "idle.json")?;
        let mut command = repo.command(repo.path("target/release/btu"));
        command.args(["link", "--quiet", "--delay", "5ms", "--stats"]).arg(&account);
        command.args(["--", "sh", "-c", "echo; read line"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut link = command.spawn().context("run btu link")?;
        let output = link.stdout.take().context("read btu link")?;
        let mut first = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut first)
            .context("read btu link")?;
        Ok(Self { link, account })
    }

    /// Ends it; gives how many packets it saw.
    fn end(mut self) -> Result<f64> {
        drop(self.link.stdin.take());
        let ended = self.link.wait().context("wait for btu link")?;
        // `read` at the end of its input is no success.
        if ended.code().is_none_or(|code| code > 1) {
            bail!("btu link: {ended}");
        }
        let seen = read_json(&self.account)?;
        Ok(figure(&seen, "/up/packets")? + figure(&seen, "/down/packets")?)
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        // Ended already is as good.
        let _ = self.link.kill();
        let _ = self.link.wait();
    }
}
