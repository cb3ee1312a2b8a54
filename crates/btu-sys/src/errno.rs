//! The numbers of errors, which are others on some architectures, for callers that tell one from another.

pub use libc::EACCES;
pub use libc::EAFNOSUPPORT;
pub use libc::EINVAL;
pub use libc::ENOBUFS;
pub use libc::ENODEV;
pub use libc::ENOENT;
pub use libc::ENOMEM;
pub use libc::ENOSPC;
pub use libc::ENOSYS;
pub use libc::EOPNOTSUPP;
pub use libc::EPERM;
pub use libc::EROFS;
