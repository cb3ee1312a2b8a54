//! Limits of this process: raised as far as it may, or lowered for whoever it works for.

use nix::sys::resource::Resource;
use nix::sys::resource::getrlimit;
use nix::sys::resource::setrlimit;

use crate::error::Error;
use crate::error::Result;

/// Lets this process open as many descriptors as it may at the most. Gives how many.
pub fn raise_descriptors() -> Result<u64> {
    let refused = |cause| Error::new("raise the number of open descriptors", cause);
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(refused)?;
    if soft < hard {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map_err(refused)?;
    }
    Ok(hard)
}

/// Lets this process write to so many bytes of its own at the most, stacks of threads included: who
/// makes it ask for more gets an error, or ends it alone. Gives the limit that holds.
pub fn bound_memory(most: u64) -> Result<u64> {
    let refused = |cause| Error::new("bound the memory of this process", cause);
    let (soft, hard) = getrlimit(Resource::RLIMIT_DATA).map_err(refused)?;
    let most = most.min(soft).min(hard);
    setrlimit(Resource::RLIMIT_DATA, most, most).map_err(refused)?;
    Ok(most)
}

/// How many bytes this process may map at the most; `None` without a limit.
pub fn address_space() -> Option<u64> {
    let (soft, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
    (soft != nix::sys::resource::RLIM_INFINITY).then_some(soft)
}

/// Whether so many bytes could be mapped now, beside what is; nothing of it is touched or kept.
pub fn can_map(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else { return false };
    let mut room = Vec::<u8>::new();
    let is_granted = room.try_reserve_exact(bytes).is_ok();
    // An allocation that nothing looks at may be left out of an optimised program, and would be granted then.
    std::hint::black_box(&room);
    is_granted
}

/// Why no thread starts, as far as it can be told: the kernel's answer is the same (EAGAIN) for each limit.
pub fn of_threads() -> String {
    let threads = "the limit of threads may be reached (ulimit -u, pids.max of a container)";
    match address_space() {
        Some(bytes) => {
            format!("{threads}, or that of address space, {} KiB (ulimit -v)", bytes >> 10)
        }
        None => threads.to_owned(),
    }
}

/// No thread starts, with the limits that may keep it from that.
#[derive(Debug, thiserror::Error)]
#[error("{cause}; {}", of_threads())]
pub struct NoThread {
    cause: std::io::Error,
}

/// The error where no thread starts.
pub fn no_thread(cause: std::io::Error) -> Error {
    Error::new("start a thread", std::io::Error::other(NoThread { cause }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_addresses_there_are_cannot_be_mapped() {
        assert!(can_map(1 << 20));
        assert!(!can_map(1 << 60));
    }

    #[test]
    fn the_limit_is_raised_and_stays() {
        let most = raise_descriptors().unwrap();
        let now = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        assert_eq!(now, (most, most));
        assert_eq!(raise_descriptors().unwrap(), most);
    }
}
