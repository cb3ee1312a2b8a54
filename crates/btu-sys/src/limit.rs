//! Limits of this process, raised as far as it may.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_and_stays() {
        let most = raise_descriptors().unwrap();
        let now = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        assert_eq!(now, (most, most));
        assert_eq!(raise_descriptors().unwrap(), most);
    }
}
