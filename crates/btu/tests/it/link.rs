//! `btu link`: what its command sees, what it counts, how it ends.

mod asked;
pub(crate) mod contained;
mod counted;
mod nested;
mod outside;
mod refused;
pub(crate) mod users;

/// Ends the test where namespaces are forbidden.
macro_rules! need_namespaces {
    () => {
        if let Some(reason) = crate::link::users::no_namespaces() {
            skip!("no user namespaces: {reason}");
        }
    };
}
use need_namespaces;
