//! A network namespace for one bench: nobody else's traffic, and congestion control per route.

use std::process::Command;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use super::options::Options;
use crate::chore::Verdict;
use crate::repo::Repo;
use crate::test::is_root;

/// The same for every contender, whatever the machine's default is.
pub(super) const CONGESTION: &str = "cubic";

/// Starts this program again inside a fresh namespace. An ordinary user gets a user namespace too; root keeps
/// the rights that its programs have elsewhere.
pub(super) fn enter(repo: &Repo, bench: &str, options: &Options) -> Result<Verdict> {
    let own = std::env::current_exe().context("find this program")?;
    let mut command = repo.command("unshare");
    if !is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--net", "--"]).arg(own).args(["bench", bench]);
    command.args(Options { inside: true, ..options.clone() }.to_args());
    let status = command.status().context("run unshare (package util-linux)")?;
    Ok(Verdict::of(status.success()))
}

/// Builds this example of the engine, and starts this program again as [`enter`] does.
pub(super) fn enter_with(
    repo: &Repo,
    example: &str,
    bench: &str,
    options: &Options,
) -> Result<Verdict> {
    let build = format!("cargo build --release --locked -p btu-engine --example {example}");
    if !repo.step(&build)? {
        bail!("the example {example} of btu-engine did not build");
    }
    enter(repo, bench, options)
}

/// Brings loopback up and pins congestion control to its routes.
pub(super) fn prepare(repo: &Repo) -> Result<()> {
    ip(repo, "link set lo up")?;
    for route in ["127.0.0.0/8", "127.0.0.1"] {
        ip(
            repo,
            &format!(
                "route replace local {route} dev lo table local proto kernel scope host \
                 src 127.0.0.1 congctl {CONGESTION}"
            ),
        )?;
    }
    Ok(())
}

/// Runs `ip`, which benches may use; the program itself builds everything through netlink.
pub(super) fn ip(repo: &Repo, args: &str) -> Result<()> {
    let mut command: Command = repo.command("ip");
    let output = command.args(args.split_whitespace()).output().context("run ip (iproute2)")?;
    if !output.status.success() {
        bail!("ip {args}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
