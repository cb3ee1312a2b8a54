//! Programs of this machine, by name.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

/// The file that a shell would run for this name; `None` where the program is not installed.
pub(crate) fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| can_run(file))
}

fn can_run(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_its_file_and_a_name_of_nothing_has_none() {
        assert!(installed("sh").is_some_and(|file| file.ends_with("sh")));
        assert_eq!(installed("no-such-program"), None);
        assert!(can_run(&std::env::current_exe().unwrap()));
        assert!(!can_run(Path::new(env!("CARGO_MANIFEST_DIR"))));
        assert!(!can_run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")));
    }
}
