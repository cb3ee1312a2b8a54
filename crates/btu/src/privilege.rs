//! The rights that a testbed needs: root's, or a user namespace of one's own.

use btu_sys::namespace;
use btu_sys::namespace::IdMap;

use crate::exit::Failure;

/// Makes sure that namespaces and links can be made. The process must have one thread.
pub(crate) fn gain() -> Result<(), Failure> {
    if namespace::is_privileged() {
        return Ok(());
    }
    namespace::enter_user_namespace(IdMap::Root).map_err(|error| {
        Failure::environment(error).hint("btu doctor says what forbids it, and the remedy")
    })
}
