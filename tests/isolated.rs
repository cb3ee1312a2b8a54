//! Runs a test where network namespaces can be made, with or without root.
//!
//! A test crate includes this file beside `tests/skip.rs`:
//!
//! ```ignore
//! #[cfg(test)]
//! #[path = "../../../../tests/isolated.rs"]
//! mod isolated;
//! ```
//!
//! Root runs the test where it is. Everybody else runs it again in a child of his own, inside a
//! user namespace, since a process with threads cannot enter one.

use std::process::Command;

use btu_sys::namespace;
use btu_sys::namespace::IdMap;
use btu_sys::process::dies_with_its_starter;

/// Runs `test` isolated; `name` is the full name of the calling test, as the runner prints it.
pub(crate) fn isolated(name: &str, test: impl FnOnce()) {
    if namespace::is_privileged() {
        return test();
    }
    let mut child = Command::new(std::env::current_exe().expect("the test binary has a path"));
    child.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    namespace::in_user_namespace(&mut child, IdMap::Root);
    match dies_with_its_starter(&mut child).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name} in a user namespace: {said}{complaint}");
            assert!(said.contains("1 passed"), "no test has the name {name}: {said}");
        }
        Err(cause) => skip!("no user namespaces: {} ({cause})", namespace::Refusal::of(&cause)),
    }
}
