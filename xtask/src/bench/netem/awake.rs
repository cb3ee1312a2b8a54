//! Keeping the CPUs of this host from sleeping.

use std::process::Child;
use std::thread;

use anyhow::Context;
use anyhow::Result;

use crate::repo::Repo;

/// Work on every CPU that anything else displaces at once. An emulated CPU that halts is a thread that sleeps,
/// and where this host is a virtual machine itself, waking that thread takes up to a millisecond, more
/// often for the relay than for netem, which wakes one thread less.
pub(super) struct Awake(Vec<Child>);

impl Awake {
    pub(super) fn keep(repo: &Repo) -> Result<Self> {
        let cpus = thread::available_parallelism().context("count the CPUs")?.get();
        let mut awake = Self(Vec::new());
        for _ in 0..cpus {
            let mut spinner = repo.command("chrt");
            spinner.args(["--idle", "0", "sh", "-c", SPIN]);
            awake.0.push(spinner.spawn().context("run chrt of util-linux")?);
        }
        Ok(awake)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for spinner in &mut self.0 {
            let _ = spinner.kill();
            let _ = spinner.wait();
        }
    }
}

/// Ends with whoever started it, however that ends.
const SPIN: &str = "while kill -0 $PPID; do :; done 2>/dev/null";
