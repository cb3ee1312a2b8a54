//! Where a result goes, and where the io activity works.

use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::anyhow;
use btu_core::run::plan::Plan;
use time::OffsetDateTime;

use crate::exit::Exit;
use crate::exit::Failure;

/// Nothing that is there is written over: better said before any host is asked for than after it.
pub(crate) fn free(out: &Path) -> Result<(), Failure> {
    let what = match btu_control::is_free(out) {
        Ok(true) => return Ok(()),
        Ok(false) => "the directory is not empty",
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => "not a directory",
        Err(error) => {
            let what = format!("read {}", out.display());
            return Err(Failure::environment(anyhow::Error::new(error).context(what)));
        }
    };
    let cause = anyhow!("{}: {what}", out.display());
    Err(Failure::usage(cause).hint(TAKEN))
}

/// What `take` makes of the directory that is named, or of the first default one that nobody else takes
/// meanwhile: two that begin in the same second have one default name.
pub(crate) fn first_free<T>(
    named: Option<&Path>,
    default: impl Fn() -> PathBuf,
    take: impl Fn(&Path) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if let Some(named) = named {
        return take(named);
    }
    let mut tries = 1;
    loop {
        match take(&default()) {
            Err(failure) if failure.exit == Exit::Usage && tries < TRIES => tries += 1,
            taken => return taken,
        }
    }
}

/// `btu-results/20261121T203303Z-btu-26-quick`, with a number behind it where that is taken.
pub(crate) fn default_out(plan: &Plan, now: SystemTime) -> PathBuf {
    named_out(&format!("{}-{}", plan.edition, plan.preset), now)
}

/// The same for whatever was measured.
pub(crate) fn named_out(what: &str, now: SystemTime) -> PathBuf {
    let mut stamp = utc(now, 0);
    stamp.retain(|letter| !"-:".contains(letter));
    let name = format!("{stamp}-{what}");
    let taken = |path: &PathBuf| path.exists();
    let numbered = (2..).map(|n| results().join(format!("{name}-{n}")));
    let first = std::iter::once(results().join(&name));
    first.chain(numbered).find(|path| !taken(path)).unwrap_or_else(|| results().join(name))
}

/// UTC, RFC 3339, to the millisecond: how journals write a moment.
pub(crate) fn timestamp() -> String {
    utc(SystemTime::now(), 3)
}

/// RFC 3339 with so many digits of a second's parts.
fn utc(at: SystemTime, digits: usize) -> String {
    let at = OffsetDateTime::from(at);
    let date = format!("{:04}-{:02}-{:02}", at.year(), u8::from(at.month()), at.day());
    let time = format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second());
    let parts = format!(".{:09}", at.nanosecond());
    let parts = if digits == 0 { "" } else { &parts[..=digits] };
    format!("{date}T{time}{parts}Z")
}

/// True where the directory that this process works in was removed: no relative path leads anywhere.
pub(crate) fn is_nowhere() -> bool {
    std::env::current_dir().is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

fn results() -> &'static Path {
    Path::new("btu-results")
}

/// What can be done where a directory is not free.
pub(crate) const TAKEN: &str =
    "name another directory with --out; what was begun goes on with --resume";
/// What can be done where the working directory is gone.
pub(crate) const NOWHERE: &str =
    "the working directory was removed: change to another (cd), or write the path from /";
/// So many others may begin in the same second.
const TRIES: u32 = 32;

#[cfg(test)]
mod tests {
    use std::time::Duration;
    use std::time::UNIX_EPOCH;

    use super::*;

    /// `date -u -d @1795262400`.
    #[test]
    fn moments_are_written_in_utc() {
        let noon = UNIX_EPOCH + Duration::from_hours(498_684);
        assert_eq!(utc(noon + Duration::from_millis(7), 3), "2026-11-21T12:00:00.007Z");
        let out = named_out("btu-26-quick", noon);
        assert_eq!(out, Path::new("btu-results/20261121T120000Z-btu-26-quick"));
    }
}
