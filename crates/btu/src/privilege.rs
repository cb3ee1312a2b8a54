//! The rights that a testbed needs: root's, or a user namespace of one's own.

use btu_sys::namespace;
use btu_sys::namespace::IdMap;
use btu_sys::namespace::NamespaceError;

use crate::exit::Failure;

/// Makes sure that namespaces and links can be made. The process must have one thread.
pub(crate) fn gain() -> Result<(), Failure> {
    if namespace::is_privileged() {
        return Ok(());
    }
    namespace::enter_user_namespace(IdMap::Root).map_err(refused)
}

const NO_RIGHTS: &str =
    "root without capabilities may make no link: inside btu link, leave out its --plain";

/// What forbids namespaces here, and the remedy.
pub(crate) fn refused(cause: NamespaceError) -> Failure {
    let remedy = match &cause {
        NamespaceError::User { refusal, .. }
        | NamespaceError::Map { refusal, .. }
        | NamespaceError::Net { refusal, .. } => Some(refusal.remedy()),
        NamespaceError::Enter(_) => Some(NO_RIGHTS),
        _ => None,
    };
    let failure = Failure::environment(cause);
    match remedy {
        // A hint is one line, however wide: nothing in it has to be held together.
        Some(remedy) => failure.hint(format!("{}; btu doctor says more", remedy.replace('`', ""))),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use btu_sys::namespace::Refusal;

    use super::*;

    #[test]
    fn the_hint_has_its_command_as_it_is_typed() {
        let source = io::Error::other("refused");
        let failure = refused(NamespaceError::User { refusal: Refusal::Limit, source });
        let wanted = "as root: sysctl user.max_user_namespaces=15000; btu doctor says more";
        assert_eq!(failure.remedy(), Some(wanted));
    }
}
