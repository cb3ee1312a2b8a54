//! What other processes take of the machine while a trial is made.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process;

use btu_core::units::Nanos;

/// CPU time of every thread of other processes, by the scheduler's own account, in nanoseconds.
///
/// The ticks of `/proc/stat` cannot tell it here: the CPU time of the trial's threads holds the softirqs
/// that ran in their place, which the ticks count apart, so that as much of others is missed; and the
/// shortest trial lasts two ticks. A thread that began and ended meanwhile is not seen.
pub(crate) struct Others(BTreeMap<PathBuf, u64>);

impl Others {
    pub(crate) fn now() -> Self {
        let own = process::id().to_string();
        let is_number = |name: &OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
        let is_other = |path: &PathBuf| {
            path.file_name().is_some_and(|name| is_number(name) && name != OsStr::new(&own))
        };
        let processes = inside(Path::new("/proc")).filter(is_other);
        let threads = processes.flat_map(|process| inside(&process.join("task")));
        Self(threads.filter_map(|thread| Some((thread.clone(), ran(&thread)?))).collect())
    }

    /// What they took since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Nanos {
        let before = |thread| earlier.0.get(thread).copied().unwrap_or(0);
        let took = self.0.iter().map(|(thread, ran)| ran.saturating_sub(before(thread)));
        Nanos::new(took.sum())
    }
}

fn inside(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    // A process may be gone by now.
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// How long a thread has run; `None` for one that is gone, and for the kernel's that handle the trial's
/// own packets.
fn ran(thread: &Path) -> Option<u64> {
    let name = fs::read_to_string(thread.join("comm")).ok()?;
    let account = fs::read_to_string(thread.join("schedstat")).ok()?;
    let ran = account.split_ascii_whitespace().next()?.parse().ok()?;
    (!name.starts_with("ksoftirqd/")).then_some(ran)
}
