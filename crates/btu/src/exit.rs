//! How the program ends: the one table of exit codes, and failures that carry theirs.

use std::io;
use std::io::ErrorKind;
use std::process::ExitCode;

use btu_core::words::shell_word;
use btu_engine::is_of_threads;
use btu_report::StoreError;
use btu_sys::limit;
use btu_sys::sysctl;

use crate::measurement::place;

/// Exit codes that scripts may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The work is done (also where the result is not rankable).
    Done = 0,
    /// A threshold failed, or a check found a violation.
    Threshold = 1,
    /// Command line, plan or input is wrong.
    Usage = 2,
    /// The environment lacks something.
    Environment = 3,
    /// An agent was lost.
    Agent = 4,
    /// Results are not comparable, or none may be ranked.
    Incomparable = 5,
    /// A cell met its cap: the result is incomplete.
    Incomplete = 6,
    /// A fault of the program itself.
    Internal = 70,
    /// Ended by SIGHUP: its terminal is gone.
    HungUp = 129,
    /// Ended by SIGINT.
    Interrupted = 130,
    /// Ended by SIGTERM.
    Terminated = 143,
}

/// Why a verb could not do its work, with the exit code and what the reader can do.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) exit: Exit,
    /// Operation, operand, cause.
    pub(crate) cause: anyhow::Error,
    /// What the reader can do.
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Wrong command line, plan or input.
    pub(crate) fn usage(cause: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Usage, cause: cause.into(), hint: None }
    }

    /// A result that cannot be read, with what shows the rest of it.
    pub(crate) fn unreadable(cause: StoreError) -> Self {
        let hint = match &cause {
            StoreError::Corrupted { directory, .. } => {
                let hint = "shows what can be read; such a result is not ranked";
                let word = shell_word(&directory.display().to_string());
                Some(format!("btu report --salvage {word} {hint}"))
            }
            _ => None,
        };
        Self { hint, ..Self::usage(cause) }
    }

    /// The environment lacks something.
    pub(crate) fn environment(cause: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Environment, cause: cause.into(), hint: None }
    }

    /// An agent was lost, or could not be reached.
    pub(crate) fn agent(cause: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Agent, cause: cause.into(), hint: None }
    }

    /// What the reader can do: what the failure says itself, or what helps against its cause everywhere.
    pub(crate) fn remedy(&self) -> Option<&str> {
        let setting = self.cause.chain().find_map(|cause| cause.downcast_ref::<btu_sys::Error>());
        let cause = self.cause.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
        // What only a privilege allows (EPERM) has remedies of its own, and no other place helps.
        let number = cause.and_then(io::Error::raw_os_error);
        let is_closed = number == Some(EACCES);
        let general = match cause.map(io::Error::kind) {
            Some(ErrorKind::PermissionDenied) if is_closed => {
                Some("this user may not: name another place, or give it the right")
            }
            Some(ErrorKind::ReadOnlyFilesystem) => Some("name a place that can be written"),
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                Some("make room there, or name another place")
            }
            Some(ErrorKind::IsADirectory) => Some("name a file, such as one in this directory"),
            Some(ErrorKind::NotFound) if place::is_nowhere() => Some(place::NOWHERE),
            _ if number == Some(EMFILE) => {
                Some("allow this program more open files: ulimit -n 1024, or more")
            }
            _ => None,
        };
        let of_threads = || against_no_thread(limit::address_space());
        let general = self.cause.chain().any(is_of_threads).then(of_threads).or(general);
        self.hint.as_deref().or_else(|| setting.and_then(sysctl::remedy)).or(general)
    }

    /// Adds what the reader can do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What helps where no thread starts: `address_space` is what limits its stack, where something does.
pub(crate) fn against_no_thread(address_space: Option<u64>) -> &'static str {
    if address_space.is_some() { OF_THREADS_OR_SPACE } else { OF_THREADS }
}

impl From<StoreError> for Failure {
    fn from(cause: StoreError) -> Self {
        Self::unreadable(cause)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

const OF_THREADS: &str = "allow this user more threads, those of all other programs of the user counted: \
     ulimit -u 4096, or more; a container has --pids-limit, a service TasksMax=";
const OF_THREADS_OR_SPACE: &str = "allow this program more address space: ulimit -v unlimited, a service has LimitAS=; or \
     this user more threads, those of all other programs of the user counted: ulimit -u 4096, or more; \
     a container has --pids-limit, a service TasksMax=";

/// `asm-generic/errno-base.h`
const EACCES: i32 = 13;
const EMFILE: i32 = 24;

#[cfg(test)]
mod tests {
    use btu_engine::EngineError;
    use btu_sys::namespace::NamespaceError;
    use btu_testbed::backend::BackendError;

    use super::*;

    /// `asm-generic/errno-base.h`
    const EISDIR: i32 = 21;
    const EAGAIN: i32 = 11;

    #[test]
    fn what_the_kernel_lacks_has_its_remedy_below_what_the_failure_says_itself() {
        let failure = |errno| Failure::environment(io::Error::from_raw_os_error(errno));
        assert!(failure(EMFILE).remedy().is_some_and(|remedy| remedy.contains("ulimit -n")));
        assert!(failure(EACCES).remedy().is_some_and(|remedy| remedy.contains("this user")));
        assert!(failure(EISDIR).remedy().is_some_and(|remedy| remedy.contains("name a file")));
        assert_eq!(failure(EMFILE).hint("name another").remedy(), Some("name another"));
        assert_eq!(Failure::environment(io::Error::other("so")).remedy(), None);
    }

    #[test]
    fn where_no_thread_starts_every_error_of_it_has_the_remedy() {
        let refused = || io::Error::from_raw_os_error(EAGAIN);
        let of_engine = || EngineError::Thread { name: "one".to_owned(), source: refused() };
        for no_thread in [
            Failure::environment(NamespaceError::Thread(refused())),
            Failure::environment(io::Error::other(NamespaceError::Thread(refused()))),
            Failure::environment(EngineError::Namespace(NamespaceError::Thread(refused()))),
            Failure::environment(of_engine()),
            Failure::environment(BackendError::Start(limit::no_thread(refused()))),
            Failure::environment(anyhow::Error::new(of_engine()).context("measure")),
            Failure::environment(io::Error::other(of_engine())),
        ] {
            let told = no_thread.remedy().unwrap_or_default();
            assert!(told.contains("ulimit -u"), "{:#}: {told:?}", no_thread.cause);
        }
    }

    #[test]
    fn the_remedy_names_the_limit_of_address_space_where_there_is_one() {
        assert!(!against_no_thread(None).contains("ulimit -v"));
        let told = against_no_thread(Some(1 << 30));
        assert!(told.contains("ulimit -v unlimited") && told.contains("ulimit -u 4096"), "{told}");
    }
}
